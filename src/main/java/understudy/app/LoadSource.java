package understudy.app;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import understudy.adopt.AdoptedScenario;
import understudy.adopt.LoadAdoption;
import understudy.runtime.EpochClock;
import understudy.settings.Durations;
import understudy.settings.ScenarioException;

/**
 * Where the load of a server is read.
 *
 * @param places files or addresses, as the user gives them
 * @param since how much of the past of a Prometheus counts
 * @param interval between two pages, or null for that of their files
 * @param selector of the series of a Prometheus
 * @param key that is sent as a bearer token, or null
 */
record LoadSource(
        List<String> places,
        String since,
        @Nullable String interval,
        String selector,
        Map<String, String> headers,
        @Nullable String key) {
    private static final String METRICS = "/metrics";
    private static final double DEFAULT_SECONDS = 60;

    /** Points of a range, which Prometheus does not give more than 11,000 of, and their least distance. */
    private static final int NUM_POINTS = 60;

    private static final long LEAST_STEP = 15;
    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * Reads the load.
     *
     * @throws ScenarioException if it cannot be read, or makes no workload
     */
    AdoptedScenario adopt() throws InterruptedException {
        String first = places.get(0);
        boolean isAddress = first.startsWith("http://") || first.startsWith("https://");
        if (places.size() > 2 || (places.size() == 2 && isAddress)) {
            throw new ScenarioException("--metrics: give two files, or one address, or one file of Prometheus' JSON");
        }
        if (isAddress) {
            return first.endsWith(METRICS) ? scraped(first) : asked(first);
        }
        String text = AdoptCommand.text(first);
        if (places.size() == 2) {
            String second = places.get(1);
            return LoadAdoption.ofPages(first, text, second, AdoptCommand.text(second), secondsBetween(first, second));
        }
        if (LoadAdoption.isPage(text)) {
            throw new ScenarioException("--metrics " + first
                    + ": one page of metrics tells no rate; give a later one by a" + " second --metrics");
        }
        return LoadAdoption.ofRange(first, text, seconds("--since", since));
    }

    private AdoptedScenario scraped(String address) throws InterruptedException {
        double seconds = interval == null ? DEFAULT_SECONDS : seconds("--interval", interval);
        var server = new AdoptedServer(address, headers, key);
        String before = server.body(METRICS);
        TimeUnit.MILLISECONDS.sleep(Math.round(seconds * 1e3));
        return LoadAdoption.ofPages(address, before, address, server.body(METRICS), seconds);
    }

    private AdoptedScenario asked(String address) throws InterruptedException {
        double seconds = seconds("--since", since);
        long end = EpochClock.seconds();
        String query = "{__name__=~\"" + LoadAdoption.seriesPattern() + "\""
                + (selector.isBlank() ? "" : "," + selector) + "}";
        String path = "/api/v1/query_range?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8) + "&start="
                + (end - Math.round(seconds)) + "&end=" + end + "&step="
                + Math.max(LEAST_STEP, Math.round(seconds / NUM_POINTS));
        String answer = new AdoptedServer(address, headers, key).body(path);
        return LoadAdoption.ofRange(address, answer, seconds);
    }

    private double secondsBetween(String first, String second) {
        if (interval != null) {
            return seconds("--interval", interval);
        }
        try {
            double millis = Files.getLastModifiedTime(Path.of(second)).toMillis()
                    - Files.getLastModifiedTime(Path.of(first)).toMillis();
            if (millis > 0) {
                return millis / 1e3;
            }
            throw new ScenarioException("--metrics " + second + ": is not younger than " + first
                    + "; are they in the wrong order? --interval says how far they are apart");
        } catch (IOException e) {
            throw new ScenarioException("--metrics: the time of a file is not known: " + e + "; say --interval");
        }
    }

    private static double seconds(String option, String text) {
        double nanos = Durations.nanos(text).orElse(0);
        if (nanos <= 0) {
            throw new ScenarioException(option + " is \"" + text + "\", must be above 0, and " + Durations.ALLOWED);
        }
        return nanos / NANOS_PER_SECOND;
    }
}

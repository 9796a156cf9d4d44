package understudy.adopt;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import understudy.adopt.MetricsPage.Sample;
import understudy.settings.ScenarioException;

/** How counters have grown from scrape to scrape, and what gauges were; engines and models together. */
final class LoadCounts {
    private static final String BUCKET = "_bucket";
    private static final String LE = "le";

    /** Part of the requests, and some more, that two counters of the same may differ by, which are not read at once. */
    private static final double SLACK = 0.02;

    private static final int SLACK_REQUESTS = 10;

    private final String source;
    private final List<Scrape> scrapes;
    private final boolean restarts;
    private final LoadNames names;
    private final List<Map<Series, Double>> values = new ArrayList<>();

    /** One line of a page, by which it is found in another. */
    private record Series(String name, Map<String, String> labels) {}

    /**
     * Takes scrapes.
     *
     * @param source in words
     * @param scrapes at least two, in the order of time
     * @param restarts whether a counter that has less than before is of an engine that began anew; else it is an error
     */
    LoadCounts(String source, List<Scrape> scrapes, boolean restarts) {
        this.source = source;
        this.scrapes = scrapes;
        this.restarts = restarts;
        names = LoadNames.of(engineOf(scrapes));
        for (var scrape : scrapes) {
            var at = new HashMap<Series, Double>();
            scrape.page()
                    .samples()
                    .forEach(sample -> at.put(new Series(sample.name(), sample.labels()), sample.value()));
            values.add(at);
        }
    }

    private static EngineName engineOf(List<Scrape> scrapes) {
        var all = scrapes.stream()
                .flatMap(scrape -> scrape.page().samples().stream())
                .toList();
        return new MetricsPage(scrapes.get(0).page().name(), all).engine();
    }

    LoadNames names() {
        return names;
    }

    double seconds() {
        return scrapes.get(scrapes.size() - 1).seconds() - scrapes.get(0).seconds();
    }

    int numIntervals() {
        return scrapes.size() - 1;
    }

    double start(int interval) {
        return scrapes.get(interval).seconds() - scrapes.get(0).seconds();
    }

    double end(int interval) {
        return start(interval + 1);
    }

    /** Returns the sum of a gauge's samples at a scrape. */
    double gauge(String name, int scrape) {
        return scrapes.get(scrape).page().all(name).mapToDouble(Sample::value).sum();
    }

    /** Returns the mean of a gauge over all scrapes. */
    double meanGauge(String name) {
        double sum = 0;
        for (int i = 0; i < scrapes.size(); i++) {
            sum += gauge(name, i);
        }
        return sum / scrapes.size();
    }

    /** Returns by how much a counter has grown. */
    double growth(String name) {
        double sum = 0;
        for (int i = 0; i < numIntervals(); i++) {
            sum += growth(name, i);
        }
        return sum;
    }

    double growth(String name, int interval) {
        return growth(interval, series -> series.name.equals(name));
    }

    /** A series that was not there before has begun at 0. */
    private double growth(int interval, Predicate<Series> wanted) {
        var before = values.get(interval);
        double sum = 0;
        for (var entry : values.get(interval + 1).entrySet()) {
            if (wanted.test(entry.getKey())) {
                double from = before.getOrDefault(entry.getKey(), 0.0);
                sum += entry.getValue() < from
                        ? restarted(entry.getKey(), from, entry.getValue())
                        : entry.getValue() - from;
            }
        }
        return sum;
    }

    private double restarted(Series series, double from, double to) {
        if (restarts) {
            return to;
        }
        throw new ScenarioException(String.format(
                Locale.ROOT,
                "%s: %s falls from %.0f to %.0f: the scrapes are in the wrong order, or the server was started anew"
                        + " between them",
                source,
                series.name,
                from,
                to));
    }

    /**
     * Returns the lengths of the requests that have ended. Those above the last bound are at most twice as long.
     *
     * @throws ScenarioException if there are none, or the histogram contradicts itself or the counters
     */
    LengthHistogram lengths(String name) {
        var upTo = new TreeMap<Double, Double>();
        for (var at : values) {
            at.keySet().stream()
                    .filter(series -> series.name.equals(name + BUCKET))
                    .forEach(series -> {
                        String bound = Objects.requireNonNullElse(series.labels.get(LE), "");
                        upTo.put(bound.equals("+Inf") ? Double.POSITIVE_INFINITY : parse(name, bound), 0.0);
                    });
        }
        upTo.replaceAll((bound, zero) -> growthUpTo(name, bound));
        if (upTo.isEmpty()) {
            throw new ScenarioException(source + ": has no histogram " + name
                    + (name.startsWith("sglang:") ? "; SGLang has it with --collect-tokens-histogram" : ""));
        }
        double count = growth(name + "_count");
        double all = upTo.lastEntry().getValue();
        if (!(all > 0)) {
            throw new ScenarioException(
                    source + ": no request has ended between the scrapes, so " + name + " tells nothing");
        }
        if (all != count) {
            throw contradiction(
                    name + BUCKET + " has " + whole(all) + " requests, and " + name + "_count " + whole(count));
        }
        return histogram(name, upTo);
    }

    private double parse(String name, String bound) {
        try {
            return Double.parseDouble(bound);
        } catch (NumberFormatException e) {
            throw new ScenarioException(
                    source + ": " + name + BUCKET + " has the bound le=\"" + bound + "\", no number");
        }
    }

    private double growthUpTo(String name, double bound) {
        double sum = 0;
        for (int i = 0; i < numIntervals(); i++) {
            sum += growth(i, series -> series.name.equals(name + BUCKET) && isBound(series, bound));
        }
        return sum;
    }

    private static boolean isBound(Series series, double bound) {
        String le = series.labels.getOrDefault(LE, "");
        return le.equals("+Inf") ? Double.isInfinite(bound) : Double.parseDouble(le) == bound;
    }

    private LengthHistogram histogram(String name, Map<Double, Double> upTo) {
        double sum = growth(name + "_sum");
        var bounds = new ArrayList<Double>();
        var counts = new ArrayList<Double>();
        double before = 0;
        double least = 0;
        double most = 0;
        for (var entry : upTo.entrySet()) {
            double lower = bounds.isEmpty() ? 0 : bounds.get(bounds.size() - 1);
            double count = entry.getValue() - before;
            if (count < 0) {
                throw contradiction(
                        name + BUCKET + " has fewer requests up to " + entry.getKey() + " than up to " + lower);
            }
            before = entry.getValue();
            double upper = Double.isInfinite(entry.getKey()) ? 2 * lower + 1 : entry.getKey();
            least += count * lower;
            most += Double.isInfinite(entry.getKey()) && count > 0 ? Double.POSITIVE_INFINITY : count * upper;
            bounds.add(upper);
            counts.add(count);
        }
        if (sum < least || sum > most) {
            throw contradiction(name + "_sum is " + whole(sum) + ", and its buckets have " + whole(least) + " to "
                    + whole(most) + " tokens");
        }
        return new LengthHistogram(
                bounds.stream().mapToDouble(Double::doubleValue).toArray(),
                counts.stream().mapToDouble(Double::doubleValue).toArray(),
                sum);
    }

    /** Finds out whether counters tell of as many requests and tokens as histograms, but for those under way. */
    void check(LengthHistogram outputs) {
        double ended = growth(names.ended());
        double total = outputs.total();
        if (has(names.ended()) && Math.abs(ended - total) > SLACK_REQUESTS + SLACK * total) {
            throw contradiction(names.outputLengths() + " has " + whole(total) + " requests, and " + names.ended() + " "
                    + whole(ended));
        }
        double tokens = growth(names.outputTokens());
        double atOnce = meanGauge(names.running()) + meanGauge(names.waiting());
        double slack = SLACK * outputs.sum() + (SLACK_REQUESTS + 2 * atOnce) * outputs.mean();
        if (has(names.outputTokens()) && Math.abs(tokens - outputs.sum()) > slack) {
            throw contradiction(names.outputLengths() + "_sum has " + whole(outputs.sum()) + " tokens, and "
                    + names.outputTokens() + " " + whole(tokens));
        }
    }

    private boolean has(String name) {
        return values.stream().anyMatch(at -> at.keySet().stream().anyMatch(series -> series.name.equals(name)));
    }

    private ScenarioException contradiction(String what) {
        return new ScenarioException(source + ": " + what + ": the metrics contradict each other");
    }

    private static String whole(double number) {
        return Double.isInfinite(number) ? "any number of" : String.valueOf(Math.round(number));
    }
}

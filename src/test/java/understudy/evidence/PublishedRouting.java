package understudy.evidence;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.report.latency.LatencyStats;

/**
 * Runs llm-d's benchmark of prefix-aware scheduling, a stage of a constant rate after the other, and prints the emulated
 * figures beside the published ones: {@code PublishedRouting KEY=VALUE...}. By hand, after {@code mvn test-compile};
 * the tables depend on the scenario alone.
 */
public final class PublishedRouting {
    static final String SCENARIO = "conf/routing/kv-cache-wins.conf";

    private static final String PUBLISHED = "llm-d-kv-cache-wins.csv";

    /** Requests of the stage that fills the caches; as many come behind all others, and neither are reported. */
    private static final int FILLING_REQUESTS = 750;

    private static final int FILLING_PER_SECOND = 15;
    private static final int FILLING_SECONDS = FILLING_REQUESTS / FILLING_PER_SECOND;

    /** Seconds from the beginning of a stage to that of the next, in which it must come to an end. */
    private static final int STAGE_SECONDS = 600;

    private static final Map<String, Map<String, String>> ROUTERS = Map.of(
            "precise",
            Map.of(),
            "approximate",
            Map.of(
                    "router.weighted-scorers.precise-prefix-cache", "0",
                    "router.weighted-scorers.prefix-cache", "1",
                    "router.weighted-scorers.kv-cache-utilization", "1",
                    "router.weighted-scorers.queue", "1"),
            "load",
            Map.of(
                    "router.weighted-scorers.precise-prefix-cache", "0",
                    "router.weighted-scorers.kv-cache-utilization", "1",
                    "router.weighted-scorers.queue", "1"),
            "random",
            Map.of("router.policy", "random"));

    private PublishedRouting() {}

    /** A stage under one router. */
    private record Stage(
            String router,
            double requestsPerSecond,
            double seconds,
            double tokensPerSecond,
            double meanTtftSeconds,
            double p90TtftSeconds) {}

    /** Takes settings that differ from the scenario's. */
    public static void main(String[] args) throws Exception {
        var others = new TreeMap<String, String>();
        for (String arg : args) {
            String[] keyAndValue = arg.split("=", 2);
            others.put(keyAndValue[0], keyAndValue[1]);
        }
        var published = published();
        var emulated = new LinkedHashMap<String, List<Stage>>();
        for (var stages : published.entrySet()) {
            emulated.put(stages.getKey(), emulate(stages.getValue(), others));
        }
        print(published, emulated);
    }

    private static void print(Map<String, List<Stage>> published, Map<String, List<Stage>> emulated) {
        printHead("router, mean of all rates");
        emulated.forEach((router, stages) -> print("`" + router + "`", stages, published.get(router)));
        emulated.forEach((router, stages) -> {
            printHead("`" + router + "`, requests/s");
            for (int i = 0; i < stages.size(); i++) {
                var stage = stages.get(i);
                print(
                        String.format(Locale.ROOT, "%.0f", stage.requestsPerSecond),
                        List.of(stage),
                        published.get(router).subList(i, i + 1));
            }
        });
    }

    private static void printHead(String first) {
        System.out.printf(
                "%n| %s | TTFT mean, s | published | error | TTFT p90, s | published | error"
                        + " | tokens/s | published | error |%n|---|---|---|---|---|---|---|---|---|---|%n",
                first);
    }

    /** Returns what makes the scenario's router one of the four. */
    static Map<String, String> settings(String router) {
        return Objects.requireNonNull(ROUTERS.get(router), router);
    }

    /** Returns the published stages by router, in the order of the file. */
    private static Map<String, List<Stage>> published() throws IOException {
        return PublishedFigures.rows(PUBLISHED).stream()
                .map(PublishedRouting::stage)
                .collect(Collectors.groupingBy(Stage::router, LinkedHashMap::new, Collectors.toList()));
    }

    private static Stage stage(String[] values) {
        return new Stage(
                values[0],
                Double.parseDouble(values[1]),
                Double.parseDouble(values[2]),
                Double.parseDouble(values[3]),
                Double.parseDouble(values[4]),
                Double.parseDouble(values[5]));
    }

    /** Runs all stages under one router, on the same caches. */
    private static List<Stage> emulate(List<Stage> stages, Map<String, String> others) throws Exception {
        String router = stages.get(0).router;
        var settings = new TreeMap<>(settings(router));
        settings.putAll(others);
        double numReported = stages.stream()
                .mapToDouble(s -> s.requestsPerSecond * s.seconds)
                .sum();
        settings.put("workload.requests", String.valueOf((long) numReported + 2 * FILLING_REQUESTS));
        settings.put("workload.arrivals.profile", profile(stages));
        var run = RoutingRun.run(router, SCENARIO, settings);
        return IntStream.range(0, stages.size())
                .mapToObj(i -> emulated(stages.get(i), (i + 1) * STAGE_SECONDS, run))
                .toList();
    }

    /** Returns the rates over time: one that fills the caches, those of the stages, and that of the rest. */
    private static String profile(List<Stage> stages) {
        var profile = new StringJoiner(", ", "[", "]");
        double untilSeconds = FILLING_SECONDS;
        int startSeconds = 0;
        profile.add(piece(0, FILLING_PER_SECOND));
        for (var stage : stages) {
            profile.add(piece(untilSeconds, 0));
            startSeconds += STAGE_SECONDS;
            profile.add(piece(startSeconds, stage.requestsPerSecond));
            untilSeconds = startSeconds + stage.seconds;
        }
        profile.add(piece(untilSeconds, 0));
        return profile.add(piece(startSeconds + STAGE_SECONDS, FILLING_PER_SECOND))
                .toString();
    }

    private static String piece(double atSeconds, double perSecond) {
        return "{ at = " + atSeconds + "s, request-rate = " + perSecond + " }";
    }

    private static Stage emulated(Stage stage, int startSeconds, RunRecord run) {
        double endSeconds = startSeconds + STAGE_SECONDS;
        var requests = run.requests().stream()
                .filter(r -> r.arrivalNanos() >= startSeconds * 1e9 && r.arrivalNanos() < endSeconds * 1e9)
                .toList();
        double lastSeconds =
                requests.stream().mapToLong(RequestRecord::lastTokenNanos).max().orElseThrow() / 1e9;
        if (lastSeconds > endSeconds) {
            throw new IllegalStateException("the stage of " + stage.requestsPerSecond + " ends after the next began");
        }
        long numTokens =
                requests.stream().mapToLong(RequestRecord::numOutputTokens).sum();
        var ttft = LatencyStats.of(
                requests.stream().mapToDouble(RequestRecord::ttftNanos).toArray());
        return new Stage(
                stage.router,
                stage.requestsPerSecond,
                stage.seconds,
                numTokens / (lastSeconds - startSeconds),
                ttft.meanNanos() / 1e9,
                ttft.p90Nanos() / 1e9);
    }

    private static void print(String name, List<Stage> emulated, List<Stage> published) {
        System.out.printf(
                "| %s | %s | %s | %s |%n",
                name,
                pair("%.2f", emulated, published, Stage::meanTtftSeconds),
                pair("%.2f", emulated, published, Stage::p90TtftSeconds),
                pair("%.0f", emulated, published, Stage::tokensPerSecond));
    }

    /** Returns the means over these stages, emulated and published, and the error of the first. */
    private static String pair(
            String format, List<Stage> emulated, List<Stage> published, ToDoubleFunction<Stage> figure) {
        return PublishedFigures.cells(format, mean(emulated, figure), mean(published, figure));
    }

    private static double mean(List<Stage> stages, ToDoubleFunction<Stage> figure) {
        return stages.stream().mapToDouble(figure).average().orElseThrow();
    }
}

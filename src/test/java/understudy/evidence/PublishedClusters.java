package understudy.evidence;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.report.latency.LatencyStats;

/**
 * Runs a cluster of {@code conf/published} and prints the emulated figures beside the measured ones, a row per stage:
 * {@code PublishedClusters SCENARIO KEY=VALUE...}. By hand, after {@code mvn test-compile}; the table depends on the
 * scenario alone.
 */
public final class PublishedClusters {
    /** Seconds from the beginning of a stage to that of the next, in which it must come to an end. */
    private static final int STAGE_SECONDS = 600;

    private PublishedClusters() {}

    /**
     * A stage; NaN is a figure that was not published.
     *
     * @param ownTpotMillis the benchmark's own mean time per token, which need not follow from the others
     */
    private record Stage(
            String scenario,
            int startSeconds,
            int requestsPerSecond,
            int percentile,
            int numOutputTokens,
            double meanTtftSeconds,
            double highTtftSeconds,
            double meanE2eSeconds,
            double highE2eSeconds,
            double tokensPerSecond,
            double ownTpotMillis) {

        /** Returns the mean time per token behind the first, where all answers are equally long. */
        double meanTpotMillis() {
            return (meanE2eSeconds - meanTtftSeconds) * 1e3 / (numOutputTokens - 1);
        }
    }

    /** Takes the scenario's name and settings that differ from it. */
    public static void main(String[] args) throws Exception {
        var run = RoutingRun.run("", file(args[0]), settings(args));
        var measured = measured(args[0]);
        int percentile = measured.get(0).percentile;
        printHead("TTFT mean, s", "TTFT p" + percentile + ", s", "TPOT, ms");
        measured.forEach(stage -> printFirstTokens(stage, emulated(stage, requests(stage.startSeconds, run))));
        measured.stream()
                .filter(stage -> !Double.isNaN(stage.ownTpotMillis))
                .forEach(stage -> printOwnTpot(stage, emulated(stage, requests(stage.startSeconds, run))));
        printHead("E2E mean, s", "E2E p" + percentile + ", s", "tokens/s");
        measured.forEach(stage -> printAnswers(stage, emulated(stage, requests(stage.startSeconds, run))));
    }

    private static void printHead(String... figures) {
        System.out.printf(
                "%n| requests/s | %s | measured | error |%n|%s%n",
                String.join(" | measured | error | ", figures), "---|".repeat(10));
    }

    private static void printFirstTokens(Stage measured, Stage emulated) {
        System.out.printf(
                "| %d | %s | %s | %s |%n",
                measured.requestsPerSecond,
                seconds(emulated.meanTtftSeconds, measured.meanTtftSeconds),
                seconds(emulated.highTtftSeconds, measured.highTtftSeconds),
                PublishedFigures.cells("%.1f", emulated.meanTpotMillis(), measured.meanTpotMillis()));
    }

    private static void printOwnTpot(Stage measured, Stage emulated) {
        System.out.printf(
                "%nTPOT, ms, at %d requests/s, here, by the benchmark itself, and the error: %s%n",
                measured.requestsPerSecond,
                PublishedFigures.cells("%.2f", emulated.meanTpotMillis(), measured.ownTpotMillis));
    }

    private static void printAnswers(Stage measured, Stage emulated) {
        System.out.printf(
                "| %d | %s | %s | %s |%n",
                measured.requestsPerSecond,
                seconds(emulated.meanE2eSeconds, measured.meanE2eSeconds),
                seconds(emulated.highE2eSeconds, measured.highE2eSeconds),
                PublishedFigures.cells("%.0f", emulated.tokensPerSecond, measured.tokensPerSecond));
    }

    private static String seconds(double emulated, double measured) {
        return PublishedFigures.cells("%.2f", emulated, measured);
    }

    static String file(String scenario) {
        return "conf/published/" + scenario + ".conf";
    }

    private static Map<String, String> settings(String[] args) {
        return Stream.of(args)
                .skip(1)
                .map(arg -> arg.split("=", 2))
                .collect(Collectors.toMap(arg -> arg[0], arg -> arg[1], (first, second) -> second, TreeMap::new));
    }

    private static List<Stage> measured(String scenario) throws IOException {
        return PublishedFigures.rows("llm-d-clusters.csv").stream()
                .filter(values -> values[0].equals(scenario))
                .map(PublishedClusters::stage)
                .toList();
    }

    private static Stage stage(String[] values) {
        return new Stage(
                values[0],
                Integer.parseInt(values[1]),
                Integer.parseInt(values[2]),
                Integer.parseInt(values[3]),
                Integer.parseInt(values[4]),
                Double.parseDouble(values[5]),
                Double.parseDouble(values[6]),
                Double.parseDouble(values[7]),
                Double.parseDouble(values[8]),
                ifPublished(values[9]),
                ifPublished(values[10]));
    }

    private static double ifPublished(String value) {
        return value.isEmpty() ? Double.NaN : Double.parseDouble(value);
    }

    /** Returns the requests of a stage, by when it begins. */
    static List<RequestRecord> requests(int startSeconds, RunRecord run) {
        double startNanos = startSeconds * 1e9;
        double endNanos = startNanos + STAGE_SECONDS * 1e9;
        var requests = run.requests().stream()
                .filter(r -> r.arrivalNanos() >= startNanos && r.arrivalNanos() < endNanos)
                .toList();
        if (requests.stream().anyMatch(r -> r.endNanos() > endNanos || r.outcome() != Outcome.COMPLETED)) {
            throw new IllegalStateException(
                    "of the stage at " + startSeconds + " s some requests failed or ended after the next began");
        }
        return requests;
    }

    private static Stage emulated(Stage stage, List<RequestRecord> requests) {
        var ttft = stats(requests, RequestRecord::ttftNanos);
        var e2e = stats(requests, r -> r.lastTokenNanos() - r.arrivalNanos());
        long endNanos =
                requests.stream().mapToLong(RequestRecord::lastTokenNanos).max().orElseThrow();
        return new Stage(
                stage.scenario,
                stage.startSeconds,
                stage.requestsPerSecond,
                stage.percentile,
                requests.get(0).numOutputTokens(),
                ttft.meanNanos() / 1e9,
                high(stage, ttft) / 1e9,
                e2e.meanNanos() / 1e9,
                high(stage, e2e) / 1e9,
                sum(requests, r -> r.numPromptTokens() + r.numOutputTokens()) / (endNanos / 1e9 - stage.startSeconds),
                Double.NaN);
    }

    private static double high(Stage stage, LatencyStats stats) {
        return stage.percentile == 95 ? stats.p95Nanos() : stats.p90Nanos();
    }

    private static LatencyStats stats(List<RequestRecord> requests, ToLongFunction<RequestRecord> nanos) {
        return LatencyStats.of(requests.stream().mapToDouble(nanos::applyAsLong).toArray());
    }

    private static long sum(List<RequestRecord> requests, ToLongFunction<RequestRecord> tokens) {
        return requests.stream().mapToLong(tokens).sum();
    }
}

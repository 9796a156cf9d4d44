package understudy.bench.result;

import java.util.Map;
import understudy.bench.result.BenchRequest.End;
import understudy.report.ReportText;

/** Prints a result as {@code vllm bench serve} does, and below that what this client adds. */
public final class ServingText {
    private static final int MAX_ERRORS = 10;
    private static final double NANOS_PER_MILLI = 1e6;

    private final BenchResult result;
    private final MetricChoice choice;
    private final ReportText text = new ReportText();

    private ServingText(BenchResult result, MetricChoice choice) {
        this.result = result;
        this.choice = choice;
    }

    /** Returns the text, with a line break at its end. */
    public static String write(BenchResult result, MetricChoice choice) {
        var writer = new ServingText(result, choice);
        writer.writeTotals();
        result.metrics().stream().filter(choice::includes).forEach(writer::write);
        writer.text.end();
        writer.writeSchedule();
        writer.writeErrors(result.errorCounts());
        return writer.text.toString();
    }

    private void writeTotals() {
        var traffic = result.setup().traffic();
        text.heading(result.isPartial() ? " Serving Benchmark Result (partial) " : " Serving Benchmark Result ", '=');
        text.line("Successful requests:", result.count(End.COMPLETED));
        text.line("Failed requests:", result.count(End.FAILED));
        if (traffic.maxConcurrency() > 0) {
            text.line("Maximum request concurrency:", traffic.maxConcurrency());
        }
        double rate = traffic.rate().lastPerSecond();
        if (!Double.isInfinite(rate)) {
            text.line("Request rate configured (RPS):", rate);
        }
        text.line("Benchmark duration (s):", result.durationSeconds());
        text.line("Total input tokens:", result.totalInputTokens());
        text.line("Total generated tokens:", result.totalOutputTokens());
        text.line("Request throughput (req/s):", result.perSecond(result.count(End.COMPLETED)));
        if (result.setup().serviceLevels().areSet()) {
            text.line("Request goodput (req/s):", result.requestGoodput());
        }
        text.line("Output token throughput (tok/s):", result.perSecond(result.totalOutputTokens()));
        text.line("Peak output token throughput (tok/s):", (double) result.maxOutputTokensPerSecond());
        text.line("Peak concurrent requests:", (double) result.maxConcurrentRequests());
        text.line(
                "Total token throughput (tok/s):",
                result.perSecond(result.totalInputTokens() + result.totalOutputTokens()));
    }

    private void write(Metric metric) {
        var stats = metric.stats();
        text.heading(metric.title(), '-');
        text.line("Mean " + metric.name() + " (ms):", stats.meanNanos() / NANOS_PER_MILLI);
        text.line("Median " + metric.name() + " (ms):", stats.p50Nanos() / NANOS_PER_MILLI);
        for (double percent : choice.percentiles()) {
            text.line(
                    "P" + MetricChoice.word(percent) + " " + metric.name() + " (ms):",
                    metric.percentileNanos(percent) / NANOS_PER_MILLI);
        }
    }

    private void writeSchedule() {
        text.heading(" From the Schedule ", '=');
        lineIfAny("Aborted requests:", result.count(End.ABORTED));
        lineIfAny("Unfinished requests:", result.count(End.UNFINISHED));
        lineIfAny(
                "Retries:",
                result.requests().stream().mapToLong(BenchRequest::numRetries).sum());
        result.metricsFromSchedule().forEach(this::write);
        text.end();
    }

    private void lineIfAny(String label, long count) {
        if (count > 0) {
            text.line(label, count);
        }
    }

    private void writeErrors(Map<String, Integer> counts) {
        counts.entrySet().stream()
                .limit(MAX_ERRORS)
                .forEach(error -> text.append(error.getValue() + " x " + error.getKey() + "\n"));
        if (counts.size() > MAX_ERRORS) {
            text.append((counts.size() - MAX_ERRORS) + " other errors\n");
        }
    }
}

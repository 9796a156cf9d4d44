package understudy.bench.result;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.bench.result.BenchRequest.End;
import understudy.json.Jackson;
import understudy.report.LatencyName;
import understudy.report.latency.LatencyStats;

/**
 * Result as {@code python -m sglang.bench_serving} prints and saves it ({@code sglang/bench_serving.py}, {@code benchmark}).
 * Its retokenized tokens are those that the server counts, since nothing is tokenized here.
 *
 * @param acceptLength mean tokens of a verification as the server tells it, or null
 */
public record ServingReport(
        BenchResult result, Arguments arguments, @Nullable Double acceptLength) {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int WIDTH = 50;

    /**
     * Arguments that a result repeats.
     *
     * @param sharegptOutputLength as given, or null
     */
    public record Arguments(
            String backend,
            String dataset,
            @Nullable Integer sharegptOutputLength,
            int inputLength,
            int outputLength,
            double rangeRatio) {}

    /** Returns the block for people. */
    public String text() {
        var traffic = result.setup().traffic();
        double rate = traffic.rate().lastPerSecond();
        var lines = new StringBuilder("\n");
        title(lines, " Serving Benchmark Result ", '=');
        line(lines, "Backend:", arguments.backend);
        line(lines, "Traffic request rate:", Double.isInfinite(rate) ? "inf" : String.valueOf(rate));
        int most = traffic.maxConcurrency();
        line(lines, "Max request concurrency:", most == 0 ? "not set" : String.valueOf(most));
        line(lines, "Successful requests:", String.valueOf(result.count(End.COMPLETED)));
        line(lines, "Benchmark duration (s):", result.durationSeconds());
        line(lines, "Total input tokens:", String.valueOf(result.totalInputTokens()));
        line(lines, "Total input text tokens:", String.valueOf(result.totalInputTokens()));
        line(lines, "Total generated tokens:", String.valueOf(result.totalOutputTokens()));
        line(lines, "Total generated tokens (retokenized):", String.valueOf(result.totalOutputTokens()));
        line(lines, "Request throughput (req/s):", result.perSecond(result.count(End.COMPLETED)));
        line(lines, "Input token throughput (tok/s):", result.perSecond(result.totalInputTokens()));
        line(lines, "Output token throughput (tok/s):", result.perSecond(result.totalOutputTokens()));
        line(lines, "Peak output token throughput (tok/s):", (double) result.maxOutputTokensPerSecond());
        line(lines, "Peak concurrent requests:", String.valueOf(result.maxConcurrentRequests()));
        line(lines, "Total token throughput (tok/s):", totalThroughput());
        line(lines, "Concurrency:", concurrency());
        if (acceptLength != null && acceptLength > 0) {
            line(lines, "Accept length:", acceptLength);
        }
        title(lines, "End-to-End Latency", '-');
        var e2el = result.stats(LatencyName.E2EL);
        line(lines, "Mean E2E Latency (ms):", e2el.meanNanos() / NANOS_PER_MILLI);
        line(lines, "Median E2E Latency (ms):", e2el.p50Nanos() / NANOS_PER_MILLI);
        title(lines, "Time to First Token", '-');
        latencies(lines, "TTFT", result.stats(LatencyName.TTFT));
        title(lines, "Time per Output Token (excl. 1st token)", '-');
        latencies(lines, "TPOT", result.stats(LatencyName.TPOT));
        title(lines, "Inter-Token Latency", '-');
        var itl = result.stats(LatencyName.ITL);
        line(lines, "Mean ITL (ms):", itl.meanNanos() / NANOS_PER_MILLI);
        line(lines, "Median ITL (ms):", itl.p50Nanos() / NANOS_PER_MILLI);
        line(lines, "P95 ITL (ms):", itl.p95Nanos() / NANOS_PER_MILLI);
        line(lines, "P99 ITL (ms):", itl.p99Nanos() / NANOS_PER_MILLI);
        line(lines, "Max ITL (ms):", itl.maxNanos() / NANOS_PER_MILLI);
        return lines.append("=".repeat(WIDTH)).append('\n').toString();
    }

    private static void latencies(StringBuilder lines, String name, LatencyStats stats) {
        line(lines, "Mean " + name + " (ms):", stats.meanNanos() / NANOS_PER_MILLI);
        line(lines, "Median " + name + " (ms):", stats.p50Nanos() / NANOS_PER_MILLI);
        line(lines, "P99 " + name + " (ms):", stats.p99Nanos() / NANOS_PER_MILLI);
    }

    /** As Python centers it: an odd rest is at the end. */
    private static void title(StringBuilder lines, String words, char filler) {
        int rest = WIDTH - words.length();
        String fill = String.valueOf(filler);
        lines.append(fill.repeat(rest / 2))
                .append(words)
                .append(fill.repeat(rest - rest / 2))
                .append('\n');
    }

    private static void line(StringBuilder lines, String name, double value) {
        line(lines, name, String.format(Locale.ROOT, "%.2f", value));
    }

    private static void line(StringBuilder lines, String name, String value) {
        lines.append(String.format(Locale.ROOT, "%-40s %-10s\n", name, value));
    }

    private double totalThroughput() {
        return result.perSecond(result.totalInputTokens() + result.totalOutputTokens());
    }

    private double concurrency() {
        double seconds =
                result.completed().stream().mapToLong(BenchRequest::e2elNanos).sum() / NANOS_PER_SECOND;
        return result.durationSeconds() == 0 ? 0 : seconds / result.durationSeconds();
    }

    /**
     * Returns the line for machines, without a line break.
     *
     * @param isDetailed whether it has lists with an entry for each request
     */
    public String json(boolean isDetailed) {
        var traffic = result.setup().traffic();
        double rate = traffic.rate().lastPerSecond();
        var json = JSON.createObjectNode();
        json.putNull("tag").put("backend", arguments.backend).put("dataset_name", arguments.dataset);
        if (Double.isInfinite(rate)) {
            // Python's json writes it as Infinity, which no other reader takes.
            json.put("request_rate", "inf");
        } else {
            json.put("request_rate", rate);
        }
        json.put("max_concurrency", traffic.maxConcurrency() == 0 ? null : traffic.maxConcurrency())
                .put("sharegpt_output_len", arguments.sharegptOutputLength)
                .put("random_input_len", arguments.inputLength)
                .put("random_output_len", arguments.outputLength)
                .put("random_range_ratio", arguments.rangeRatio)
                .put("duration", result.durationSeconds())
                .put("completed", result.count(End.COMPLETED))
                .put("total_input_tokens", result.totalInputTokens())
                .put("total_input_text_tokens", result.totalInputTokens())
                .put("total_input_vision_tokens", 0)
                .put("total_output_tokens", result.totalOutputTokens())
                .put("total_output_tokens_retokenized", result.totalOutputTokens())
                .put("request_throughput", result.perSecond(result.count(End.COMPLETED)))
                .put("input_throughput", result.perSecond(result.totalInputTokens()))
                .put("output_throughput", result.perSecond(result.totalOutputTokens()))
                .put("total_throughput", totalThroughput());
        put(json, "e2e_latency", result.stats(LatencyName.E2EL));
        put(json, "ttft", result.stats(LatencyName.TTFT));
        put(json, "tpot", result.stats(LatencyName.TPOT));
        put(json, "itl", result.stats(LatencyName.ITL));
        json.put("p95_itl_ms", result.stats(LatencyName.ITL).p95Nanos() / NANOS_PER_MILLI)
                .put("concurrency", concurrency())
                .put("accept_length", acceptLength)
                .put("max_output_tokens_per_s", (double) result.maxOutputTokensPerSecond())
                .put("max_concurrent_requests", result.maxConcurrentRequests());
        if (isDetailed) {
            putDetails(json);
        }
        try {
            return JSON.writeValueAsString(json);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void put(ObjectNode json, String name, LatencyStats stats) {
        json.put("mean_" + name + "_ms", stats.meanNanos() / NANOS_PER_MILLI)
                .put("median_" + name + "_ms", stats.p50Nanos() / NANOS_PER_MILLI)
                .put("std_" + name + "_ms", stats.stddevNanos() / NANOS_PER_MILLI)
                .put("p99_" + name + "_ms", stats.p99Nanos() / NANOS_PER_MILLI);
    }

    private void putDetails(ObjectNode json) {
        var inputs = json.putArray("input_lens");
        var outputs = json.putArray("output_lens");
        var ttfts = json.putArray("ttfts");
        var itls = json.putArray("itls");
        var texts = json.putArray("generated_texts");
        var errors = json.putArray("errors");
        for (var request : result.requests()) {
            inputs.add(request.inputTokens());
            outputs.add(request.isCompleted() ? request.outputTokens() : 0);
            ttfts.add(request.ttftNanos() / NANOS_PER_SECOND);
            var gaps = itls.addArray();
            var times = request.chunkNanos();
            IntStream.range(1, times.size())
                    .forEach(i -> gaps.add((times.getLong(i) - times.getLong(i - 1)) / NANOS_PER_SECOND));
            texts.add(request.text());
            errors.add(request.error());
        }
    }
}

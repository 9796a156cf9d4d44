package understudy.bench.result;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.bench.result.BenchRequest.End;
import understudy.workload.RampUp;

/** Writes a result as {@code vllm bench serve --save-result} does, with all its keys, and then keys of our own. */
public final class ServingJson {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private final BenchResult result;
    private final Options options;
    private final Map<String, @Nullable Object> json = new LinkedHashMap<>();

    /**
     * Options of the file.
     *
     * @param label what the user calls the run, or null
     * @param metadata more keys, under which the user finds it again
     * @param isDetailed whether there is an entry for each request
     * @param choice which latencies
     */
    public record Options(
            @Nullable String label, Map<String, String> metadata, boolean isDetailed, MetricChoice choice) {}

    private ServingJson(BenchResult result, Options options) {
        this.result = result;
        this.options = options;
    }

    /** Returns the JSON, with a line break at its end. */
    public static String write(BenchResult result, Options options) {
        var writer = new ServingJson(result, options);
        writer.putSetup(result.setup());
        writer.putTotals();
        writer.putRequests();
        writer.putLatencies();
        writer.putOwn();
        try {
            return JSON.writeValueAsString(writer.json) + "\n";
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the name that vLLM gives the file. */
    public static String fileName(BenchResult.Setup setup, @Nullable String label) {
        var traffic = setup.traffic();
        var rampUp = traffic.rate().rampUp();
        String pace = rampUp == null
                ? pythonFloat(traffic.rate().lastPerSecond()) + "qps"
                : "ramp-up-" + strategy(rampUp) + "-" + whole(rampUp.startPerSecond()) + "qps-"
                        + whole(rampUp.endPerSecond()) + "qps";
        String concurrency = traffic.maxConcurrency() == 0 ? "" : "-concurrency" + traffic.maxConcurrency();
        String model = setup.model().substring(setup.model().lastIndexOf('/') + 1);
        return (label == null ? setup.backend() : label) + "-" + pace + concurrency + "-" + model + "-" + date(setup)
                + ".json";
    }

    private static String date(BenchResult.Setup setup) {
        return startOf(setup).format(DATE);
    }

    private static LocalDateTime startOf(BenchResult.Setup setup) {
        return ZonedDateTime.ofInstant(
                        LocalDateTime.ofEpochSecond(setup.startSeconds(), 0, ZoneOffset.UTC),
                        ZoneOffset.UTC,
                        ZoneId.systemDefault())
                .toLocalDateTime();
    }

    private static String pythonFloat(double number) {
        return Double.isInfinite(number) ? "inf" : String.valueOf(number);
    }

    private static String whole(double number) {
        return number == Math.rint(number) ? String.valueOf((long) number) : String.valueOf(number);
    }

    private static String strategy(RampUp rampUp) {
        return rampUp.isExponential() ? "exponential" : "linear";
    }

    private static Object finite(double number) {
        return Double.isInfinite(number) ? "inf" : number;
    }

    private void putSetup(BenchResult.Setup setup) {
        var traffic = setup.traffic();
        json.put("date", date(setup));
        json.put("endpoint_type", setup.backend());
        json.put("backend", setup.backend());
        json.put("label", options.label);
        json.put("model_id", setup.model());
        json.put("tokenizer_id", null);
        json.put("num_prompts", setup.numPrompts());
        json.putAll(options.metadata);
        json.put("request_rate", finite(traffic.rate().lastPerSecond()));
        json.put("burstiness", finite(traffic.burstiness()));
        json.put("max_concurrency", traffic.maxConcurrency() == 0 ? null : traffic.maxConcurrency());
        var rampUp = traffic.rate().rampUp();
        if (rampUp != null) {
            json.put("ramp_up_strategy", strategy(rampUp));
            json.put("ramp_up_start_rps", rampUp.startPerSecond());
            json.put("ramp_up_end_rps", rampUp.endPerSecond());
        }
    }

    private void putTotals() {
        boolean hasGoodput = result.setup().serviceLevels().areSet();
        json.put("duration", result.durationSeconds());
        json.put("completed", result.count(End.COMPLETED));
        json.put("failed", result.count(End.FAILED));
        json.put("total_input_tokens", result.totalInputTokens());
        json.put("total_output_tokens", result.totalOutputTokens());
        json.put("request_throughput", result.perSecond(result.count(End.COMPLETED)));
        json.put("request_goodput", hasGoodput ? result.requestGoodput() : null);
        json.put("output_throughput", result.perSecond(result.totalOutputTokens()));
        json.put("total_token_throughput", result.perSecond(result.totalInputTokens() + result.totalOutputTokens()));
    }

    /** Without details vLLM leaves out all these lists but two. */
    private void putRequests() {
        if (options.isDetailed) {
            putList("input_lens", BenchRequest::inputTokens);
            putList("output_lens", each -> each.isCompleted() ? each.outputTokens() : 0);
            putList("ttfts", each -> each.ttftNanos() / NANOS_PER_SECOND);
            putList("itls", ServingJson::gaps);
        }
        putList("latencies", each -> each.isCompleted() ? each.e2elNanos() / NANOS_PER_SECOND : 0.0);
        if (options.isDetailed) {
            putList("start_times", each -> each.times().sentNanos() / NANOS_PER_SECOND);
        }
        putList("queue_times", each -> each.queueNanos() / NANOS_PER_SECOND);
        if (options.isDetailed) {
            putList("generated_texts", BenchRequest::text);
            putList("errors", BenchRequest::error);
        }
        json.put("max_output_tokens_per_s", (double) result.maxOutputTokensPerSecond());
        json.put("max_concurrent_requests", result.maxConcurrentRequests());
        json.put("rtfx", 0.0);
        var rampUp = result.setup().traffic().rate().rampUp();
        if (rampUp != null) {
            json.put("rps_change_events", rateChanges(rampUp));
        }
    }

    private void putList(String name, Function<BenchRequest, Object> value) {
        json.put(name, result.requests().stream().map(value).toList());
    }

    private static List<Double> gaps(BenchRequest request) {
        var times = request.chunkNanos();
        return IntStream.range(1, times.size())
                .mapToObj(i -> (times.getLong(i) - times.getLong(i - 1)) / NANOS_PER_SECOND)
                .toList();
    }

    /** Returns when the rate of a ramp-up passed each whole number. */
    private List<Map<String, Object>> rateChanges(RampUp rampUp) {
        var changes = new ArrayList<Map<String, Object>>();
        var start = startOf(result.setup());
        long last = (long) rampUp.startPerSecond();
        changes.add(Map.of("rps", last, "timestamp", start.toString()));
        for (var request : result.requests()) {
            for (long reached = (long) rampUp.perSecond(request.id()); last < reached; ) {
                last++;
                changes.add(Map.of(
                        "rps",
                        last,
                        "timestamp",
                        start.plusNanos(request.times().intendedNanos()).toString()));
            }
        }
        return changes;
    }

    private void putLatencies() {
        result.metrics().stream().filter(options.choice::includes).forEach(this::put);
    }

    private void put(Metric metric) {
        var stats = metric.stats();
        json.put("mean_" + metric.key() + "_ms", stats.meanNanos() / NANOS_PER_MILLI);
        json.put("median_" + metric.key() + "_ms", stats.p50Nanos() / NANOS_PER_MILLI);
        json.put("std_" + metric.key() + "_ms", stats.stddevNanos() / NANOS_PER_MILLI);
        for (double percent : options.choice.percentiles()) {
            json.put(
                    "p" + MetricChoice.word(percent) + "_" + metric.key() + "_ms",
                    metric.percentileNanos(percent) / NANOS_PER_MILLI);
        }
    }

    /** Keys that vLLM does not have. */
    private void putOwn() {
        json.put("partial", result.isPartial());
        json.put("aborted", result.count(End.ABORTED));
        json.put("unfinished", result.count(End.UNFINISHED));
        json.put(
                "retries",
                result.requests().stream().mapToLong(BenchRequest::numRetries).sum());
        json.put("error_counts", result.errorCounts());
        json.put("client_late", result.isClientLate());
        result.metricsFromSchedule().forEach(this::put);
        if (options.isDetailed) {
            putList("request_ids", BenchRequest::id);
            putList("intended_times", each -> each.times().intendedNanos() / NANOS_PER_SECOND);
        }
    }
}

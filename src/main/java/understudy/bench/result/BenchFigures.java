package understudy.bench.result;

import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.bench.result.BenchRequest.End;
import understudy.report.Figures;
import understudy.report.Result;
import understudy.report.Total;
import understudy.workload.RampUp;

/**
 * Figures of a benchmark as {@code vllm bench serve} reports and saves them: its keys in its order, then ours. Lists in
 * JSON have an entry for each request, answered or not.
 */
public final class BenchFigures {
    private static final int MAX_ERRORS = 10;
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");
    private static final double NANOS_PER_SECOND = 1e9;

    private final BenchResult result;
    private final Options options;
    private final Figures figures = new Figures();

    /**
     * Options of a report.
     *
     * @param label the user's name for the run, or null
     * @param metadata more keys, under which the user finds it again
     * @param isDetailed whether there is an entry for each request
     * @param choice which latencies
     */
    public record Options(
            @Nullable String label, Map<String, String> metadata, boolean isDetailed, MetricChoice choice) {}

    private BenchFigures(BenchResult result, Options options) {
        this.result = result;
        this.options = options;
    }

    /** Returns the figures, and how people read them. */
    public static Result of(BenchResult result, Options options) {
        var writer = new BenchFigures(result, options);
        writer.addSetup(result.setup());
        writer.addTotals();
        writer.addRequests();
        writer.chosen().forEach(writer::add);
        writer.addOwn();
        return writer.shown();
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

    private void addSetup(BenchResult.Setup setup) {
        var traffic = setup.traffic();
        figures.add("date", date(setup))
                .add("endpoint_type", setup.backend())
                .add("backend", setup.backend())
                .add("label", options.label)
                .add("model_id", setup.model())
                .add("tokenizer_id", null)
                .add("num_prompts", setup.numPrompts());
        options.metadata.forEach(figures::add);
        Total.REQUEST_RATE.add(finite(traffic.rate().lastPerSecond()), figures);
        figures.add("burstiness", finite(traffic.burstiness()));
        Total.MAX_CONCURRENCY.add(traffic.maxConcurrency() == 0 ? null : traffic.maxConcurrency(), figures);
        var rampUp = traffic.rate().rampUp();
        if (rampUp != null) {
            figures.add("ramp_up_strategy", strategy(rampUp))
                    .add("ramp_up_start_rps", rampUp.startPerSecond())
                    .add("ramp_up_end_rps", rampUp.endPerSecond());
        }
    }

    private void addTotals() {
        long numInput = result.totalInputTokens();
        long numOutput = result.totalOutputTokens();
        boolean hasGoodput = result.setup().serviceLevels().areSet();
        Total.DURATION.add(result.durationSeconds(), figures);
        Total.COMPLETED.add(result.count(End.COMPLETED), figures);
        Total.FAILED.add(result.count(End.FAILED), figures);
        Total.TOTAL_INPUT_TOKENS.add(numInput, figures);
        Total.TOTAL_OUTPUT_TOKENS.add(numOutput, figures);
        Total.REQUEST_THROUGHPUT.add(result.perSecond(result.count(End.COMPLETED)), figures);
        Total.REQUEST_GOODPUT.add(hasGoodput ? result.requestGoodput() : null, figures);
        Total.OUTPUT_THROUGHPUT.add(result.perSecond(numOutput), figures);
        Total.TOTAL_TOKEN_THROUGHPUT.add(result.perSecond(numInput + numOutput), figures);
    }

    /** Without details vLLM leaves out all these lists but two. */
    private void addRequests() {
        if (options.isDetailed) {
            addList("input_lens", BenchRequest::inputTokens);
            addList("output_lens", each -> each.isCompleted() ? each.outputTokens() : 0);
            addList("ttfts", each -> each.ttftNanos() / NANOS_PER_SECOND);
            addList("itls", BenchFigures::gaps);
        }
        addList("latencies", each -> each.isCompleted() ? each.e2elNanos() / NANOS_PER_SECOND : 0.0);
        if (options.isDetailed) {
            addList("start_times", each -> each.times().sentNanos() / NANOS_PER_SECOND);
        }
        addList("queue_times", each -> each.queueNanos() / NANOS_PER_SECOND);
        if (options.isDetailed) {
            addList("generated_texts", BenchRequest::text);
            addList("errors", BenchRequest::error);
        }
        Total.MAX_OUTPUT_TOKENS_PER_S.add((double) result.maxOutputTokensPerSecond(), figures);
        Total.MAX_CONCURRENT_REQUESTS.addWithDecimals(result.maxConcurrentRequests(), figures);
        figures.add("rtfx", 0.0);
        var rampUp = result.setup().traffic().rate().rampUp();
        if (rampUp != null) {
            figures.add("rps_change_events", rateChanges(rampUp));
        }
    }

    private void addList(String key, Function<BenchRequest, Object> value) {
        var requests = result.requests();
        figures.addList(key, requests.size(), i -> value.apply(requests.get(i)));
    }

    private static List<Double> gaps(BenchRequest request) {
        var times = request.chunkNanos();
        return IntStream.range(1, times.size())
                .mapToObj(i -> (times.getLong(i) - times.getLong(i - 1)) / NANOS_PER_SECOND)
                .toList();
    }

    /** Returns when the rate of a ramp-up passed each whole number. */
    private List<Figures> rateChanges(RampUp rampUp) {
        var changes = new ArrayList<Figures>();
        var start = startOf(result.setup());
        long last = (long) rampUp.startPerSecond();
        changes.add(rateChange(last, start));
        for (var request : result.requests()) {
            for (long reached = (long) rampUp.perSecond(request.id()); last < reached; ) {
                last++;
                changes.add(rateChange(last, start.plusNanos(request.times().intendedNanos())));
            }
        }
        return changes;
    }

    private static Figures rateChange(long perSecond, LocalDateTime at) {
        return new Figures().add("rps", perSecond).add("timestamp", at.toString());
    }

    private Stream<Metric> chosen() {
        return result.metrics().stream().filter(options.choice::includes);
    }

    private void add(Metric metric) {
        var stats = metric.stats();
        metric.name().add("mean", stats.meanNanos(), figures);
        metric.name().add("median", stats.p50Nanos(), figures);
        metric.name().add("std", stats.stddevNanos(), figures);
        for (double percent : options.choice.percentiles()) {
            metric.name().add("p" + MetricChoice.word(percent), metric.percentileNanos(percent), figures);
        }
    }

    /** Adds keys that vLLM does not have. */
    private void addOwn() {
        figures.add("partial", result.isPartial());
        Total.ABORTED.addCount(result.count(End.ABORTED), figures);
        Total.UNFINISHED.addCount(result.count(End.UNFINISHED), figures);
        Total.RETRIES.addCount(
                result.requests().stream().mapToLong(BenchRequest::numRetries).sum(), figures);
        var errors = figures.addObject("error_counts");
        result.errorCounts().forEach(errors::add);
        figures.add("client_late", result.isClientLate());
        result.metricsFromSchedule().forEach(this::add);
        if (options.isDetailed) {
            addList("request_ids", BenchRequest::id);
            addList("intended_times", each -> each.times().intendedNanos() / NANOS_PER_SECOND);
        }
    }

    private Result shown() {
        var shown = new Result(figures);
        var own = new Total[] {Total.ABORTED, Total.UNFINISHED, Total.RETRIES};
        Total.addBlock(result.isPartial(), Total.allBut(own), shown);
        var statistics = new ArrayList<>(List.of("mean", "median"));
        options.choice.percentiles().forEach(percent -> statistics.add("p" + MetricChoice.word(percent)));
        chosen().forEach(metric -> metric.name().addBlock(statistics, shown));
        shown.end()
                .block(
                        " From the Schedule ",
                        '=',
                        Stream.of(own).map(Total::key).toList());
        result.metricsFromSchedule().forEach(metric -> metric.name().addBlock(statistics, shown));
        shown.end();
        addErrors(result.errorCounts(), shown);
        return shown;
    }

    private static void addErrors(Map<String, Integer> counts, Result shown) {
        counts.entrySet().stream()
                .limit(MAX_ERRORS)
                .forEach(error -> shown.words(error.getValue() + " x " + error.getKey() + "\n"));
        if (counts.size() > MAX_ERRORS) {
            shown.words((counts.size() - MAX_ERRORS) + " other errors\n");
        }
    }
}

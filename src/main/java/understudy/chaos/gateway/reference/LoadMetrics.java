package understudy.chaos.gateway.reference;

import java.util.OptionalDouble;
import java.util.function.DoubleBinaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import understudy.adopt.MetricsPage;
import understudy.settings.ScenarioException;

/**
 * Load of a replica as its {@code /metrics} have it. A series that is missing is empty, and one that is no number stays NaN.
 *
 * @param numWaiting requests that wait: {@code vllm:num_requests_waiting}, {@code sglang:num_queue_reqs}
 * @param numRunning requests that run: {@code vllm:num_requests_running}, {@code sglang:num_running_reqs}
 * @param kvCacheUsage share of the KV cache in use: {@code vllm:kv_cache_usage_perc}, {@code sglang:token_usage}
 * @param numFinished requests since the start: {@code vllm:request_success_total}, {@code sglang:num_requests_total}
 */
record LoadMetrics(
        OptionalDouble numWaiting, OptionalDouble numRunning, OptionalDouble kvCacheUsage, OptionalDouble numFinished) {
    static final LoadMetrics NONE = new LoadMetrics(
            OptionalDouble.empty(), OptionalDouble.empty(), OptionalDouble.empty(), OptionalDouble.empty());

    /** The rest of the page is not read: it is long, and may be broken. */
    private static final Pattern SERIES =
            Pattern.compile("(vllm:(num_requests_(waiting|running)|kv_cache_usage_perc|request_success_total)"
                    + "|sglang:(num_queue_reqs|num_running_reqs|token_usage|num_requests_total))[ {].*");

    /**
     * Reads the metrics of one replica; a page that is broken has none. Series of the same name, as of several ranks, are
     * summed; of usages the highest counts.
     */
    static LoadMetrics of(String text) {
        try {
            var page = MetricsPage.read(
                    "/metrics",
                    text.lines().filter(line -> SERIES.matcher(line).matches()).collect(Collectors.joining("\n")));
            return new LoadMetrics(
                    figure(page, "vllm:num_requests_waiting", "sglang:num_queue_reqs", Double::sum),
                    figure(page, "vllm:num_requests_running", "sglang:num_running_reqs", Double::sum),
                    figure(page, "vllm:kv_cache_usage_perc", "sglang:token_usage", Math::max),
                    figure(page, "vllm:request_success_total", "sglang:num_requests_total", Double::sum));
        } catch (ScenarioException e) {
            return NONE;
        }
    }

    private static OptionalDouble figure(MetricsPage page, String vllm, String sglang, DoubleBinaryOperator merge) {
        return Stream.concat(page.all(vllm), page.all(sglang))
                .mapToDouble(MetricsPage.Sample::value)
                .reduce(merge);
    }

    /** Returns the requests that wait or run, as far as there are such series. */
    double numRequests() {
        return numWaiting.orElse(0) + numRunning.orElse(0);
    }

    /** Returns whether all gauges are there. */
    boolean isWhole() {
        return Stream.of(numWaiting, numRunning, kvCacheUsage).allMatch(OptionalDouble::isPresent);
    }

    /** Returns whether all gauges are there, and have values that can be. */
    boolean isCredible() {
        return isWhole()
                && canBe(numWaiting.getAsDouble(), Double.MAX_VALUE)
                && canBe(numRunning.getAsDouble(), Double.MAX_VALUE)
                && canBe(kvCacheUsage.getAsDouble(), 1);
    }

    /** NaN is neither above nor below anything. */
    private static boolean canBe(double value, double most) {
        return value >= 0 && value <= most;
    }
}

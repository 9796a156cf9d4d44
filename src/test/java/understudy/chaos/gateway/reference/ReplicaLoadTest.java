package understudy.chaos.gateway.reference;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Load of a replica with two requests of our own. */
final class ReplicaLoadTest {
    private static final long SECOND = 1_000_000_000;

    private static String vllm(String waiting, String running, String usage) {
        return """
                # TYPE vllm:num_requests_waiting gauge
                vllm:num_requests_waiting{engine="0",model_name="m"} %s
                vllm:num_requests_running{engine="0",model_name="m"} %s
                vllm:kv_cache_usage_perc{engine="0",model_name="m"} %s
                """.formatted(waiting, running, usage);
    }

    private static double load(WrongDecision wrong, String metrics) {
        var load = new ReplicaLoad(wrong);
        load.onScraped(metrics, 2, 0);
        return load.requests(2, 0);
    }

    @Test
    void requestsOfOthersAreAdded() {
        // 3 + 4 are reported, 2 of them are ours: 2 + 5, and half a cache counts for 2.
        assertThat(load(WrongDecision.NONE, vllm("3.0", "4.0", "0.5"))).isEqualTo(9);
        assertThat(load(WrongDecision.NONE, """
                        sglang:num_queue_reqs{model_name="m"} 3.0
                        sglang:num_running_reqs{model_name="m"} 4.0
                        sglang:token_usage{model_name="m"} 0.5
                        """)).isEqualTo(9);
        // Of a million, 64 count.
        assertThat(load(WrongDecision.NONE, vllm("1000000", "0", "0"))).isEqualTo(66);
        // Ours are there, whatever the replica says.
        assertThat(load(WrongDecision.NONE, vllm("0", "0", "0"))).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "no metrics at all",
                "vllm:num_requests_waiting 9",
                "vllm:num_requests_waiting 9\nvllm:num_requests_running NaN\nvllm:kv_cache_usage_perc 0",
                "vllm:num_requests_waiting -9\nvllm:num_requests_running 9\nvllm:kv_cache_usage_perc 0",
                "vllm:num_requests_waiting 9\nvllm:num_requests_running +Inf\nvllm:kv_cache_usage_perc 0",
                "vllm:num_requests_waiting 9\nvllm:num_requests_running 9\nvllm:kv_cache_usage_perc 7",
                "vllm:num_requests_waiting nine\nvllm:num_requests_running 9\nvllm:kv_cache_usage_perc 0"
            })
    void incredibleMetricsDoNotCount(String metrics) {
        assertThat(load(WrongDecision.NONE, metrics)).isEqualTo(2);
    }

    @Test
    void metricsThatDoNotChange_countForASecond() {
        var load = new ReplicaLoad(WrongDecision.NONE);
        load.onScraped(vllm("5", "2", "0"), 2, 0);
        load.onScraped(vllm("5", "2", "0"), 2, SECOND);
        assertThat(load.requests(2, SECOND)).isEqualTo(7);
        assertThat(load.requests(2, SECOND + 1)).isEqualTo(2);

        load.onScraped(vllm("4", "2", "0"), 2, SECOND + 1);
        assertThat(load.requests(2, SECOND + 1)).isEqualTo(6);
        load.onScraped(null, 2, SECOND + 2);
        assertThat(load.requests(2, SECOND + 2)).isEqualTo(2);
    }

    @Test
    void wrongLoadIsWhatMetricsSay() {
        assertThat(load(WrongDecision.BELIEVES_METRICS, vllm("0", "0", "0"))).isZero();
        assertThat(load(WrongDecision.BELIEVES_NAN, vllm("NaN", "0", "0"))).isNaN();
        assertThat(load(WrongDecision.MISSING_IS_IDLE, "")).isZero();
    }
}

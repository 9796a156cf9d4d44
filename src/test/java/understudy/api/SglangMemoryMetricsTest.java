package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.Waiting;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.testkit.EmulatedCluster;

/**
 * SGLang's metrics of roles, host memory and adapters ({@code observability/metrics_collector.py}, {@code
 * req_time_stats.py}). A step takes 10 ms, and a request none to the queue.
 */
final class SglangMemoryMetricsTest {
    private static final String SETTINGS = """
        engine.kind = sglang
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        latency.api-delay = 0ms
        server.sglang.enable-metrics = true
        """;

    private static final String PREFILL = "dp_rank=\"0\"";
    private static final String DECODE = "dp_rank=\"1\"";

    private static void await(EmulatedCluster cluster, String name, String label, double value) {
        Waiting.until(() -> cluster.metric("sglang:" + name, label) == value);
    }

    /**
     * The 100 pages of a prompt take 1 s: 131,072 bytes each of Llama-3.1-8B at 0.0131072 GB/s. A handshake takes 5 ms, and
     * the news of its end, of places, and of the end of the transfer 1 ms each.
     */
    @Test
    void roles_tellOfTheirQueuesAndTransfers() {
        try (var cluster = EmulatedCluster.servePaused(SETTINGS + """
                cluster.groups = [{ name = p, role = prefill }, { name = d, role = decode }]
                engine.sglang { max-total-tokens = 4000, disable-overlap-schedule = true }
                kv-cache.transfer { bandwidth = 0.0131072, handshake = 5ms, post = 0s, notify = 1ms }
                """)) {
            cluster.submit(100, 3);
            cluster.advance(Duration.ofMillis(500));
            // The prompt is computed, and all of its pages are on their way.
            await(cluster, "num_prefill_inflight_queue_reqs", PREFILL, 1);
            await(cluster, "num_prefill_bootstrap_queue_reqs", PREFILL, 0);
            cluster.advance(Duration.ofSeconds(2));

            await(cluster, "kv_transfer_latency_ms_count", PREFILL, 1);
            assertThat(cluster.metric("sglang:num_prefill_inflight_queue_reqs", PREFILL))
                    .isZero();
            assertThat(cluster.metric("sglang:kv_transfer_latency_ms_sum", PREFILL))
                    .isCloseTo(1001, within(1e-6));
            assertThat(cluster.metric("sglang:kv_transfer_total_mb_sum", PREFILL))
                    .isCloseTo(12.5, within(1e-9));
            assertThat(cluster.metric("sglang:kv_transfer_speed_gb_s_sum", PREFILL))
                    .isCloseTo(12.5 / 1024 / 1.001, within(1e-9));
            assertThat(cluster.metric("sglang:kv_transfer_bootstrap_ms_sum", PREFILL))
                    .isCloseTo(7, within(1e-6));
            assertThat(cluster.metric("sglang:kv_transfer_bootstrap_ms_sum", DECODE))
                    .isCloseTo(6, within(1e-6));
            assertThat(stage(cluster, "prefill_transfer_kv_cache")).isCloseTo(1.001, within(1e-9));
            // 1 ms until the other side knows of the places, a prefill of 10 ms, and the transfer.
            assertThat(stage(cluster, "decode_transferred")).isCloseTo(1.012, within(1e-9));
            assertThat(cluster.metric("sglang:num_transfer_failed_reqs_total", ""))
                    .isZero();
        }
    }

    private static double stage(EmulatedCluster cluster, String stage) {
        String text = "stage=\"" + stage + "\"";
        Waiting.until(() -> cluster.metric("sglang:per_stage_req_latency_seconds_count", text) > 0);
        return cluster.metric("sglang:per_stage_req_latency_seconds_sum", text);
    }

    private static Prompt prompt(int firstToken) {
        return new Prompt(
                new TokenIds(IntStream.range(firstToken, firstToken + 200).toArray()));
    }

    /**
     * The pool has 300 tokens, and the host twice as many and a page more ({@code memory_pool_host.py}). Each prompt of 200 tokens evicts the one before it, which the host
     * has. Of the first one, when it comes again, all but the last token is loaded back.
     */
    @Test
    void hierarchicalCache_tellsWhatMovesAndWhatIsOnTheHost() {
        try (var cluster = EmulatedCluster.servePaused(SETTINGS + """
                engine.sglang { max-total-tokens = 300, enable-hierarchical-cache = true, hicache-ratio = 2.0 }
                engine.sglang.disable-overlap-schedule = true
                """)) {
            for (int first : new int[] {1000, 2000, 1000}) {
                cluster.submit(prompt(first), 1);
                cluster.advance(Duration.ofSeconds(1));
            }

            await(cluster, "load_back_tokens_total", "cache_type=\"HiRadixCache\"", 199);
            await(cluster, "evicted_tokens_total", "cache_type=\"HiRadixCache\"", 400);
            await(cluster, "hicache_host_used_tokens", "", 400);
            await(cluster, "hicache_host_total_tokens", "", 601);
        }
    }

    /** The first of two replicas writes its 200 tokens to the store, and the second one fetches them. */
    @Test
    void storage_tellsWhatGoesThereAndComesBack() {
        try (var cluster = EmulatedCluster.servePaused(SETTINGS + """
                cluster.replicas = 2, router.policy = round-robin
                engine.sglang { max-total-tokens = 300, enable-hierarchical-cache = true, prefetch-threshold = 10
                  hicache-storage-backend = mooncake, hicache-storage-prefetch-policy = wait-complete
                  disable-overlap-schedule = true }
                """)) {
            for (int i = 0; i < 2; i++) {
                cluster.submit(prompt(1000), 1);
                cluster.advance(Duration.ofSeconds(1));
            }

            await(cluster, "backuped_tokens_total", "dp_rank=\"0\"", 200);
            await(cluster, "prefetched_tokens_total", "dp_rank=\"1\"", 200);
        }
    }

    @Test
    void adapters_takeSlots() {
        try (var cluster = EmulatedCluster.servePaused(SETTINGS + """
                engine.sglang { max-total-tokens = 4000, enable-lora = true, max-loras-per-batch = 4 }
                """)) {
            var prompt = prompt(1000);
            cluster.submit(new Prompt(prompt.tokens(), "adapter", "", prompt.turn()), 50);
            cluster.advance(Duration.ofMillis(100));

            await(cluster, "lora_pool_slots_used", "", 1);
            await(cluster, "lora_pool_slots_total", "", 4);
            await(cluster, "lora_pool_utilization", "", 0.25);
        }
    }
}

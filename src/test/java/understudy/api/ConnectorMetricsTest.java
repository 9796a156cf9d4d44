package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.TestData;

/** Metrics that replicas have only with a connector, or with drafts. */
final class ConnectorMetricsTest {
    private static final List<String> GOLDEN = TestData.lines("vllm-connector-metrics.txt");
    private static final String OFFLOADING = """
            kv-cache.tiers.host { tokens = 4096, offload-prompt-only = false }
            latency { llm = llama-3.1-8b, gpu = h100-sxm }
            """;
    private static final String PREFILL_AND_DECODE = """
            cluster.groups = [
              { name = prefill, replicas = 1, role = prefill }
              { name = decode, replicas = 1, role = decode }
            ]
            latency { llm = llama-3.1-8b, gpu = h100-sxm }
            """;

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @Test
    void familiesOfHostMemory_areThoseOfVllm() {
        server.moreSettings = OFFLOADING;
        server.start();

        requireLike("vllm:kv_offload_");
        assertThat(page()).noneMatch(line -> line.startsWith("vllm:nixl_"));
    }

    @Test
    void familiesOfReadsFromOtherReplicas_areThoseOfVllm() {
        server.moreSettings = PREFILL_AND_DECODE;
        server.start();

        requireLike("vllm:nixl_");
        assertThat(page()).noneMatch(line -> line.startsWith("vllm:kv_offload_"));
    }

    @Test
    void familiesOfDrafts_areThoseOfVllm() {
        server.moreSettings = """
                engine.speculative { method = eagle, num-speculative-tokens = 3, synthetic-acceptance-length = 2 }
                """;
        server.start();

        requireLike("vllm:spec_decode_");
    }

    @Test
    void withoutAConnector_thereAreNone() {
        server.start();

        assertThat(page())
                .noneMatch(line -> line.startsWith("vllm:nixl_") || line.startsWith("vllm:kv_offload_"))
                .anyMatch(line -> line.startsWith("vllm:external_prefix_cache_hits_total"));
    }

    /** A prompt of 64 tokens is four blocks, and each of them a chunk of its own. */
    @Test
    void whatIsStoredInHostMemory_isCounted() {
        server.moreSettings = OFFLOADING;
        server.start();

        server.post("/v1/completions", completion());
        // A store is told with the next step.
        server.post("/v1/completions", "{\"prompt\": \"x\", \"max_tokens\": 20, \"ignore_eos\": true}");

        server.awaitMetric("vllm:kv_offload_cpu_allocation_size_sum", "", sum -> sum >= 4);
        // 131,072 bytes a token: two of keys and values, 32 layers, 8 heads, 128 elements of 2 bytes.
        double stores = server.metric("vllm:kv_offload_store_size_count", "");
        double bytes = server.metric("vllm:kv_offload_store_bytes_total", "");
        double blocks = server.metric("vllm:kv_offload_cpu_allocation_size_sum", "");
        assertThat(bytes).isEqualTo(blocks * 16 * 131_072);
        assertThat(server.metric("vllm:kv_offload_size_count", "GPU_to_CPU")).isEqualTo(stores);
        assertThat(server.metric("vllm:kv_offload_total_bytes_total", "GPU_to_CPU"))
                .isEqualTo(bytes);
    }

    /** The prefill replica computes 64 tokens; the decode replica reads them, one transfer of four blocks. */
    @Test
    void whatIsReadFromAnotherReplica_isCounted() {
        server.moreSettings = PREFILL_AND_DECODE;
        server.start();

        server.post("/v1/completions", completion());

        server.awaitMetric("vllm:nixl_xfer_time_seconds_count", "engine=\"1\"", count -> count == 1);
        assertThat(server.metric("vllm:nixl_bytes_transferred_sum", "engine=\"1\""))
                .isEqualTo(64 * 131_072);
        assertThat(server.metric(
                        "vllm:prompt_tokens_by_source_total", "engine=\"1\",model_name=\"m\",source=\"external"))
                .isEqualTo(64);
        assertThat(server.metric(
                        "vllm:prompt_tokens_cached_by_source_total", "engine=\"1\",model_name=\"m\",source=\"p2p"))
                .isEqualTo(64);
        assertThat(server.metric(
                        "vllm:prompt_tokens_by_source_total", "engine=\"0\",model_name=\"m\",source=\"local_co"))
                .isEqualTo(64);
        assertThat(server.metric("vllm:external_prefix_cache_hits_total", "engine=\"1\""))
                .isEqualTo(64);
        // A leg is no answer, and has no first token that anybody waits for.
        assertThat(server.metric("vllm:time_to_first_token_seconds_count", "engine=\"0\""))
                .isZero();
    }

    /** A prompt of 64 token ids. */
    private static String completion() {
        String ids =
                Stream.iterate(100, id -> id + 1).limit(64).map(String::valueOf).collect(Collectors.joining(","));
        return "{\"prompt\": [" + ids + "], \"max_tokens\": 20, \"ignore_eos\": true}";
    }

    private List<String> page() {
        return server.get("/metrics").text().lines().toList();
    }

    /** Names, types, labels and buckets of a family's series. */
    private void requireLike(String family) {
        var theirs = shapes(GOLDEN, family);
        assertThat(theirs).isNotEmpty();
        assertThat(shapes(page(), family)).containsAll(theirs);
    }

    private static Set<String> shapes(List<String> lines, String family) {
        return lines.stream()
                .filter(line -> line.contains(family) && !line.startsWith("# HELP"))
                .map(ConnectorMetricsTest::shape)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** A line without its value; labels in alphabetical order, and bounds as numbers. */
    private static String shape(String line) {
        if (line.startsWith("#")) {
            return line;
        }
        int brace = line.indexOf('{');
        var labels = Stream.of(line.substring(brace + 1, line.lastIndexOf('}')).split(",", -1))
                .map(ConnectorMetricsTest::normal)
                .sorted()
                .toList();
        return line.substring(0, brace) + labels;
    }

    private static String normal(String label) {
        if (!label.startsWith("le=")) {
            return label;
        }
        String bound = label.substring(4, label.length() - 1);
        return "le=" + (bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound));
    }
}

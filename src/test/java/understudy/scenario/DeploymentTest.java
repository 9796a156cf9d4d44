package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.Parallelism;
import understudy.settings.ScenarioException;

/** What follows from the names of a model and a GPU. */
final class DeploymentTest {

    /** Blocks that vLLM printed at its start, at utilization 0.90, as published with profiles and in its PR 2031. */
    @ParameterizedTest
    @CsvSource({
        "llama-2-7b, h100, 1, 2048, 7463",
        "llama-2-70b, h100, 4, 2048, 31357",
        "mixtral-8x7b, h100, 2, 2048, 27511",
        "codellama-34b, h100, 2, 2048, 26603",
        "llama-3.1-70b, h100, 4, 2048, 30425",
        "llama-3.1-70b, h100, 4, 8192, 30251",
        "mistral-nemo-12b, h100, 1, 2048, 19251",
        "mistral-nemo-12b, h100, 2, 2048, 48009",
        "qwen2.5-7b, h100, 1, 2048, 65352",
        "yi-34b, h100, 2, 2048, 20793",
        "llama-3.1-8b, rtx-4090, 1, 2048, 2588",
        "llama-2-7b, a100, 1, 2048, 7449",
        "llama-2-7b, a100, 1, 2048, 7351"
    })
    void blocks_areThoseOfVllm(String llm, String gpu, int tensorParallelSize, int batchedTokens, int blocks) {
        var scenario = read(Map.of(
                "latency.llm",
                llm,
                "latency.gpu",
                gpu,
                "latency.tensor-parallel-size",
                String.valueOf(tensorParallelSize),
                "engine.max-num-batched-tokens",
                String.valueOf(batchedTokens),
                "kv-cache.gpu-memory-utilization",
                "0.9"));

        assertThat((double) scenario.engine().kvCache().numGpuBlocks()).isCloseTo(blocks, withinPercentage(2));
    }

    /** The sizes that vLLM's OpenAI server takes by itself. */
    @ParameterizedTest
    @CsvSource({
        "b200, 1024, 16384",
        "h100, 1024, 8192",
        "h200, 1024, 8192",
        "a100, 256, 2048",
        "l40s, 256, 2048",
        "'', 1024, 8192"
    })
    void sizes_followTheGpu(String gpu, int maxNumSeqs, int maxNumBatchedTokens) {
        var engine = read(Map.of("latency.model", "linear", "latency.gpu", gpu)).engine();

        assertThat(engine.traits().maxNumSeqs()).isEqualTo(maxNumSeqs);
        assertThat(engine.traits().maxNumBatchedTokens()).isEqualTo(maxNumBatchedTokens);
    }

    /**
     * Slots for 8 adapters of rank 16 on Mistral-7B, 83,886,080 bytes each (2,621,440 elements of rank 1 x 16 x 2 bytes),
     * take the place of 8 x 83,886,080 / 2,097,152 = 320 blocks of 16 tokens x 131,072 bytes. Llama-3.1-8B is as large, but
     * has the tables of embedding and head, too: 2 x (128,256 + 4,096) = 264,704 elements more, 5.77 MB of rank 1 (measured:
     * 5.77), and 8 x 16 x 2 x 264,704 / 2,097,152 = 32.3 blocks.
     */
    @ParameterizedTest
    @CsvSource({"mistral-7b, 320, 320", "llama-3.1-8b, 352, 353"})
    void slotsOfAdapters_takeThePlaceOfBlocks(String llm, int least, int most) {
        var without = read(Map.of("latency.llm", llm, "latency.gpu", "h100"));
        var with = read(Map.of(
                "latency.llm", llm, "latency.gpu", "h100", "engine.lora.enable", "true", "engine.lora.max-loras", "8"));

        int taken = without.engine().kvCache().numGpuBlocks()
                - with.engine().kvCache().numGpuBlocks();
        assertThat(taken).isBetween(least, most);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "engine.lora.max-cpu-loras | 1 | must be at least max-loras, which is 2",
                "engine.lora.adapter-rank | 32 | must be at most max-lora-rank, which is 16",
                "latency.llm | '' | which needs latency.llm and a GPU with a data sheet",
                "engine.kind | roseinfer | engine.lora.enable"
            })
    void adaptersThatCannotBe_areRefused(String key, String value, String message) {
        var settings = new TreeMap<>(Map.of(
                "engine.lora.enable", "true", "engine.lora.max-loras", "2", "latency.model", "linear", key, value));

        assertThatThrownBy(() -> read(settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(message);
    }

    @Test
    void maxModelLen_isThatOfTheModel() {
        var settings = Map.of("latency.llm", "llama-2-7b", "latency.gpu", "h100");

        assertThat(read(settings).engine().kvCache().maxModelLen()).isEqualTo(4096);
    }

    @Test
    void defaultNumberOfSequences_givesWayToASmallBudget() {
        var traits =
                read(Map.of("engine.max-num-batched-tokens", "512")).engine().traits();

        assertThat(traits.maxNumSeqs()).isEqualTo(512);
    }

    @Test
    void fp8_halvesWeightsButNotEmbeddings() {
        var settings = Map.of("latency.llm", "llama-3.1-70b", "latency.dtype", "fp8");
        var llm = read(settings).groups().get(0).deployment().llm();

        // 2 * 128,256 * 8,192 weights of embedding and head, and 161 norms of 8,192, stay at two bytes; 70.554 - 2.103
        // billion take one. Norms are on each GPU.
        assertThat(llm.spec().weightBytesPerRank(Parallelism.ofTensors(1)))
                .isCloseTo(68.451e9 + 2 * 2.103e9, withinPercentage(0.01));
        assertThat(llm.spec().weightBytesPerRank(Parallelism.ofTensors(4)))
                .isCloseTo((72.657e9 - 2.6e6) / 4 + 2.6e6, withinPercentage(0.01));
    }

    @Test
    void moreGpusThanKvHeads_replicateThem() {
        var settings = Map.of("latency.llm", "llama-3.1-8b", "latency.tensor-parallel-size", "16");
        var llm = read(settings).groups().get(0).deployment().llm();

        // 32 layers, key and value of one head of 128 elements with two bytes.
        assertThat(llm.spec().kvBytesPerTokenPerRank(16, 2)).isEqualTo(32 * 2 * 128 * 2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "latency.llm | llama-3.1-70b | llama-3.1-70b does not fit on h100-sxm",
                "latency.llm | llama-9 | must be a model of 'understudy models' or the path of a file",
                "latency.gpu | h1000 | must be a GPU of 'understudy gpus' or the path of a file; the nearest name is h",
                "latency.gpu | /nowhere.conf | /nowhere.conf: no such file",
                "latency.tensor-parallel-size | 5 | the 32 attention heads of llama-3.1-8b must divide evenly",
                "kv-cache.gpu-memory-utilization | 0.1 | does not fit",
                "latency.dtype | fp7 | must be one of auto, fp32"
            })
    void hardwareThatDoesNotDo_isRefused(String key, String value, String problem) {
        var settings = new TreeMap<>(Map.of("latency.llm", "llama-3.1-8b", "latency.gpu", "h100"));
        settings.put(key, value);

        assertThatThrownBy(() -> read(settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(problem);
    }

    /**
     * vLLM says "Setting attention block size to 544 tokens" for Qwen3-Next on one GPU: 1,097,728 bytes of state over 2,048
     * of a token are 536, of which the next multiple of 16 is 544. On four GPUs there is one KV head on each: 274,432 over
     * 1,024 are 268. In single precision the matrices are twice as large.
     */
    @ParameterizedTest
    @CsvSource({"1, auto, 544", "4, auto, 272", "1, float32, 1056", "4, float32, 528"})
    void blocks_areAsLargeAsStates(String tensorParallelSize, String dtype, int blockSize) {
        var engine = read(Map.of(
                        "latency.llm",
                        "qwen3-next-80b-a3b",
                        "latency.gpu",
                        "b200",
                        "latency.tensor-parallel-size",
                        tensorParallelSize,
                        "kv-cache.mamba-ssm-cache-dtype",
                        dtype))
                .engine();

        assertThat(engine.kvCache().groupsReason())
                .isEqualTo("3 mamba in blocks of " + blockSize + ", 1 full_attention in blocks of " + blockSize);
    }

    /** 12 layers share a block of 272 tokens x 1,024 bytes, on each of four GPUs of 79.6 GiB. */
    @Test
    void blocksOfStates_shareTheMemoryWithOthers() {
        var settings = Map.of(
                "latency.llm", "qwen3-next-80b-a3b",
                "latency.gpu", "h100",
                "latency.tensor-parallel-size", "4");
        var scenario = read(settings);

        assertThat(scenario.reasons()).anyMatch(line -> line.endsWith("for blocks of 3264 KiB"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "latency.tensor-parallel-size | 32 | the 16 attention heads of",
                "engine.disable-hybrid-kv-cache-manager | true | engine.disable-hybrid-kv-cache-manager is \"true\", but the states"
                        + " of qwen3-next-80b-a3b are KV cache groups, which need the default",
                "kv-cache.promote-full-blocks | true | kv-cache.promote-full-blocks is \"true\", but the states",
                "kv-cache.tiers.host.gib | 10 | are KV cache groups, which go without kv-cache.tiers, groups with roles"
            })
    void statesWhereTheyCannotBe_areRefused(String key, String value, String problem) {
        var settings = new TreeMap<>(Map.of(
                "latency.llm", "qwen3-next-80b-a3b", "latency.gpu", "h200", "latency.tensor-parallel-size", "2"));
        settings.put(key, value);

        assertThatThrownBy(() -> read(settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void slicesOfExperts_mustComeOutEven() {
        var settings = Map.of("latency.llm", "qwen3-30b-a3b", "latency.data-parallel-size", "7");

        assertThatThrownBy(() -> read(settings))
                .hasMessageContaining("latency.enable-expert-parallel is false, but experts of width 768");
    }

    @ParameterizedTest
    @CsvSource({"roofline, auto, 9_000_000", "linear, auto, 4_000_000", "linear, 2us, 6_000_000"})
    void promptTokens_delayRequestsBeforeKernels(String model, String perToken, String nanos) {
        var settings = Map.of(
                "latency.model",
                model,
                "latency.llm",
                "llama-3.1-8b",
                "latency.gpu",
                "h100",
                "latency.api-delay-per-prompt-token",
                perToken);

        // 4 ms and 1,000 tokens of 5 us, of nothing, or of 2 us.
        assertThat(read(settings).latency().apiDelay().nanosOf(1000)).isEqualTo(Long.parseLong(nanos.replace("_", "")));
    }

    @Test
    void roofline_needsBothNames() {
        assertThatThrownBy(() -> read(Map.of("latency.llm", "")))
                .hasMessageContaining("latency.llm is \"\", but this latency model needs a model");
        assertThatThrownBy(() -> read(Map.of("latency.gpu", "")))
                .hasMessageContaining("latency.gpu is \"\", but this latency model needs a GPU");
    }

    private static Scenario read(Map<String, String> settings) {
        return Scenario.read(new ScenarioFile(Map.of()).load("conf/demo.conf", settings));
    }
}

package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.engine.EngineTraits;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.radix.RadixConfig;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.transfer.PortGroup;

/** The section {@code engine.sglang}, and what follows from the GPU's memory. */
final class SglangSettingsTest {
    private static SglangSpec read(String settings) {
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load(Section.of("engine.kind = sglang\n" + settings)));
        return (SglangSpec) scenario.engine();
    }

    /**
     * H100 with 79.2 GiB = 81,100.8 MiB: 512 + 1.5 * 8,192 + 1/8 * 1,024 + 2 * 256 = 13,440 are kept for others (more than
     * 10,240), and 67,660.8 / 81,100.8 = 0.834 is left. That is 66.0528 GiB; Llama-3.1-8B has 8,030,261,248 weights of 2 bytes,
     * 14.9575 GiB, and 131,072 bytes of KV per token: 51.0953 GiB / 128 KiB = 418,572 tokens.
     */
    @Test
    void memoryOfAnH100_isSharedOutAsByTheServer() {
        var spec = read("latency { model = roofline, llm = llama-3.1-8b, gpu = h100-sxm }");

        assertThat(spec.memFractionStatic()).isEqualTo(0.834);
        assertThat(spec.config().memory().maxTotalTokens()).isEqualTo(418_572);
        assertThat(spec.config().chunkedPrefillSize()).isEqualTo(8192);
        // 418,572 / 131,072 * 512 = 1,635, which is raised to 2,048.
        assertThat(spec.config().maxRunningRequests()).isEqualTo(2048);
        assertThat(spec.config().maxModelLen()).isEqualTo(131_072);
    }

    /** 44.4 GiB = 45,465.6 MiB, chunks of 4,096: 512 + 6,144 + 128 + 2 * 32 = 6,848; 38,617.6 / 45,465.6 = 0.849. */
    @Test
    void memoryOfAnL40s_isSharedOutAsByTheServer() {
        var spec = read("latency { model = roofline, llm = llama-3.1-8b, gpu = l40s }");

        assertThat(spec.config().chunkedPrefillSize()).isEqualTo(4096);
        assertThat(spec.memFractionStatic()).isEqualTo(0.849);
    }

    /** 13,440 MiB as above, and 2,048 for the drafts: 65,612.8 / 81,100.8 = 0.809. */
    @Test
    void drafts_leaveLessOfTheMemory() {
        var spec = read("latency { model = roofline, llm = llama-3.1-8b, gpu = h100-sxm }\n"
                + "engine.sglang { speculative-algorithm = eagle, simulate-acc-len = 2 }");

        assertThat(spec.memFractionStatic()).isEqualTo(0.809);
    }

    /**
     * Two ranks of an H100 each: 512 + 1.5 * 8,192 + 2/8 * 1,024 + 2 * 256 + 3 * 2 * 256 = 15,104 MiB; 65,996.8 / 81,100.8 =
     * 0.814. Each has half of the chunk and of the seats, and 0.3 times the conservativeness.
     */
    @Test
    void ranksOfDpAttention_shareChunkAndSeats() {
        String ranks = "cluster.replicas = 2, latency { model = roofline, llm = qwen3-30b-a3b, gpu = h100-sxm,"
                + " data-parallel-size = 2 }\n";
        var spec = read(ranks + "engine.sglang { max-running-requests = 101, schedule-conservativeness = 0.5 }");

        assertThat(spec.memFractionStatic()).isEqualTo(0.814);
        assertThat(spec.config().chunkedPrefillSize()).isEqualTo(4096);
        assertThat(spec.config().maxRunningRequests()).isEqualTo(50);
        assertThat(spec.config().scheduleConservativeness()).isEqualTo(0.15);
        assertThat(spec.resolved())
                .containsEntry("engine.sglang.enable-dp-attention", true)
                .containsEntry("engine.sglang.chunked-prefill-size", 8192)
                .containsEntry("engine.sglang.max-running-requests", 100);
        // vLLM's keys are those of each rank.
        assertThat(read(ranks + "engine { max-num-seqs = 7, max-num-batched-tokens = 100 }")
                        .config())
                .returns(7, SglangConfig::maxRunningRequests)
                .returns(100, SglangConfig::chunkedPrefillSize);
    }

    /** Replicas of a model without experts step alone, as with SGLang's dp-size without DP attention. */
    @Test
    void replicasOfADenseModel_shareNothing() {
        var spec = read("cluster.replicas = 2, latency { llm = llama-3.1-8b, gpu = h100-sxm, data-parallel-size = 2 }");

        assertThat(spec.config().chunkedPrefillSize()).isEqualTo(8192);
        assertThat(spec.resolved()).containsEntry("engine.sglang.enable-dp-attention", false);
    }

    @Test
    void optionsOfPrefillsAndAdapters_areRead() {
        var spec = read("""
            engine.sglang {
              prefill-decode-interval = 3, enable-prefill-delayer = true, prefill-delayer-queue-min-ratio = 0.5
              prefill-delayer-token-usage-low-watermark = 0.2, prefill-delayer-max-delay-ms = 7, prefill-delayer-max-delay-passes = 9
              enable-lora = true, max-loras-per-batch = 4, lora-paths = ["sql=/mnt/sql", chat]
            }
            """);

        assertThat(spec.config().prefillDecodeInterval()).isEqualTo(3);
        assertThat(spec.config().prefillDelay()).isEqualTo(new SglangConfig.Delay(0.2, 0.5, 7_000_000, 9));
        assertThat(spec.config().maxLorasPerBatch()).isEqualTo(4);
        assertThat(spec.loraModules()).containsExactly(Map.entry("sql", "/mnt/sql"), Map.entry("chat", "chat"));
        assertThat(spec.traits().has(EngineTraits.Feature.ADAPTERS)).isTrue();
    }

    /** What a dry run says of the pool: a request cannot have the page that is kept free, and one token. */
    @Test
    void poolAndItsShare_areSaidUnderSglangsNames() {
        var scenario = Scenario.read(new ScenarioFile(Map.of())
                .load(Section.of(
                        "engine.kind = sglang, latency { model = roofline, llm = llama-3.1-8b, gpu = h100-sxm }")));

        assertThat(scenario.reasons())
                .anyMatch(
                        line -> line.startsWith(
                                "engine.sglang.max-total-tokens 418572, at most 418570 for one request, on h100-sxm: 66.05 GiB"));
    }

    @Test
    void withoutAGpu_thereAreTheTokensOfTheDefaultBlocks() {
        var spec = read("latency { model = linear, llm = \"\", gpu = \"\" }");

        assertThat(spec.config().memory().maxTotalTokens()).isEqualTo(29_000 * 16);
        assertThat(spec.config().overlaps()).isTrue();
        assertThat(spec.config().schedulePolicy()).isEqualTo(SchedulePolicy.FCFS);
    }

    @Test
    void commonSizes_areTakenWhereItsOwnAreOpen() {
        var spec = read("engine { max-num-seqs = 7, max-num-batched-tokens = 100, max-model-len = 50 }");

        assertThat(spec.config().maxRunningRequests()).isEqualTo(7);
        assertThat(spec.config().chunkedPrefillSize()).isEqualTo(100);
        assertThat(spec.config().maxModelLen()).isEqualTo(50);
        assertThat(read("engine { max-num-seqs = 7, sglang.max-running-requests = 9 }")
                        .config()
                        .maxRunningRequests())
                .isEqualTo(9);
    }

    /**
     * 12 of 24 layers of gpt-oss-20b have a window: full * 12 + 0.8 * full * 12 is what 24 layers have in one pool, so that full is
     * 24 / 21.6 of it.
     */
    @Test
    void hybridWindow_sharesOutTheMemoryOfAllLayers() {
        String hardware = "latency { model = roofline, llm = gpt-oss-20b, gpu = h100-sxm }\n";
        var hybrid = read(hardware).config().memory();
        var plain = read(hardware + "engine.sglang.disable-hybrid-swa-memory = true")
                .config()
                .memory();

        assertThat(plain.window()).isNull();
        assertThat(hybrid.window()).isEqualTo(new RadixConfig.Window(128, 0.8));
        assertThat(hybrid.maxTotalTokens()).isEqualTo((int) (plain.maxTotalTokens() / 0.9));
    }

    /** As in SGLang, whose list of models with two pools has no Gemma of these; five of six layers of Gemma 3 have a window. */
    @Test
    void windowOfOtherModels_hasAPoolOnlyIfAsked() {
        String gemma = "latency { llm = gemma-3-12b }, engine.sglang.max-total-tokens = 10000\n";

        assertThat(read(gemma).config().memory().window()).isNull();
        assertThat(read(gemma + "engine.sglang.disable-hybrid-swa-memory = false")
                        .config()
                        .memory()
                        .windowTokens())
                .isEqualTo(8000);
    }

    /**
     * 5 steps, 4 branches, 8 tokens, pages of 4: a verification takes max(floor((2 * 3 + 5) / 4) * 4 * 4, 8) = 32 places, and the
     * reserve is twice that. A request gets 1,000 - 4 - 1 - 64 - 4 = 927 tokens of a pool of 1,000.
     */
    @Test
    void drafts_haveTheirPlaces() {
        var spec = read("""
            engine.sglang {
              max-total-tokens = 1000, page-size = 4, enable-mixed-chunk = true, speculative-algorithm = eagle
              speculative-num-steps = 5, speculative-eagle-topk = 4, speculative-num-draft-tokens = 8, simulate-acc-len = 3
            }
            """);

        assertThat(spec.config().memory().eagleReserve()).isEqualTo(64);
        assertThat(spec.config().verification()).isEqualTo(new SglangConfig.Verification(5, 8));
        assertThat(spec.config().mixesChunks()).isFalse();
        assertThat(spec.kvCache().maxTokens()).isEqualTo(927);
    }

    /**
     * Llama-3.1-8B has 131,072 bytes of KV per token: 1 GB is room for 7,629 tokens, and the link has 64 GB/s one way and 96 both ways. Without
     * a size the host has 2.5 times the tokens of the GPU.
     */
    @Test
    void hostMemory_hasASizeAndABandwidth() {
        String settings =
                "kv-cache.tiers.host { bandwidth = 64, bandwidth-both-ways = 96 }, engine.sglang { enable-hierarchical-cache = true,"
                        + " max-total-tokens = 1000, hicache-ratio = 2.5, hicache-write-policy = write-back }\n";

        long gigabytes = 1_000_000_000;
        var link = new RadixConfig.HostLinkSpec(
                new PortGroup(LongList.of(64 * gigabytes, 64 * gigabytes), 96 * gigabytes), 131_072);
        assertThat(read(settings).config().memory().hierarchy())
                .isEqualTo(new RadixConfig.Hierarchy(2500, RadixConfig.WritePolicy.WRITE_BACK, 0, 0, link, null));
        assertThat(read(settings + "engine.sglang.hicache-size = 1")
                        .config()
                        .memory()
                        .hierarchy())
                .isEqualTo(new RadixConfig.Hierarchy(7629, RadixConfig.WritePolicy.WRITE_BACK, 0, 0, link, null));
    }

    /** SGLang's defaults are 256 tokens, a second, and a quarter of one for each 1024 tokens. */
    @Test
    void storage_isBehindTheHost() {
        String settings = "engine.sglang { enable-hierarchical-cache = true, hicache-storage-backend = ";
        assertThat(storage(settings + "hf3fs }"))
                .isEqualTo(new RadixConfig.Storage(
                        KvSource.STORE, RadixConfig.PrefetchPolicy.BEST_EFFORT, 256, 1_000_000_000, 250_000_000));
        assertThat(storage(settings + "file, prefetch-threshold = 64, hicache-storage-prefetch-policy = timeout,"
                        + " prefetch-timeout-base = 2s, prefetch-timeout-per-ki-token = 1ms }"))
                .isEqualTo(new RadixConfig.Storage(
                        KvSource.DISK, RadixConfig.PrefetchPolicy.TIMEOUT, 64, 2_000_000_000, 1_000_000));
        assertThat(read(settings + "none }").config().memory().hasStorage()).isFalse();
    }

    private static RadixConfig.@Nullable Storage storage(String settings) {
        return Objects.requireNonNull(read(settings).config().memory().hierarchy())
                .storage();
    }

    /** A pool of 100 tokens with pages of 4: a prompt of 50 leaves 100 - 52 - 4 - 1 = 43 output tokens. */
    @Test
    void answer_isCutToThePool() {
        var config =
                read("engine.sglang { max-total-tokens = 103, page-size = 4 }").config();

        assertThat(config.memory().maxTotalTokens()).isEqualTo(100);
        assertThat(config.maxNewTokens(1000, 50)).isEqualTo(43);
    }

    /**
     * Without a number of its own there are 512 states of 9,879,552 bytes on each of four GPUs: 36 layers x (8 x 128 x 128 + 3 x
     * 2048) elements x 2 bytes. 100 states less are 100 x 9,879,552 / 12,288 tokens more, of 12 layers x 1,024 bytes.
     */
    @Test
    void states_haveMemoryOfTheirOwn() {
        String hardware = "latency { llm = qwen3-next-80b-a3b, gpu = h100, tensor-parallel-size = 4 }";
        var spec = read(hardware);
        var fewer = read(hardware + ", engine.sglang.max-running-requests = 412");

        assertThat(spec.config().maxRunningRequests()).isEqualTo(512);
        assertThat(spec.room().stateBytes()).isEqualTo(512.0 * 9_879_552);
        assertThat(fewer.config().memory().maxTotalTokens()
                        - spec.config().memory().maxTotalTokens())
                .isCloseTo(80_400, within(1));
        assertThat(spec.config().memory().disableRadixCache()).isTrue();
    }

    /** 512 are of both ranks together: 256 of 36 layers x (16 x 128 x 128 + 3 x 4096) elements x 2 bytes on each of two GPUs. */
    @Test
    void ranksThatStepTogether_shareTheNumberOfStates() {
        var spec = read(
                "latency { llm = qwen3-next-80b-a3b, gpu = h200, tensor-parallel-size = 2, data-parallel-size = 2 },"
                        + " cluster.replicas = 2");

        assertThat(spec.room().stateBytes()).isEqualTo(256.0 * 19_759_104);
    }

    @Test
    void statesThatAreNotCached_areSaid() {
        assertThat(read("latency { llm = qwen3-next-80b-a3b, gpu = h200, tensor-parallel-size = 2 }")
                        .warnings())
                .singleElement()
                .asString()
                .startsWith("no prefixes are cached of qwen3-next-80b-a3b");
        assertThat(
                        read("latency { llm = qwen3-next-80b-a3b, gpu = h200, tensor-parallel-size = 2 }, engine.sglang.disable-radix-cache = true")
                                .warnings())
                .isEmpty();
        assertThat(read("latency.llm = llama-3.1-8b").warnings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "engine.sglang.schedule-policy = priority | Unknown schedule_policy: policy='priority'",
                "engine.sglang.schedule-polici = lpm | schedule-policy",
                "engine.watermark = 0.1 | engine.watermark is 0.1, which means nothing to engine.kind = sglang",
                "kv-cache.free-order = all-last | kv-cache.free-order is \"all-last\", which means nothing to",
                "kv-cache.gpu-memory-utilization = 0.5 | kv-cache.gpu-memory-utilization is 0.5, which means nothing",
                "engine.speculative.method = ngram | engine.speculative.method is \"ngram\", which means nothing",
                "engine.sglang.page-size = 0 | engine.sglang.page-size is 0, must be from 1 to 4096",
                "engine.sglang { page-size = 4, chunked-prefill-size = 3 } | less than a page (page-size = 4)",
                "latency.pipeline-parallel-size = 2 | which has no pipeline here",
                "latency.llm = gpt-oss-20b, engine.sglang.max-total-tokens = 160 | which leaves 128 of 160 tokens to layers",
                "engine.sglang.speculative-algorithm = ngram | must be one of none, eagle, eagle3",
                "engine.sglang.speculative-algorithm = eagle | engine.sglang.simulate-acc-len is \"none\"",
                "engine.sglang { speculative-algorithm = eagle, simulate-acc-len = 2, speculative-num-draft-tokens = 8 } |"
                        + " which is speculative-num-steps + 1",
                "latency.llm = gpt-oss-20b, engine.sglang { speculative-algorithm = eagle, simulate-acc-len = 2 } |"
                        + " set disable-hybrid-swa-memory = true",
                "engine.sglang { enable-hierarchical-cache = true, disable-radix-cache = true } | needs a prefix cache",
                "latency.llm = qwen3-next-80b-a3b, engine.sglang { enable-hierarchical-cache = true, max-total-tokens = 1000 } |"
                        + " which needs a prefix cache, of which states of linear attention are no part here",
                "latency.llm = gpt-oss-20b, engine.sglang.enable-hierarchical-cache = true | disable-hybrid-swa-memory = true",
                "engine.sglang.hicache-storage-backend = file | it needs enable-hierarchical-cache = true",
                "engine.sglang.hicache-storage-backend = s3 | none, file, mooncake, hf3fs, nixl, aibrix, dynamic, eic, simm",
                "engine.sglang { enable-hierarchical-cache = true, hicache-storage-backend = file }, kv-cache.tiers.store.gib = 1 |"
                        + " kv-cache.tiers.store.gib is 1, which means nothing to engine.kind = sglang",
                "kv-cache.tiers.host.gib = 8 | kv-cache.tiers.host.gib is 8, which means nothing to engine.kind = sglang",
                "latency { llm = deepseek-v3, gpu = h100-sxm, model = roofline } | engine.sglang.max-total-tokens is \"auto\", but",
                "latency { llm = deepseek-v3, gpu = h100-sxm, model = roofline } |"
                        + " raise latency.tensor-parallel-size or engine.sglang.mem-fraction-static",
                // 2,000 states of 23 MiB are 45 GiB beside weights of 93 GiB of 126; on four GPUs not even the weights
                // fit.
                "latency { llm = qwen3.5-397b-a17b, gpu = h200, tensor-parallel-size = 8 },"
                        + " engine.sglang.max-running-requests = 2000 | ; lower engine.sglang.max-running-requests, for each"
                        + " of which states are set aside, or raise latency.tensor-parallel-size or"
                        + " engine.sglang.mem-fraction-static",
                "latency { llm = qwen3.5-397b-a17b, gpu = h200, tensor-parallel-size = 4 } |"
                        + " KiB; raise latency.tensor-parallel-size or engine.sglang.mem-fraction-static",
                "engine.sglang.enable-dp-attention = true | which needs latency.data-parallel-size > 1",
                "latency { llm = qwen3-30b-a3b, data-parallel-size = 2 }, cluster.replicas = 2,"
                        + " engine.sglang.enable-dp-attention = false | makes ranks of 2 replicas",
                "latency { llm = qwen3-30b-a3b, data-parallel-size = 2 }, cluster.replicas = 2, engine.sglang { page-size = 4,"
                        + " chunked-prefill-size = 7 } | 3 tokens for each of 2 ranks, which is less than a page",
                "engine.sglang { enable-prefill-delayer = true, disable-overlap-schedule = true } |"
                        + " which needs disable-overlap-schedule = false",
                "engine.sglang.lora-paths = [a] | which needs enable-lora = true",
                "engine.sglang { enable-lora = true, lora-paths = [a, a] } | must be different names",
                "engine.sglang { enable-lora = true, speculative-algorithm = eagle, simulate-acc-len = 2 } | SGLang refuses",
                "workload.loras.count = 2 | engine.sglang.enable-lora = true with SGLang",
                "engine { kind = vllm, sglang.page-size = 16 } | engine.sglang.page-size is 16, which needs engine.kind = sglang",
            })
    void settingsThatCannotBe_areRefused(String settings, String problem) {
        assertThatThrownBy(() -> read(settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(problem);
    }
}

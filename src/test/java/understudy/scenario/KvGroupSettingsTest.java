package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.KvGroup;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.hybrid.HybridConfig;
import understudy.settings.ScenarioException;

/** KV cache groups that follow from a model, and those that a scenario says. */
final class KvGroupSettingsTest {
    private static final String WINDOW_AND_FULL =
            "[{ kind = sliding-window, sliding-window = 64, block-size = 32 }, { kind = full-attention }]";

    /**
     * Blocks are the bytes left by weights and reserve, over 16 tokens of as many layers as a group has: vLLM's memory //
     * page size // group size.
     *
     * <p>gpt-oss-120b: 18 layers with a window and 18 without, so 18 in a group; a layer's page is 16 * 2 * 8 heads * 64 * 2
     * bytes = 32 KiB, a block 18 * 32 = 576 KiB. H100: 0.92 * 79.2 = 72.86 GiB, less weights of 60.56 and a reserve of 1.45,
     * leaves 10.85 GiB; H200: 129.17 - 60.56 - 1.45 = 67.16 GiB. A request of all tokens takes a block of 16 in the group
     * without a window, and in the other at most (127 + 2 * 8,192) / 16, rounded up, and one: 1,033. H100: (19,759 - 1,033) *
     * 16 = 299,616.
     *
     * <p>Gemma-3-27B: 10 layers without a window, 52 with, so 10 in a group, and 52 / 10 rounded up = 6 groups with a window;
     * a page is 16 * 2 * 16 heads * 128 * 2 bytes = 128 KiB, a block 1,280 KiB. H100: 72.86 - 50.31 - 1.45 = 21.11 GiB; H200:
     * 77.41 GiB. A window takes at most (1,023 + 16,384) / 16, rounded up, and one: 1,089. H100: (17,289 - 6 * 1,089) * 16 =
     * 172,080.
     */
    @ParameterizedTest
    @CsvSource({
        "gpt-oss-120b, h100, 1, 19760, 299616",
        "gpt-oss-120b, h200, 1, 122258, 1939584",
        "gemma-3-27b, h100, 6, 17290, 172080",
        "gemma-3-27b, h200, 6, 63414, 910064"
    })
    void blocksOfModelsWithWindows_areCountedByGroup(
            String llm, String gpu, int numWindowGroups, int numBlocks, long maxTokens) {
        var memory = (HybridConfig) read(Map.of("latency.llm", llm, "latency.gpu", gpu));

        var groups = memory.groups().groups();
        assertThat(groups).hasSize(numWindowGroups + 1);
        assertThat(groups.subList(0, numWindowGroups)).allMatch(g -> g.kind() == KvGroup.Kind.SLIDING_WINDOW);
        assertThat(groups.get(numWindowGroups).kind()).isEqualTo(KvGroup.Kind.FULL_ATTENTION);
        assertThat(memory.numGpuBlocks()).isEqualTo(numBlocks);
        assertThat(memory.maxTokens()).isEqualTo(maxTokens);
    }

    /**
     * 262,144 tokens are 481.9 blocks of 544: one state is for 482 of them, in each of three groups with 12 layers, like the
     * one whose layers keep every token. Then a request of three blocks' tokens takes 3 + 3 * 1, and 3 + 3 * 2 where the state
     * before is kept, too.
     */
    @ParameterizedTest
    @CsvSource({"false, 262208, 6", "except-mamba, 262208, 6", "true, 544, 9"})
    void statesThatAreNotCached_areOneForEachSequence(String caches, int stateBlockSize, int numBlocks) {
        var memory = (HybridConfig) read(Map.of(
                "latency.llm", "qwen3-next-80b-a3b", "latency.gpu", "b200", "kv-cache.enable-prefix-caching", caches));

        var state = new KvGroup(KvGroup.Kind.MAMBA, stateBlockSize, 0);
        assertThat(memory.groups().groups())
                .containsExactly(state, state, state, new KvGroup(KvGroup.Kind.FULL_ATTENTION, 544, 0));
        assertThat(memory.blockSize()).isEqualTo(544);
        assertThat(memory.groups().maxBlocks(3 * 544, 262_144)).isEqualTo(numBlocks);
    }

    /** Then a block has all 36 layers of gpt-oss-120b, twice the bytes of a group's: half as many blocks. */
    @Test
    void disabledManager_keepsEverythingInOneGroup() {
        var memory = read(Map.of("latency.llm", "gpt-oss-120b", "engine.disable-hybrid-kv-cache-manager", "true"));

        assertThat(memory).isInstanceOf(ContentConfig.class);
        assertThat(memory.numGpuBlocks()).isEqualTo(19_760 / 2);
    }

    /** vLLM turns its hybrid manager off, too, where KV comes from elsewhere. */
    @ParameterizedTest
    @CsvSource({
        "kv-cache.cache-generated-blocks, false",
        "kv-cache.tiers.host.gib, 10",
        "kv-cache.promote-full-blocks, true",
        "engine.full-hit, decode-directly"
    })
    void settingForOneGroup_keepsEverythingInOne(String key, String value) {
        assertThat(read(Map.of("latency.llm", "gpt-oss-20b", key, value))).isInstanceOf(ContentConfig.class);
        assertThatThrownBy(() -> read(with(key, value)))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("kv-cache.groups is")
                .hasMessageContaining("which need engine.kind = vllm, no tiers");
    }

    /** Blocks of 32 and 16 tokens: hashes of 16, and with asynchronous scheduling two steps in flight. */
    @Test
    void groupsOfAScenario_areAsItSays() {
        var memory = (HybridConfig) read(with("kv-cache.prefix-cache-retention-interval", "all"));

        var groups = memory.groups();
        assertThat(groups.groups())
                .containsExactly(
                        new KvGroup(KvGroup.Kind.SLIDING_WINDOW, 32, 64),
                        new KvGroup(KvGroup.Kind.FULL_ATTENTION, 16, 0));
        assertThat(groups.retentionInterval()).isEqualTo(KvGroups.RETAIN_ALL);
        assertThat(groups.maxTokensInFlight()).isEqualTo(2 * 8192);
        assertThat(memory.blockSize()).isEqualTo(16);
    }

    @Test
    void unusableGroups_areNamed() {
        assertThatThrownBy(() -> read(Map.of("kv-cache.groups", WINDOW_AND_FULL)))
                .hasMessageContaining("with which kv-cache.num-gpu-blocks must be given");
        assertThatThrownBy(() -> read(with("kv-cache.groups", "[{ kind = sliding-window }]")))
                .hasMessageContaining("kv-cache.groups.0.sliding-window");
        assertThatThrownBy(() -> read(with("kv-cache.groups", "[{ window = 8 }]")))
                .hasMessageContaining("unknown key kv-cache.groups.0.window");
    }

    /** 4093 is prime: with 4096, a power of two, and 7 it has 4093 x 4096 x 7 = 117,354,496 in common. */
    @Test
    void blocksThatNeverEndTogether_areRefused() {
        assertThatThrownBy(() -> read(with(
                        "kv-cache.groups",
                        "[{ block-size = 4096 }, { block-size = 4093 }, { block-size = 7 }, { block-size = 7 }]")))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("kv-cache.groups is ")
                .hasMessageEndingWith(
                        "whose block sizes must have a common multiple of at most 100000000 tokens, at which"
                                + " all can end a prompt; they are [4096, 4093, 7]");
    }

    private static Map<String, String> with(String key, String value) {
        var settings = new TreeMap<>(Map.of("kv-cache.groups", WINDOW_AND_FULL, "kv-cache.num-gpu-blocks", "20000"));
        settings.put(key, value);
        return settings;
    }

    private static KvCacheSpec read(Map<String, String> settings) {
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load("conf/demo.conf", settings));
        return scenario.engine().kvCache();
    }
}

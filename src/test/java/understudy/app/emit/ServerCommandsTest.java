package understudy.app.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.app.sglang.SglangCommandLine;
import understudy.app.sglang.SglangProgram;
import understudy.app.vllm.VllmProgram;
import understudy.app.vllm.VllmSettings;
import understudy.scenario.ReplicaGroup;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;

/** Commands of scenarios, read by our own command lines. */
final class ServerCommandsTest {
    private static final ServerCommands SERVERS = new ServerCommands(List.of(new VllmProgram(), new SglangProgram()));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "conf/demo.conf",
                "conf/groups.conf",
                "conf/lora.conf",
                "conf/pd.conf",
                "conf/sglang.conf",
                "conf/speculation.conf",
                "conf/tiers.conf",
                "conf/published/gpt-oss-120b-h100.conf",
                "conf/published/glm-5.2-mtp.conf",
                "conf/validation/rtx-pro-6000-qwen3-30b-a3b-dp2-ep.conf",
                "conf/validation/closed-loop-sglang.conf"
            })
    void commandIsReadBack_toTheSameReplicas(String file) {
        var root = new ScenarioFile(Map.of()).load(file, Map.of());
        var groups = Scenario.read(root).groups();

        var commands = SERVERS.of(root);

        assertThat(commands).hasSameSizeAs(groups);
        for (int i = 0; i < groups.size(); i++) {
            var group = groups.get(i);
            var read = readBack(commands.get(i));
            assertThat(read.engine().traits()).isEqualTo(group.engine().traits());
            assertThat(read.engine().kvCache().numGpuBlocks())
                    .isEqualTo(group.engine().kvCache().numGpuBlocks());
            assertThat(read.engine().kvCache().maxModelLen())
                    .isEqualTo(group.engine().kvCache().maxModelLen());
            assertThat(read.deployment().model()).isEqualTo(group.deployment().model());
            assertThat(read.deployment().numGpus()).isEqualTo(group.deployment().numGpus());
            assertThat(read.deployment().gpuMemoryGib())
                    .isEqualTo(group.deployment().gpuMemoryGib());
            assertThat(read.latency().jitter()).isEqualTo(group.latency().jitter());
            assertThat(read.latency().apiDelay()).isEqualTo(group.latency().apiDelay());
            // No GPU more or less: a process has those of its ranks.
            assertThat(commands.get(i).numProcesses() * commands.get(i).numGpus())
                    .isEqualTo(group.numReplicas() * group.deployment().numGpus());
        }
    }

    private static ReplicaGroup readBack(ServerCommand command) {
        var words = new ArrayList<>(command.program().naming(command.model()));
        words.addAll(command.flags());
        var environment = command.allEnvironment();
        var scenario = command.program().kind().equals("vllm")
                ? VllmSettings.of(words, environment).start(VllmSettings.SCENARIO, environment, Map.of())
                : SglangCommandLine.of(words, environment).start(environment);
        return scenario.scenario().groups().get(0);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    engine.max-num-seqs = 64                         | --max-num-seqs=64
                    engine.performance-mode = throughput             | --performance-mode=throughput
                    engine.async-scheduling = false                  | --no-async-scheduling
                    engine.watermark = 0.01                          | --watermark=0.01
                    kv-cache.enable-prefix-caching = false           | --no-enable-prefix-caching
                    kv-cache.kv-cache-dtype = fp8                    | --kv-cache-dtype=fp8
                    latency.moe-backend = flashinfer_cutlass         | --moe-backend=flashinfer_cutlass
                    latency.tensor-parallel-size = 2                 | --tensor-parallel-size=2
                    latency.dtype = fp8                              | --quantization=fp8
                    engine.speculative.method = ngram                | --speculative-config={"method":"ngram","num_speculative_tokens":3}
                    engine.cudagraph-mode = full-decode-only         | --compilation-config={"cudagraph_mode":"FULL_DECODE_ONLY"}
                    engine.cudagraph-mode = none                     | --compilation-config={"cudagraph_mode":"NONE"}
                    engine.cudagraph-capture-sizes = [1,2,4]         | --compilation-config={"cudagraph_capture_sizes":[1,2,4]}
                    kv-cache.kv-events.enable-kv-cache-events = true | --kv-events-config={"enable_kv_cache_events":true}
                    """)
    void settingOfVllm_isAFlag(String setting, String flag) {
        var settings = new LinkedHashMap<String, String>();
        String key = key(setting);
        String value = value(setting);
        settings.put(key, value);
        if (value.equals("ngram")) {
            settings.put("engine.async-scheduling", "false");
            settings.put("engine.speculative.synthetic-acceptance-length", "1.5");
        }

        assertThat(only(settings).flags()).contains(flag);
    }

    /**
     * Models with states have no prefix cache by default before vLLM 0.28, and have one from then on; the flag makes all the
     * same. Other models always have one; the flag only says so where the default is said by kind of model.
     */
    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
                    qwen3-next-80b-a3b, 0.27,     -,            --no-enable-prefix-caching
                    qwen3-next-80b-a3b, 0.27,     true,         --enable-prefix-caching
                    qwen3-next-80b-a3b, recorded, -,            --enable-prefix-caching
                    qwen3-next-80b-a3b, recorded, false,        --no-enable-prefix-caching
                    qwen3-next-80b-a3b, recorded, except-mamba, --no-enable-prefix-caching
                    qwen3-next-80b-a3b, 0.28,     -,            --enable-prefix-caching
                    qwen3-next-80b-a3b, 0.30,     except-mamba, --no-enable-prefix-caching
                    qwen3-32b,          0.27,     -,            --enable-prefix-caching
                    qwen3-32b,          recorded, -,            -
                    qwen3-32b,          recorded, except-mamba, -
                    qwen3-32b,          0.30,     false,        --no-enable-prefix-caching
                    """)
    void prefixCaching_isThatOfTheScenario_inEachVersion(
            String llm, String version, @Nullable String caches, @Nullable String flag) {
        var settings = new LinkedHashMap<>(Map.of(
                "latency.llm",
                llm,
                "latency.gpu",
                "h200",
                "latency.tensor-parallel-size",
                "2",
                "engine.version",
                version));
        if (caches != null) {
            settings.put("kv-cache.enable-prefix-caching", caches);
        }

        var command = only(settings);

        var expected = new ArrayList<String>();
        if (flag != null) {
            expected.add(flag);
        }
        assertThat(command.flags())
                .filteredOn(word -> word.contains("prefix-caching"))
                .containsExactlyElementsOf(expected);
        assertThat(command.emulated()).doesNotContainKey("UNDERSTUDY_KV_CACHE_ENABLE_PREFIX_CACHING");
        assertThat(readBack(command).engine().kvCache().enablePrefixCaching())
                .isEqualTo(!"--no-enable-prefix-caching".equals(flag));
    }

    /** What the emulation of such an engine lacks is said beside the command of the real one. */
    @ParameterizedTest
    @CsvSource({"false, true", "true, false"})
    void sglangThatKeepsStatesForPrefixes_hasANote(boolean hasNoTree, boolean hasNote) {
        var command = only(Map.of(
                "engine.kind",
                "sglang",
                "engine.sglang.disable-radix-cache",
                String.valueOf(hasNoTree),
                "latency.llm",
                "qwen3-next-80b-a3b",
                "latency.gpu",
                "h200",
                "latency.tensor-parallel-size",
                "2"));

        assertThat(command.flags().contains("--disable-radix-cache")).isEqualTo(hasNoTree);
        assertThat(command.notes().stream().anyMatch(note -> note.startsWith("no prefixes are cached")))
                .isEqualTo(hasNote);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    engine.sglang.schedule-policy = lpm                     | --schedule-policy=lpm
                    engine.sglang.disable-overlap-schedule = true           | --disable-overlap-schedule
                    engine.sglang.hicache-write-policy = write-back         | --hicache-write-policy=write_back
                    latency.tensor-parallel-size = 4                        | --tp-size=4
                    """)
    void settingOfSglang_isAFlag(String setting, String flag) {
        var settings = new LinkedHashMap<>(Map.of("engine.kind", "sglang"));
        settings.put(key(setting), value(setting));
        if (setting.contains("hicache")) {
            settings.put("engine.sglang.enable-hierarchical-cache", "true");
        }

        assertThat(only(settings).flags()).contains(flag);
    }

    /** Two ranks of two GPUs each: SGLang counts all four. */
    @Test
    void ranksOfDpAttention_areCountedAsSglangDoes() {
        var command = only(Map.of(
                "engine.kind", "sglang",
                "latency.llm", "deepseek-v3",
                "latency.gpu", "b200",
                "latency.tensor-parallel-size", "4",
                "latency.data-parallel-size", "2",
                "cluster.replicas", "4"));

        assertThat(command.flags()).contains("--tp-size=8", "--dp-size=2", "--enable-dp-attention");
        assertThat(command.numGpus()).isEqualTo(8);
        assertThat(command.numProcesses()).isEqualTo(2);
    }

    /** An order of waiting requests that vLLM does not have. */
    @Test
    void settingWithoutFlag_isAVariableOfTheEmulation_andANote() {
        var command = only(Map.of("engine.preemption-victim", "first-admitted"));

        assertThat(command.flags()).isEmpty();
        assertThat(command.emulated()).containsEntry("UNDERSTUDY_ENGINE_PREEMPTION_VICTIM", "first-admitted");
        assertThat(command.notes())
                .containsExactly("engine.preemption-victim = first-admitted is no flag of 'vllm serve':"
                        + " what a real server has holds there");
    }

    /** The default of main is no flag, and its flag is one; without the version both differ. */
    @Test
    void version_isAVariable_andItsDefaultsAndFlagsAreThose() {
        var command = only(Map.of("engine.version", "main", "engine.max-num-active-seqs", "8"));

        assertThat(command.flags()).containsExactly("--max-num-active-seqs=8");
        assertThat(command.emulated())
                .containsEntry("UNDERSTUDY_ENGINE_VERSION", "main")
                .doesNotContainKey("UNDERSTUDY_ENGINE_CAP_LONE_PREFILLS");
        assertThat(command.notes()).isEmpty();

        var recorded = only(Map.of("engine.max-num-active-seqs", "8"));
        assertThat(recorded.flags()).isEmpty();
        assertThat(recorded.emulated()).containsEntry("UNDERSTUDY_ENGINE_MAX_NUM_ACTIVE_SEQS", "8");
    }

    @Test
    void checkpointInFourBits_isToBeNamed() {
        assertThat(only(Map.of("latency.dtype", "int4")).notes())
                .containsExactly("latency.dtype = int4: name a checkpoint in this format in place of the model's");
    }

    @Test
    void engineWithoutServer_isRefused() {
        assertThatThrownBy(() -> only(Map.of("engine.kind", "roseinfer", "latency.llm", "qwen3-0.6b")))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("engine.kind")
                .hasMessageContaining("must be one of vllm, sglang");
    }

    private static String key(String setting) {
        return setting.substring(0, setting.indexOf(" = "));
    }

    private static String value(String setting) {
        return setting.substring(setting.indexOf(" = ") + 3);
    }

    private static ServerCommand only(Map<String, String> settings) {
        return SERVERS.of(new ScenarioFile(Map.of()).load("conf/vllm.conf", settings))
                .get(0);
    }
}

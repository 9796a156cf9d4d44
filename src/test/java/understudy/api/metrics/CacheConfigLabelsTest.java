package understudy.api.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/** Labels of {@code vllm:cache_config_info}. */
final class CacheConfigLabelsTest {

    /** SGLang has no such setting; what comes to the same is its {@code mem-fraction-static}. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "engine.kind = vllm | 0.92",
                "engine.kind = sglang | 0.88",
                "engine { kind = sglang, sglang.mem-fraction-static = 0.7 } | 0.7"
            })
    void shareOfTheMemory_isThatOfTheEngine(String settings, String share) {
        assertThat(label("gpu_memory_utilization", "latency { llm = \"\", gpu = \"\", model = linear }\n" + settings))
                .isEqualTo(share);
    }

    /** Cached states end with blocks of 544 tokens; one that is not is for as many as the model has. */
    @ParameterizedTest
    @CsvSource({
        "qwen3-next-80b-a3b, true, 544, align",
        "qwen3-next-80b-a3b, false, 262144, none",
        "qwen3-32b, true, None, none"
    })
    void states_areSaid(String llm, String caches, String blockSize, String mode) {
        String settings = "latency { llm = " + llm + ", gpu = b200 }, kv-cache.enable-prefix-caching = " + caches;

        assertThat(label("mamba_block_size", settings)).isEqualTo(blockSize);
        assertThat(label("mamba_cache_mode", settings)).isEqualTo(mode);
    }

    /** As asked for, else as the model's file has it: only Qwen3.5's names a format, which is float32. */
    @ParameterizedTest
    @CsvSource({
        "qwen3-next-80b-a3b, auto, auto",
        "qwen3-next-80b-a3b, float32, float32",
        "qwen3-next-80b-a3b, float16, float16",
        "qwen3.5-397b-a17b, auto, float32",
        "qwen3.5-397b-a17b, bfloat16, bfloat16",
        "qwen3-32b, auto, auto"
    })
    void formatOfStates_isSaid(String llm, String asked, String said) {
        String settings = "latency { llm = " + llm + ", gpu = b200, tensor-parallel-size = 8 }"
                + ", kv-cache.mamba-ssm-cache-dtype = " + asked;

        assertThat(label("mamba_ssm_cache_dtype", settings)).isEqualTo(said);
    }

    private static String label(String name, String settings) {
        var engine = Scenario.read(new ScenarioFile(Map.of()).load(Section.of(settings)))
                .engine();
        return CacheConfigLabels.of(0, engine, "sha256")[
                List.of(CacheConfigLabels.NAMES).indexOf(name)];
    }
}

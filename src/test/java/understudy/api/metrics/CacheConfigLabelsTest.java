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
        var engine = Scenario.read(new ScenarioFile(Map.of())
                        .load(Section.of("latency { llm = \"\", gpu = \"\", model = linear }\n" + settings)))
                .engine();

        String[] labels = CacheConfigLabels.of(0, engine, "sha256");

        assertThat(labels[List.of(CacheConfigLabels.NAMES).indexOf("gpu_memory_utilization")])
                .isEqualTo(share);
    }
}

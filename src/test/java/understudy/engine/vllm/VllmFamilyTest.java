package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/** Settings of vLLM that follow from others. */
final class VllmFamilyTest {
    private static final String GPU = "latency { model = roofline, llm = llama-3.1-8b }, latency.gpu = ";

    /** As EngineArgs has it: twice what the GPU has by default, unless it is given. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    h100-sxm | balanced      | 1024 | 8192
                    h100-sxm | interactivity | 1024 | 8192
                    h100-sxm | throughput    | 2048 | 16384
                    l40s     | balanced      | 256  | 2048
                    l40s     | throughput    | 512  | 4096
                    """)
    void batchOfAGpu_goesByThePerformanceMode(String gpu, String mode, int maxNumSeqs, int maxNumBatchedTokens) {
        var scheduler = read(GPU + gpu + ", engine.performance-mode = " + mode).scheduler();

        assertThat(scheduler.maxNumSeqs()).isEqualTo(maxNumSeqs);
        assertThat(scheduler.maxNumBatchedTokens()).isEqualTo(maxNumBatchedTokens);
    }

    @Test
    void sizesThatAreGiven_areNotDoubled() {
        var scheduler = read(GPU + "h100-sxm, engine { performance-mode = throughput, max-num-seqs = 100 }")
                .scheduler();

        assertThat(scheduler.maxNumSeqs()).isEqualTo(100);
        assertThat(scheduler.maxNumBatchedTokens()).isEqualTo(16_384);
    }

    @Test
    void chunkOfALonePrompt_isTheBudget_unlessItIsCapped() {
        assertThat(read("engine.long-prefill-token-threshold = 400").traits().maxPrefillChunkTokens())
                .isEqualTo(400);
        assertThat(read("engine { long-prefill-token-threshold = 400, cap-lone-prefills = false }")
                        .traits()
                        .maxPrefillChunkTokens())
                .isEqualTo(8192);
        assertThat(read("engine { long-prefill-token-threshold = 400, long-prefill-token-threshold-adaptive = true }")
                        .scheduler()
                        .longPrefills())
                .isEqualTo(new LongPrefillCap(400, false, true));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    mamba          | true         | true
                    mamba          | except-mamba | false
                    mamba          | except_mamba | false
                    mamba          | false        | false
                    full-attention | except-mamba | true
                    """)
    void prefixesOfModelsWithStates_areCachedOnlyIfToldSo(String kind, String setting, boolean isCaching) {
        var spec = read("kv-cache { num-gpu-blocks = 100, groups = [{ kind = " + kind + " }, { kind = full-attention }]"
                + ", enable-prefix-caching = " + setting + " }, engine.max-model-len = 100");

        assertThat(spec.kvCache().enablePrefixCaching()).isEqualTo(isCaching);
    }

    private static VllmSpec read(String settings) {
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load(Section.of(settings)));
        return (VllmSpec) scenario.engine();
    }
}

package understudy.fidelity.cells;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.scenario.ScenarioFile;
import understudy.scenario.SpecFiles;

final class CellScenarioTest {
    private static final CellScenario SCENARIO =
            new CellScenario(new ScenarioFile(Map.of()), CellScenario.CLOSED_LOOP, Map.of());

    @Test
    void cell_isAClosedLoopOnItsModelAndGpus() {
        var config = SCENARIO.of(setup("openai/gpt-oss-120b", "h200_sxm", "nvfp4", 4, 1, 4, 1), "roofline");

        assertThat(config.text("latency.llm")).isEqualTo("gpt-oss-120b");
        assertThat(config.text("latency.gpu")).isEqualTo("h200");
        assertThat(config.text("latency.moe-backend")).isEqualTo("marlin");
        assertThat(config.text("latency.profiled.versions.engine")).isEqualTo("0.18.0");
        assertThat(config.text("latency.dtype")).isEqualTo("auto");
        assertThat(config.text("kv-cache.kv-cache-dtype")).isEqualTo("auto");
        assertThat(config.text("latency.tensor-parallel-size")).isEqualTo("4");
        assertThat(config.text("engine.max-num-seqs")).isEqualTo("16");
        assertThat(config.text("engine.max-num-batched-tokens")).isEqualTo("8192");
        assertThat(config.text("workload.requests")).isEqualTo("160");
        // 0.8 of 1024 and of 100.
        assertThat(config.text("workload.lengths.prompt.min")).isEqualTo("819");
        assertThat(config.text("workload.lengths.output.min")).isEqualTo("80");
    }

    @Test
    void cellOfSglang_hasTheLimitsOfItsScenario() {
        var sglang = new CellScenario(
                new ScenarioFile(Map.of()), "conf/validation/closed-loop-sglang.conf", Map.of("latency.gpu", "h200"));
        var config = sglang.of(setup("meta-llama/Llama-3.1-8B", "h200_sxm", "fp8", 1, 1, 1, 1), "roofline");

        assertThat(sglang.engineKind()).isEqualTo("sglang");
        assertThat(config.text("engine.max-num-seqs")).isEqualTo("auto");
        assertThat(config.text("latency.profiled.versions.engine")).isEmpty();
        // Scales for a KV cache in FP8 are taken by vLLM alone.
        assertThat(config.text("kv-cache.kv-cache-dtype")).isEqualTo("auto");
        assertThat(config.text("workload.max-concurrency")).isEqualTo("16");
    }

    /** Start commands of public measurements, where the scenario says nothing else. */
    @ParameterizedTest
    @CsvSource({
        "h200_sxm, deepseek-ai/DeepSeek-R1, 32768, 0.82, true, auto, auto, auto",
        "h200_sxm, Qwen/Qwen3.5-397B-A17B, 16384, 0.8, true, fp8, bfloat16, fp8-block",
        "h200_sxm, zhipuai/GLM-5, auto, 0.85, false, auto, auto, auto",
        "a100_sxm, deepseek-ai/DeepSeek-R1, auto, auto, false, auto, auto, auto",
        "b200_sxm, deepseek-ai/DeepSeek-R1, 32768, 0.82, true, fp8, auto, auto",
        "b200_sxm, Qwen/Qwen3.5-397B-A17B, 32768, 0.82, true, fp8, float32, fp8-block",
        "b200_sxm, zai-org/GLM-5-FP8, 32768, 0.85, true, fp8, auto, auto"
    })
    void cellOfSglang_isStartedAsItWas(
            String gpu,
            String model,
            String chunk,
            String share,
            String isOff,
            String kv,
            String states,
            String dtype) {
        var sglang = new CellScenario(
                new ScenarioFile(Map.of()), "conf/validation/closed-loop-sglang.conf", Map.of("latency.gpu", "h200"));
        var config = sglang.of(setup(model, gpu, "fp8 fp8_block", 8, 1, 8, 1), "roofline");

        assertThat(config.text("engine.sglang.chunked-prefill-size")).isEqualTo(chunk);
        assertThat(config.text("engine.sglang.mem-fraction-static")).isEqualTo(share);
        assertThat(config.text("engine.sglang.disable-radix-cache")).isEqualTo(isOff);
        assertThat(config.text("kv-cache.kv-cache-dtype")).isEqualTo(kv);
        assertThat(config.text("kv-cache.mamba-ssm-cache-dtype")).isEqualTo(states);
        assertThat(config.text("latency.dtype")).isEqualTo(dtype);
    }

    @ParameterizedTest
    @CsvSource({
        "meta-llama/Llama-3.1-70B, fp8, fp8, fp8",
        "nvidia/Llama-3.1-8B-Instruct-FP8, fp8, auto, fp8",
        "meta-llama/Llama-3.1-70B, fp16, auto, auto",
        "Qwen/Qwen3-32B-FP8, fp8_block, fp8-block, auto",
        "nvidia/Llama-3.3-70B-Instruct-FP4, nvfp4, nvfp4, fp8",
        "Qwen/Qwen3-32B-AWQ, int4_wo, int4, auto",
        "deepseek-ai/DeepSeek-V3, fp8_block, auto, auto",
        // The public measurements of it on Blackwell have an FP8 KV cache.
        "openai/gpt-oss-120b, w4a16_mxfp4, auto, fp8",
        "openai/gpt-oss-120b, nvfp4, auto, fp8",
        "moonshotai/Kimi-K2.5, int4_wo, auto, auto",
        "moonshotai/Kimi-K2.5, nvfp4, nvfp4, auto"
    })
    void formats_areThoseOfTheCheckpoint(String model, String weights, String dtype, String kvCacheDtype) {
        var config = SCENARIO.of(setup(model, "b200_sxm", weights, 1, 1, 1, 1), "roofline");

        assertThat(config.text("latency.dtype")).isEqualTo(dtype);
        assertThat(config.text("kv-cache.kv-cache-dtype")).isEqualTo(kvCacheDtype);
    }

    @ParameterizedTest
    @CsvSource({
        "meta-llama/Llama-3.1-70B, b200_sxm, full-decode-only, auto, 13ms",
        "meta-llama/Llama-3.1-70B, h200_sxm, full-and-piecewise, auto, 4ms",
        "openai/gpt-oss-120b, b200_sxm, full-and-piecewise, 2048, 13ms",
        "openai/gpt-oss-120b, h200_sxm, full-and-piecewise, 2048, 4ms",
        "openai/gpt-oss-120b, a100_sxm, full-and-piecewise, auto, 4ms",
        "moonshotai/Kimi-K2.5, b200_sxm, full-and-piecewise, auto, 13ms"
    })
    void servers_areThoseOfPublicMeasurements(String model, String gpu, String mode, String maxSize, String apiDelay) {
        var config = SCENARIO.of(setup(model, gpu, "nvfp4", 1, 1, 1, 1), "roofline");
        var engine = config.section("engine");

        assertThat(config.text("latency.api-delay")).isEqualTo(apiDelay);

        assertThat(engine.text("cudagraph-mode")).isEqualTo(mode);
        assertThat(engine.text("max-cudagraph-capture-size")).isEqualTo(maxSize);
    }

    /** Parts of 768 / 2 are three blocks of 128, of 768 / 4 one and a half: such experts stay whole. */
    @ParameterizedTest
    @CsvSource({
        "2, 1, 2, 1, {latency.tensor-parallel-size=2}",
        "4, 1, 4, 1, '{latency.tensor-parallel-size=4, latency.enable-expert-parallel=true}'",
        "2, 1, 1, 2, '{latency.tensor-parallel-size=2, latency.enable-expert-parallel=true}'",
        "1, 2, 1, 2, '{latency.tensor-parallel-size=1, latency.data-parallel-size=2, cluster.replicas=2, router.policy=least-outstanding, latency.enable-expert-parallel=true}'"
    })
    void gpus_shareTheWorkAsTheRowSays(int tp, int dp, int moeTp, int ep, String settings) {
        var setup = setup("Qwen/Qwen3-30B-A3B", "h100_sxm", "fp8_block", tp, dp, moeTp, ep);

        assertThat(CellScenario.parallelism(setup, SpecFiles.MODELS.find("qwen3-30b-a3b")))
                .hasToString(settings);
        assertThat(CellScenario.parallelism(setup, Optional.empty()).get("latency.enable-expert-parallel"))
                .isEqualTo(ep > 1 ? "true" : null);
    }

    private static MeasuredSetup setup(String model, String gpu, String weights, int tp, int dp, int moeTp, int ep) {
        return MeasuredSetupBuilder.builder()
                .model(model)
                .gpu(gpu)
                .version("0.18.0")
                .weights(weights)
                .expertWeights(weights)
                .kvCacheDtype("")
                .tensorParallelSize(tp)
                .dataParallelSize(dp)
                .moeTensorParallelSize(moeTp)
                .expertParallelSize(ep)
                .inputTokens(1024)
                .outputTokens(100)
                .concurrency(16)
                .build();
    }
}

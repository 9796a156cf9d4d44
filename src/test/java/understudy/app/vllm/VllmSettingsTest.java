package understudy.app.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.media.MediaKind;
import understudy.api.media.MediaProcessor;
import understudy.settings.Defaults;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;

final class VllmSettingsTest {
    private static final String SCENARIO = "conf/vllm.conf";

    private static VllmSettings of(String... words) {
        return VllmSettings.of(List.of(words), Map.of());
    }

    @ParameterizedTest
    @CsvSource({
        "meta-llama/Llama-3.1-8B-Instruct, llama-3.1-8b,",
        "Qwen/Qwen3-32B, qwen3-32b,",
        "/models/Qwen3-8B/, qwen3-8b,",
        "/root/hub/models--Qwen--Qwen2.5-7B-Instruct, qwen2.5-7b,",
        "models--Qwen--Qwen3-8B/snapshots/b968826d9c46/, qwen3-8b,",
        "deepseek-ai/DeepSeek-R1, deepseek-v3,",
        "Qwen/Qwen3.5-397B-A17B-FP8, qwen3.5-397b-a17b-fp8,",
        "deepseek-ai/DeepSeek-V3.2, deepseek-v3.2,",
        "zai-org/GLM-5-FP8, glm-5,",
        "RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic, llama-3.1-70b, fp8",
        "Qwen/Qwen2.5-72B-Instruct-AWQ, qwen2.5-72b, int4"
    })
    void knownModel_givesItsTiming(String model, String llm, String dtype) {
        var vllm = of(model);

        assertThat(vllm.settings()).containsEntry("latency.llm", llm).containsEntry("server.served-model-name", model);
        assertThat(vllm.settings().get("latency.dtype")).isEqualTo(dtype);
        assertThat(vllm.warnings()).isEmpty();
    }

    /** Kernels that no table has are a setting, too; what this version does not know has no effect. */
    @Test
    void kernelsOfExperts_areASetting() {
        var known = of("Qwen/Qwen3-8B", "--moe-backend", "flashinfer_trtllm");
        var unknown = of("Qwen/Qwen3-8B", "--moe-backend", "b12x");

        assertThat(known.settings()).containsEntry("latency.moe-backend", "flashinfer_trtllm");
        assertThat(known.warnings()).isEmpty();
        assertThat(unknown.settings()).doesNotContainKey("latency.moe-backend");
        assertThat(unknown.warnings()).containsExactly("--moe-backend b12x has no effect here");
    }

    /** What a model does follows from flags, or from its name where they say nothing. */
    @ParameterizedTest
    @CsvSource({
        "Qwen/Qwen3-8B,",
        "Qwen/Qwen3-8B --task generate,",
        "Qwen/Qwen3-8B --runner auto,",
        "BAAI/bge-m3 --runner generate,",
        "BAAI/bge-m3, embed",
        "BAAI/bge-m3 --task embed, embed",
        "intfloat/e5-mistral-7b-instruct --task embedding, embed",
        "Qwen/Qwen3-Embedding-8B, embed",
        "Qwen/Qwen3-8B --runner pooling, embed",
        "Qwen/Qwen3-8B --runner pooling --convert embed, embed",
        "Qwen/Qwen3-8B --convert classify, classify",
        "Skywork/Skywork-Reward-V2 --runner pooling, classify",
        "Qwen/Qwen3-8B --task score, score",
        "BAAI/bge-reranker-v2-m3 --task classify, score",
        "Qwen/Qwen3-Reranker-4B, score"
    })
    void flagsAndNames_makeAModelPool(String words, String task) {
        assertThat(of(words.split(" ")).settings().get("server.task")).isEqualTo(task);
    }

    @Test
    void graphs_areThoseOfTheCompilation() {
        String json = "{\"cudagraph_mode\": \"FULL_DECODE_ONLY\", \"cudagraph_capture_sizes\": [1, 8]}";

        assertThat(of("Qwen/Qwen3-8B", "--compilation-config", json).settings())
                .containsEntry("engine.cudagraph-mode", "full-decode-only")
                .containsEntry("engine.cudagraph-capture-sizes", "[1,8]");
        assertThat(of("Qwen/Qwen3-8B", "-cc.cudagraph_mode=PIECEWISE", "--max-cudagraph-capture-size", "2048")
                        .settings())
                .containsEntry("engine.cudagraph-mode", "piecewise")
                .containsEntry("engine.max-cudagraph-capture-size", "2048");
        assertThat(of("Qwen/Qwen3-8B", "--enforce-eager", "--compilation-config", json)
                        .settings())
                .containsEntry("engine.cudagraph-mode", "none");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --max-num-active-seqs 8                    | 0.30 | --max-num-active-seqs exists from vLLM main on
            --max-num-active-seqs=8                    |      | --max-num-active-seqs exists from vLLM main on
            --enable-scale-out                         | 0.29 | --enable-scale-out exists from vLLM 0.30 on
            --max_num_partial_prefills 2               | 0.28 | --max-num-partial-prefills is gone from vLLM 017e9f4448 (recorded) on
            --no-enable-mamba-fine-grained-prefix-cache | main | --enable-mamba-fine-grained-prefix-cache is \
                                                                 --enable-mamba-shared-prefix-checkpoint from vLLM 0.30 on
            --prefix-cache-retention-interval 16       | 0.27 | --prefix-cache-retention-interval exists from vLLM \
                                                                 017e9f4448 (recorded) on
            """)
    void flagOfAnotherVersion_endsTheStart(String flag, String version, String message) {
        var vllm = of(("Qwen/Qwen3-8B " + flag).split(" "));
        var environment = version == null ? Map.<String, String>of() : Map.of("UNDERSTUDY_ENGINE_VERSION", version);

        assertThatThrownBy(() -> vllm.start(SCENARIO, environment, Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessage(message.replaceAll(" +", " ") + "; engine.version is "
                        + (version == null ? "recorded" : version));
    }

    @ParameterizedTest
    @CsvSource({
        "--max-num-active-seqs 8, main",
        "--enable-scale-out, 0.30",
        "--max-num-partial-prefills 2, recorded",
        "--max-num-partial-prefills 2, 0.27"
    })
    void flagOfTheVersion_isTaken(String flag, String version) {
        var served =
                of(("Qwen/Qwen3-8B " + flag).split(" ")).start(SCENARIO, Map.of(), Map.of("engine.version", version));

        assertThat(served.scenario().maxModelLen()).isPositive();
    }

    /** By the variable of 0.29, or the flag that took its place. */
    @Test
    void endpointsForScaleOut_areAskedFor() {
        var variable = Map.of("VLLM_ENABLE_SCALE_OUT_ENDPOINTS", "1");

        assertThat(VllmSettings.of(List.of("Qwen/Qwen3-8B"), variable).settings())
                .containsEntry("server.absent-endpoints", "[]");
        assertThat(of("Qwen/Qwen3-8B", "--enable-scale-out").settings()).containsEntry("server.absent-endpoints", "[]");
        assertThat(of("Qwen/Qwen3-8B").settings()).doesNotContainKey("server.absent-endpoints");
    }

    @Test
    void mediaFlags_areTakenOver() {
        var vllm = of(
                "Qwen/Qwen2.5-VL-7B-Instruct",
                "--served-model-name",
                "vl",
                "--limit-mm-per-prompt",
                "{\"image\": 4, \"video\": {\"count\": 2, \"num_frames\": 8}}",
                "--mm-processor-kwargs.max_pixels",
                "1003520");

        var media =
                vllm.over(SCENARIO, Map.of(), Map.of()).server().read().model().media();

        assertThat(media.processor()).isEqualTo(MediaProcessor.QWEN2_VL);
        assertThat(media.limits())
                .containsEntry(MediaKind.IMAGE, 4)
                .containsEntry(MediaKind.VIDEO, 2)
                .containsEntry(MediaKind.AUDIO, 999);
        assertThat(media.pixels().max()).isEqualTo(1_003_520);
        assertThat(of("m", "--language-model-only").settings())
                .containsEntry("server.multimodal.limit-mm-per-prompt.image", "0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-O3", "-O=3", "-O 3", "--optimization-level 3"})
    void levelOfOptimization_isKnownInAllItsForms(String written) {
        var vllm = of(("Qwen/Qwen3-8B " + written).split(" "));

        assertThat(vllm.warnings()).containsExactly("--optimization-level has no effect here");
    }

    @Test
    void valueInJsonThatIsWrong_namesItsFlag() {
        var vllm = of("Qwen/Qwen3-8B", "--speculative-config", "{\"num_speculative_tokens\": \"x\"}");

        assertThatThrownBy(() -> vllm.over(SCENARIO, Map.of(), Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(
                        "--speculative-config: engine.speculative.num-speculative-tokens is \"x\", must be");
    }

    @Test
    void unknownModel_isServedUnderItsName_withAWarning() {
        var vllm = of("acme/rocket");

        assertThat(vllm.settings()).containsOnly(Map.entry("server.served-model-name", "acme/rocket"));
        assertThat(vllm.warnings())
                .singleElement()
                .asString()
                .startsWith("acme/rocket is not a known model: it is served under its name, with the timing of"
                        + " latency.llm;");
    }

    /**
     * Mixtures are compared by all weights and by those of a token; 17B-16E says only the latter. What a name of a bundled
     * model begins is that model.
     */
    @ParameterizedTest
    @CsvSource({
        "acme/rocket-9B, gemma-2-9b, auto",
        "acme/rocket-0.6b-it, qwen3-0.6b, auto",
        "acme/Rocket-E4B, qwen3-4b, auto",
        "acme/rocket-125m, opt-125m, auto",
        "acme/rocket-397B-A17B-FP8, qwen3-235b-a22b, fp8",
        "acme/rocket-30B-A3B-AWQ, qwen3-30b-a3b, int4",
        "acme/rocket-8x7B, mixtral-8x7b, auto",
        "amd/gpt-oss-120b-w-mxfp4-a-fp8, gpt-oss-120b, fp8",
        "acme/Qwen3-14B-Base-tuned, qwen3-14b, auto",
        "acme/phi-4-mini-3.8B, gemma-3-4b, auto",
        "meta-llama/Llama-4-Scout-17B-16E-Instruct, qwen3-235b-a22b, auto",
        "/models/rocket-70B-v2/, llama-3.1-70b, auto"
    })
    void unknownModel_hasTheTimingOfTheNearestOfItsSize(String model, String llm, String dtype) {
        var vllm = of(model);

        assertThat(vllm.settings()).containsEntry("latency.llm", llm).containsEntry("latency.dtype", dtype);
        assertThat(vllm.warnings())
                .singleElement()
                .asString()
                .contains("with the timing of " + llm + ", the nearest of its size; see 'understudy models'");
    }

    /** 16 GPUs cannot share the 40 heads of Qwen3 14B, but the 40 x 2 of Qwen2.5's 32B no more: 64 heads can. */
    @Test
    void nearestModel_canBeSharedByTheGpus() {
        assertThat(of("acme/rocket-14B", "-tp", "16")
                        .over(SCENARIO, Map.of(), Map.of())
                        .numReplicas())
                .isEqualTo(1);
    }

    /** Gemma 2 is made for 8192 tokens, which says nothing of other models of its size. */
    @Test
    void unknownModel_hasALongContext() {
        assertThat(of("acme/rocket-9B").over(SCENARIO, Map.of(), Map.of()).maxModelLen())
                .isEqualTo(131_072);
        assertThat(of("acme/rocket-9B", "--max-model-len", "4096")
                        .over(SCENARIO, Map.of(), Map.of())
                        .maxModelLen())
                .isEqualTo(4096);
    }

    @Test
    void environment_choosesTheTimingOfAnUnknownModel() {
        var given = Map.of("UNDERSTUDY_LATENCY_LLM", "qwen3-32b");

        assertThat(VllmSettings.of(List.of("acme/rocket-8B"), given).settings()).doesNotContainKey("latency.llm");
    }

    @Test
    void scenarioOfTheUser_keepsItsModel() {
        var words = List.of("--max-num-seqs", "64");

        assertThat(VllmSettings.of(words, Map.of()).settings()).containsEntry("latency.llm", "qwen3-0.6b");
        assertThat(VllmSettings.of(words, Map.of(), "conf/serve.conf").settings())
                .doesNotContainKey("latency.llm");
    }

    /** 671 GB of FP8 on 8 GPUs are 78 GiB each, of which 92 % of 79.2 GiB leave nothing, and 92 % of 140.4 GiB do. */
    @Test
    void modelThatDoesNotFit_takesTheSmallestGpuThatHoldsIt() {
        var served = of("deepseek-ai/DeepSeek-R1", "-tp", "8").start(SCENARIO, Map.of(), Map.of());

        assertThat(served.scenario().hardware()).isEqualTo("deepseek-v3 on 8 x h200");
        assertThat(served.warnings())
                .singleElement()
                .asString()
                .contains("deepseek-v3 does not fit on 8 x h100-sxm")
                .endsWith("emulating h200, the smallest type that holds it and is no slower; UNDERSTUDY_LATENCY_GPU"
                        + " chooses");
    }

    @Test
    void gpuOfTheUser_isKept_andTheMessageNamesFlags() {
        var given = Map.of("UNDERSTUDY_LATENCY_GPU", "h100-sxm");
        var vllm = VllmSettings.of(List.of("deepseek-ai/DeepSeek-R1", "-tp", "8"), given);

        assertThatThrownBy(() -> vllm.start(SCENARIO, given, Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("does not fit on 8 x h100-sxm")
                .hasMessageEndingWith("; raise --tensor-parallel-size (-tp) or --gpu-memory-utilization, lower"
                        + " --max-model-len, or choose a larger GPU by UNDERSTUDY_LATENCY_GPU");
    }

    @Test
    void methodOfSpeculationThatIsUnknown_countsAsAnother() {
        var vllm = of("Qwen/Qwen3-8B", "--speculative-config", "{\"method\": \"dspark\"}");

        assertThat(vllm.settings()).containsEntry("engine.speculative.method", "eagle3");
        assertThat(vllm.warnings())
                .contains("--speculative-config: the method dspark is not known here, and counts as eagle3");
        assertThat(vllm.over(SCENARIO, Map.of(), Map.of()).numReplicas()).isEqualTo(1);
    }

    @Test
    void shortFormsOfSpeculation_areItsKeys() {
        assertThat(of("m", "--spec-method", "mtp", "--spec-tokens", "2").settings())
                .containsEntry("engine.speculative.method", "mtp")
                .containsEntry("engine.speculative.num-speculative-tokens", "2");
    }

    @Test
    void serverFlags_areSettings() {
        assertThat(of("m", "--uds", "/tmp/v.sock", "--port", "8000").settings())
                .containsEntry("server.uds", "/tmp/v.sock")
                .containsEntry("server.host", "127.0.0.1")
                .containsEntry("server.port", "0");
        assertThat(of("m", "--root-path", "/llm", "--show-hidden-metrics-for-version", "0.6")
                        .settings())
                .containsEntry("server.root-path", "/llm")
                .containsEntry("server.metrics.legacy-names", "true");
        assertThat(of("m", "--headless").isHeadless()).isTrue();
        assertThat(of("m").isHeadless()).isFalse();
    }

    @Test
    void servedName_saysMoreThanAPath() {
        assertThat(of("/mnt/models", "--served-model-name", "prod", "Qwen/Qwen3-14B")
                        .settings())
                .containsEntry("latency.llm", "qwen3-14b")
                .containsEntry("server.served-model-name", "prod,Qwen/Qwen3-14B");
    }

    @Test
    void folderWithConfig_isRead(@TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("config.json"), """
            {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
             "intermediate_size": 128, "vocab_size": 1000, "max_position_embeddings": 1234}
            """);

        var scenario = of(directory.toString()).over(SCENARIO, Map.of(), Map.of());

        assertThat(scenario.maxModelLen()).isEqualTo(1234);
    }

    @Test
    void chatTemplate_isReadIfItIsThere(@TempDir Path directory) throws IOException {
        var file = Files.writeString(directory.resolve("x.jinja"), "{{ messages }}");
        String text = "{% for m in messages %}{{ m['content'] ~ \"x\" }}{% endfor %}";

        assertThat(of("m", "--chat-template", file.toString()).settings())
                .containsEntry("server.chat-template", file.toString());
        assertThat(of("m", "--chat-template", text)
                        .over(SCENARIO, Map.of(), Map.of())
                        .server()
                        .read()
                        .model()
                        .chatTemplate())
                .isNotNull();
        assertThat(of("m", "--chat-template", "examples/x.jinja").warnings())
                .contains("--chat-template examples/x.jinja has no effect here");
    }

    @Test
    void tokenizer_isThatOfTheFolder(@TempDir Path directory) throws IOException {
        var file = Files.writeString(directory.resolve("tokenizer.json"), "{}");
        String folder = directory.toString();

        assertThat(of(folder).settings()).containsEntry("server.tokenizer", folder);
        assertThat(of("m", "--tokenizer", file.toString()).settings())
                .containsEntry("server.tokenizer", file.toString());
        assertThat(of("m").settings()).doesNotContainKey("server.tokenizer");
        assertThat(of(folder, "--skip-tokenizer-init").settings()).doesNotContainKey("server.tokenizer");
        assertThat(of("m", "--tokenizer", "org/m").warnings()).contains("--tokenizer org/m has no effect here");
    }

    @ParameterizedTest
    @CsvSource({
        "--port 99999, --port: server.port is",
        "--tokenizer %s, --tokenizer: server.tokenizer is",
        "--tokenizer %s, (--skip-tokenizer-init goes on without it)"
    })
    void settingOfTheServerThatIsWrong_namesItsFlag(String words, String message, @TempDir Path directory)
            throws IOException {
        Files.writeString(directory.resolve("tokenizer.json"), "{}");
        var vllm = of(("m " + words.formatted(directory)).split(" "));
        var scenario = vllm.over(SCENARIO, Map.of(), Map.of());

        assertThatThrownBy(
                        () -> VllmSettings.namingFlags(() -> scenario.server().read()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({
        "m, true",
        "m --disable-uvicorn-access-log, false",
        "m --uvicorn-log-level warning, false",
        "m --uvicorn-log-level debug, true",
        "m --disable-access-log-for-endpoints /health, true"
    })
    void accessLog_isOnUnlessAFlagTurnsItOff(String words, boolean isOn) {
        var vllm = of(words.split(" "));
        var surface = vllm.over(SCENARIO, Map.of(), Map.of()).server().read().surface();

        assertThat(surface.hasAccessLog()).isEqualTo(isOn);
        assertThat(surface.unlogged().contains("/health")).isEqualTo(words.contains("/health"));
        assertThat(vllm.warnings()).noneMatch(warning -> warning.contains("log"));
    }

    @Test
    void docsAndDevelopmentMode_areThoseOfVllm() {
        var plain = of("m").over(SCENARIO, Map.of(), Map.of()).server().read().surface();
        var other = VllmSettings.of(
                        List.of("m", "--disable-fastapi-docs", "--tensor-parallel-size", "2"),
                        Map.of("VLLM_SERVER_DEV_MODE", "1"))
                .over(SCENARIO, Map.of(), Map.of())
                .server()
                .read()
                .surface();

        assertThat(plain.hasDocs()).isTrue();
        assertThat(plain.hasDevEndpoints()).isFalse();
        assertThat(other.hasDocs()).isFalse();
        assertThat(other.hasDevEndpoints()).isTrue();
        assertThat(other.numWorkers()).isEqualTo(2);
    }

    @Test
    void apiKey_comesFromTheEnvironment_unlessTheFlagSaysOtherwise() {
        var environment = Map.of("VLLM_API_KEY", "e");

        assertThat(VllmSettings.of(List.of("m"), environment).settings()).containsEntry("server.api-key", "e");
        assertThat(VllmSettings.of(List.of("m", "--api-key", "a", "b"), environment)
                        .settings())
                .containsEntry("server.api-key", "a");
    }

    @Test
    void eventsConfig_isWholeOrByKey() {
        var vllm = of(
                "m",
                "--kv-events-config={\"enable_kv_cache_events\": true, \"endpoint\": \"tcp://*:5556\"}",
                "--kv-events-config.topic",
                "kv@1");

        assertThat(vllm.settings())
                .containsEntry("kv-cache.kv-events.enable-kv-cache-events", "true")
                .containsEntry("kv-cache.kv-events.endpoint", "tcp://*:5556")
                .containsEntry("kv-cache.kv-events.topic", "kv@1");
    }

    @Test
    void speculation_needsAnAcceptance_whichIsAssumed() {
        String json = "{\"method\": \"deepseek_mtp\", \"num_speculative_tokens\": 2}";
        var given = Map.of("UNDERSTUDY_ENGINE_SPECULATIVE_SYNTHETIC_ACCEPTANCE_LENGTH", "2");
        var words = List.of("Qwen/Qwen3-8B", "--speculative_config", json);

        assertThat(of(words.toArray(String[]::new)).settings())
                .containsEntry("engine.speculative.method", "mtp")
                .containsEntry("engine.speculative.num-speculative-tokens", "2")
                .containsEntry("engine.speculative.synthetic-acceptance-length", "1.5");
        assertThat(VllmSettings.of(words, given).warnings()).isEmpty();
        assertThat(VllmSettings.of(words, given).over(SCENARIO, given, Map.of()).numReplicas())
                .isEqualTo(1);
    }

    @Test
    void adapters_areKnownByName() {
        assertThat(of("m", "--enable-lora", "--lora-modules", "sql=/a/b", "{\"name\": \"chat\", \"path\": \"/c\"}")
                        .settings())
                .containsEntry("engine.lora.enable", "true")
                .containsEntry("engine.lora.lora-modules", "[\"sql=/a/b\",\"chat=/c\"]");
    }

    @Test
    void dataParallelRanks_areReplicas() {
        var scenario = of("Qwen/Qwen3-30B-A3B", "-dp", "2", "-ep").over(SCENARIO, Map.of(), Map.of());

        assertThat(scenario.numReplicas()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--scheduling-policy lottery | '--scheduling-policy: engine.scheduling-policy is \"lottery\", must be"
                        + " one of'",
                "--tensor-parallel-size 3    | '--tensor-parallel-size: latency.tensor-parallel-size is \"3\", but the"
                        + " 32'",
                "--kv-events-config {        | --kv-events-config {: must be a JSON object",
                "--kv-events-config [1]      | --kv-events-config [1]: must be a JSON object",
                "--lora-modules {}           | --lora-modules {}: has no name"
            })
    void wrongValue_namesTheFlag(String line, String message) {
        assertThatThrownBy(() -> of(("Qwen/Qwen3-8B " + line).split(" ")).over(SCENARIO, Map.of(), Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void everySettingOfTheTable_isOne() {
        var keys = new KnownKeys(Defaults.SCENARIO).leaves();

        assertThat(VllmFlags.TABLE.flags().stream().flatMap(flag -> flag.setting().stream()))
                .isSubsetOf(keys);
    }

    @Test
    void othersReachTheServer_butNotItsAdmin() {
        var http = of("m").over(SCENARIO, Map.of(), Map.of()).server().read().http();

        assertThat(http.host()).isEqualTo("0.0.0.0");
        assertThat(http.port()).isEqualTo(8000);
        // No header can carry the end of a line.
        assertThat(http.adminToken()).isEqualTo("\n");
    }
}

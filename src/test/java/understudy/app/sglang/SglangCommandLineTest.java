package understudy.app.sglang;

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
import understudy.app.flags.Flag;
import understudy.engine.sglang.SglangSpec;
import understudy.routing.Role;
import understudy.settings.Defaults;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;

final class SglangCommandLineTest {
    private static SglangCommandLine of(String line) {
        return SglangCommandLine.of(List.of(line.split(" +")), Map.of());
    }

    /** Command lines of SGLang's documentation, of OME's runtimes, of LeaderWorkerSet's example and of public charts. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--model-path meta-llama/Meta-Llama-3-8B-Instruct --tp 2",
                "--model-path meta-llama/Llama-3.1-8B-Instruct --host 0.0.0.0 --port 30000 --mem-fraction-static=0.85",
                "--host=0.0.0.0 --port=8080 --model-path=Qwen/Qwen3-4B --served-model-name=qwen --tp-size=1 --mem-frac=0.9",
                "--model deepseek-ai/DeepSeek-R1 --cuda-graph-max-bs=8 --tp 8 --chunked-prefill-size=131072"
                        + " --num-continuous-decode-steps=4 --max-prefill-tokens=131072 --kv-cache-dtype fp8_e4m3"
                        + " --attention-backend aiter --disable-radix-cache --mem-fraction-static=0.9 --load-format dummy",
                "--model-path Qwen/Qwen3-1.7B --port 30000 --host 127.0.0.1 --context-length 16384 --page-size 16"
                        + " --mem-fraction-static 0.45 --chunked-prefill-size 8192 --enable-metrics --disable-radix-cache",
                "--model-path Qwen/Qwen2.5-7B-Instruct --grammar-backend outlines --enable-memory-saver"
                        + " --enable-mixed-chunk --max-running-requests 64",
                "--model-path Qwen/Qwen3.6-27B --trust-remote-code --tp 1 --tool-call-parser qwen3_coder"
                        + " --reasoning-parser qwen3",
                "Qwen/Qwen3-32B --tp-size 2"
            })
    void publicCommandLines_startAReplicaOfSglang(String line) {
        var served = of(line).start(Map.of());

        assertThat(served.scenario().engine()).isInstanceOf(SglangSpec.class);
        assertThat(served.scenario().numReplicas()).isEqualTo(1);
    }

    /** The flags of a storage are settings, its times in seconds; the other keys are for a backend that is not here. */
    @Test
    void storage_isASetting() {
        var given = of(
                "--model-path Qwen/Qwen3-8B --enable-hierarchical-cache --hicache-storage-backend mooncake"
                        + " --hicache-storage-prefetch-policy wait_complete --hicache-storage-backend-extra-config"
                        + " {\"prefetch_threshold\":64,\"prefetch_timeout_base\":0.5,\"prefetch_timeout_per_ki_token\":2,\"tp_lcm_size\":4}");

        assertThat(given.settings())
                .containsEntry("engine.sglang.hicache-storage-backend", "mooncake")
                .containsEntry("engine.sglang.hicache-storage-prefetch-policy", "wait-complete")
                .containsEntry("engine.sglang.prefetch-threshold", "64")
                .containsEntry("engine.sglang.prefetch-timeout-base", "0.5s")
                .containsEntry("engine.sglang.prefetch-timeout-per-ki-token", "2s");
        assertThat(given.warnings()).isEmpty();
        assertThat(given.start(Map.of()).scenario().numReplicas()).isEqualTo(1);
    }

    @Test
    void storageWithoutHiCache_hasNoEffect() {
        var given = of("--model-path Qwen/Qwen3-8B --hicache-storage-backend file");

        assertThat(given.settings()).doesNotContainKey("engine.sglang.hicache-storage-backend");
        assertThat(given.warnings())
                .containsExactly("--hicache-storage-backend has no effect without --enable-hierarchical-cache");
    }

    @Test
    void flags_areSettings() {
        var given = of("--model-path Qwen/Qwen3-8B --schedule-policy lpm --page-size 16 --enable-mixed-chunk --dp 4"
                + " --load-balance-method total_requests --hicache-write-policy write_back --enable-hierarchical-cache"
                + " --context-length 8192 --kv-cache-dtype bf16 --log-level warning");

        assertThat(given.settings())
                .containsEntry("engine.sglang.schedule-policy", "lpm")
                .containsEntry("engine.sglang.page-size", "16")
                .containsEntry("engine.sglang.enable-mixed-chunk", "true")
                .containsEntry("engine.sglang.hicache-write-policy", "write-back")
                .containsEntry("engine.max-model-len", "8192")
                .containsEntry("kv-cache.kv-cache-dtype", "bf16")
                .containsEntry("cluster.replicas", "4")
                .containsEntry("router.policy", "least-outstanding")
                .containsEntry("latency.llm", "qwen3-8b")
                .containsEntry("server.served-model-name", "Qwen/Qwen3-8B")
                .containsEntry("server.access-log", "false");
        assertThat(given.warnings()).isEmpty();
        var scenario = given.start(Map.of()).scenario();
        assertThat(scenario.numReplicas()).isEqualTo(4);
        assertThat(scenario.maxModelLen()).isEqualTo(8192);
        assertThat(scenario.blockSize()).isEqualTo(16);
    }

    /** The lines of SGLang's {@code docs/advanced_features/pd_disaggregation.md}. */
    @Test
    void modeOfDisaggregation_isARole() {
        var prefill = of("--model-path meta-llama/Llama-3.1-8B-Instruct --disaggregation-mode prefill --port 30000"
                + " --disaggregation-ib-device mlx5_roce0 --disaggregation-bootstrap-port 9001 --dp-size 2");
        var decode = SglangCommandLine.of(
                List.of(
                        "--model-path",
                        "meta-llama/Llama-3.1-8B-Instruct",
                        "--disaggregation-mode=decode",
                        "--num-reserved-decode-tokens=256"),
                Map.of("SGLANG_DISAGGREGATION_WAITING_TIMEOUT", "600"));

        assertThat(prefill.settings())
                .containsEntry("server.side-channel-port", "9001")
                .containsEntry("kv-cache.transfer.kv-connector", "bootstrap")
                .doesNotContainKey("cluster.replicas");
        assertThat(prefill.start(Map.of()).scenario().numReplicas()).isEqualTo(2);
        assertThat(prefill.start(Map.of()).scenario().groups().get(0).role()).isEqualTo(Role.PREFILL);
        assertThat(decode.settings())
                .containsEntry("server.side-channel-port", "8998")
                .containsEntry("kv-cache.transfer.waiting-timeout", "600s")
                .containsEntry("engine.sglang.num-reserved-decode-tokens", "256");
        assertThat(decode.start(Map.of()).scenario().groups().get(0).role()).isEqualTo(Role.DECODE);
    }

    /** What an engine with a role does not have here is left out, with a line, as a manifest is to start. */
    @Test
    void whatRolesDoNotHave_isLeftOut() {
        var given = of("deepseek-ai/DeepSeek-V3 --disaggregation-mode decode --tp 8 --dp 8 --enable-dp-attention"
                + " --speculative-algorithm EAGLE --speculative-num-steps 2 --speculative-eagle-topk 1"
                + " --enable-hierarchical-cache");

        assertThat(given.start(Map.of()).scenario().groups().get(0).role()).isEqualTo(Role.DECODE);
        assertThat(given.warnings())
                .contains("--speculative-algorithm has no effect here with --disaggregation-mode")
                .contains("--enable-hierarchical-cache has no effect here with --disaggregation-mode");
    }

    /** Sixteen GPUs in eight ranks: each has two for its attention. */
    @Test
    void dpAttention_dividesTheGpusAmongRanks() {
        var given = of("deepseek-ai/DeepSeek-R1-0528 --tp 16 --dp 8 --enable-dp-attention --enable-prefill-delayer");

        assertThat(given.settings())
                .containsEntry("cluster.replicas", "8")
                .containsEntry("latency.data-parallel-size", "8")
                .containsEntry("engine.sglang.enable-prefill-delayer", "true")
                .containsEntry("latency.tensor-parallel-size", "2");
        assertThat(given.warnings()).isEmpty();
        assertThat(given.start(Map.of("UNDERSTUDY_LATENCY_GPU", "h200"))
                        .scenario()
                        .numReplicas())
                .isEqualTo(8);
    }

    @Test
    void adapters_haveNamesOrPaths() {
        var given = SglangCommandLine.of(
                List.of(
                        "Qwen/Qwen3-8B",
                        "--lora-paths",
                        "a=/adapters/a",
                        "/adapters/b",
                        "{\"lora_name\": \"c\", \"lora_path\": \"/adapters/c\"}",
                        "--max-loras-per-batch",
                        "4"),
                Map.of());

        assertThat(given.settings())
                .containsEntry("engine.sglang.enable-lora", "true")
                .containsEntry("engine.sglang.max-loras-per-batch", "4")
                .containsEntry(
                        "engine.sglang.lora-paths",
                        "[\"a=/adapters/a\",\"/adapters/b=/adapters/b\",\"c=/adapters/c\"]");
        assertThat(given.start(Map.of()).scenario().numReplicas()).isEqualTo(1);
    }

    @Test
    void serverListensWhereSglangDoes() {
        var http = of("--model-path Qwen/Qwen3-8B")
                .start(Map.of())
                .scenario()
                .server()
                .read()
                .http();

        assertThat(http.host()).isEqualTo("127.0.0.1");
        assertThat(http.port()).isEqualTo(30000);
    }

    @Test
    void variablesOfSglang_areHeeded() {
        var given = SglangCommandLine.of(
                List.of("--model-path", "Qwen/Qwen3-8B", "--speculative-algorithm", "NEXTN"),
                Map.of(
                        "SGLANG_INIT_NEW_TOKEN_RATIO", "0.5",
                        "SGLANG_REQ_WAITING_TIMEOUT", "30",
                        "SGLANG_SIMULATE_ACC_LEN", "2.5"));

        assertThat(given.settings())
                .containsEntry("engine.sglang.init-new-token-ratio", "0.5")
                .containsEntry("engine.sglang.req-waiting-timeout", "30s")
                .containsEntry("engine.sglang.speculative-algorithm", "eagle")
                .containsEntry("engine.sglang.simulate-acc-len", "2.5");
        assertThat(given.warnings()).isEmpty();
        assertThat(given.start(Map.of()).warnings()).isEmpty();
    }

    @Test
    void kvEvents_arePublishedAsSglangWritesThem() {
        var given = SglangCommandLine.of(
                List.of(
                        "Qwen/Qwen3-8B",
                        "--kv-events-config",
                        "{\"publisher\": \"zmq\", \"topic\": \"kv\", \"endpoint\": \"tcp://*:5557\"}"),
                Map.of());

        assertThat(given.settings())
                .containsEntry("kv-cache.kv-events.enable-kv-cache-events", "true")
                .containsEntry("kv-cache.kv-events.format", "array")
                .containsEntry("kv-cache.kv-events.endpoint", "tcp://*:5557")
                .containsEntry("kv-cache.kv-events.topic", "kv");
    }

    @Test
    void configFile_isWeakerThanTheLine(@TempDir Path directory) throws IOException {
        var file = directory.resolve("config.yaml");
        Files.writeString(file, """
                model-path: Qwen/Qwen3-8B
                port: 31000
                tensor-parallel-size: 2
                enable-metrics: true
                disable-radix-cache: false
                enable-mixed-chunk: true
                """);

        var given = of("--config " + file + " --port 32000");

        assertThat(given.settings())
                .containsEntry("server.port", "32000")
                .containsEntry("latency.tensor-parallel-size", "2")
                .containsEntry("engine.sglang.enable-mixed-chunk", "true")
                .doesNotContainKey("engine.sglang.disable-radix-cache");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "--port 1                            | launch_server.py: error: the following arguments are required:"
                        + " --model-path/--model",
                "m --max-model-len 8                 | launch_server.py: error: unrecognized arguments: --max-model-len 8",
                "m --tp_size 2                       | launch_server.py: error: unrecognized arguments: --tp_size 2",
                "m --pp 2                            | launch_server.py: error: ambiguous option: --pp could match",
                "m --enable-mixed-chunk=true         | launch_server.py: error: argument --enable-mixed-chunk: ignored"
                        + " explicit argument 'true'",
                "m --port                            | --port needs a value",
                "m --dtype int3                      | launch_server.py: error: argument --dtype: invalid choice: 'int3'",
                "m --tp 8 --dp 3 --enable-dp-attention | --dp-size 3: must divide --tp-size 8 with --enable-dp-attention",
                "Qwen/Qwen3-8B --page-size 0         | --page-size: engine.sglang.page-size is \"0\"",
                "Qwen/Qwen3-8B --schedule-policy x   | --schedule-policy: engine.sglang.schedule-policy is \"x\"",
                "Qwen/Qwen3-8B --tp 3                | --tp-size: latency.tensor-parallel-size is \"3\", but the 32",
                "Qwen/Qwen3-8B --mem-fraction-static 2 | --mem-fraction-static: engine.sglang.mem-fraction-static"
            })
    void wrongLines_endWithOneClearLine(String line, String message) {
        assertThatThrownBy(() -> of(line).start(Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(message);
    }

    /** 20,000 states of 23 MiB are more than any GPU has. */
    @Test
    void modelThatDoesNotFit_namesFlagsThatHelp() {
        assertThatThrownBy(() -> of("Qwen/Qwen3.5-397B-A17B --tp 8 --max-running-requests 20000")
                        .start(Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageEndingWith(
                        "; raise --tp-size or --mem-fraction-static, lower --max-running-requests if it has"
                                + " states, or choose a larger GPU by UNDERSTUDY_LATENCY_GPU");
    }

    @Test
    void flagsWithoutEffect_areNamed() {
        assertThat(of("Qwen/Qwen3-8B --attention-backend fa3 --load-balance-method total_tokens --quantization gguf")
                        .warnings())
                .containsExactly(
                        "--attention-backend has no effect here",
                        "--load-balance-method total_tokens has no effect here",
                        "--quantization gguf has no effect here");
    }

    @Test
    void workersOfOtherNodes_serveNothing() {
        assertThat(of("Qwen/Qwen3-8B --nnodes 2 --node-rank 1").isWorker()).isTrue();
        assertThat(of("Qwen/Qwen3-8B --nnodes 2 --node-rank 0").isWorker()).isFalse();
    }

    @Test
    void everySettingOfTheTable_isOne() {
        var keys = new KnownKeys(Defaults.SCENARIO).leaves();

        assertThat(SglangFlags.TABLE.flags().stream().flatMap(flag -> flag.setting().stream()))
                .isSubsetOf(keys);
        assertThat(SglangFlags.TABLE.flags()).extracting(Flag::name).doesNotHaveDuplicates();
    }
}

package understudy.app.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.api.EmulationServer;
import understudy.scenario.Scenario;

/**
 * Command lines of public manifests, as they stand there but for variables, which have the values that the manifests give
 * them; each starts a server that answers.
 */
final class PublicManifestsTest {
    /** What a test changes: the address, and what takes time. */
    private static final Map<String, String> OF_THE_TEST = Map.of(
            "server.host", "127.0.0.1",
            "server.port", "0",
            "server.side-channel-port", "0",
            "server.warm-up-requests", "0",
            "clock.speed", "max");

    /**
     * A command line.
     *
     * @param source repository and file
     * @param line words behind {@code vllm serve} or {@code python3 -m vllm.entrypoints.openai.api_server}
     * @param model the name that answers carry
     */
    record Manifest(String source, String line, String model, Map<String, String> more) {
        Manifest(String source, String line, String model) {
            this(source, line, model, Map.of());
        }

        @Override
        public String toString() {
            return source;
        }
    }

    static Stream<Manifest> manifests() {
        return Stream.of(
                new Manifest(
                        "llm-d/llm-d guides/precise-prefix-cache-aware/modelserver/nvidia-gpu/vllm/patch-vllm.yaml",
                        "Qwen/Qwen3-32B --disable-access-log-for-endpoints=/health,/metrics,/v1/models"
                                + " --tensor-parallel-size=2 --block-size=64 --kv-events-config"
                                + " '{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:5557\","
                                + "\"topic\":\"kv@10.0.0.1:8000@Qwen/Qwen3-32B\"}'",
                        "Qwen/Qwen3-32B",
                        Map.of("kv-cache.kv-events.endpoint", "tcp://127.0.0.1:*")),
                new Manifest(
                        "llm-d/llm-d guides/pd-disaggregation/modelserver/gpu/vllm/base/patch-decode.yaml",
                        "openai/gpt-oss-120b --disable-access-log-for-endpoints=/health,/metrics,/v1/models"
                                + " --tensor-parallel-size=4 --block-size=128 --kv-transfer-config"
                                + " '{\"kv_connector\":\"NixlConnector\", \"kv_role\":\"kv_both\"}'"
                                + " --no-disable-hybrid-kv-cache-manager --port=8200 --shutdown-timeout=60",
                        "openai/gpt-oss-120b"),
                new Manifest(
                        "llm-d/llm-d guides/wide-ep-lws/modelserver/gpu/vllm/base/decode.yaml",
                        "deepseek-ai/DeepSeek-R1-0528 --port 8200 --gpu-memory-utilization 0.9 --trust-remote-code"
                                + " --api-server-count 1 --disable-access-log-for-endpoints=/health,/metrics"
                                + " --data-parallel-hybrid-lb --enable-expert-parallel --tensor-parallel-size 1"
                                + " --max-num-batched-tokens 256 --max-num-seqs 256 --data-parallel-size 16"
                                + " --data-parallel-size-local 8 --data-parallel-address 10.0.0.1"
                                + " --data-parallel-rpc-port 5555 --data-parallel-start-rank 0"
                                + " --kv_transfer_config '{\"kv_connector\":\"NixlConnector\",\n \"kv_role\":\"kv_both\",\n"
                                + " \"kv_load_failure_policy\":\"fail\"}' --enable-dbo --dbo-decode-token-threshold 32"
                                + " --enable-eplb --eplb-config '{\"window_size\":\"1000\",\n \"step_interval\":\"3000\",\n"
                                + " \"num_redundant_experts\":\"32\",\n \"log_balancedness\":\"False\"}'"
                                + " --all2all-backend deepep_low_latency --moe-backend deep_gemm --kv-cache-memory-bytes=",
                        "deepseek-ai/DeepSeek-R1-0528"),
                new Manifest(
                        "llm-d/llm-d guides/agentic-serving/modelserver/gpu/vllm/nemotron-3-super/patch-vllm.yaml",
                        "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8"
                                + " --disable-access-log-for-endpoints=/health,/metrics,/v1/models"
                                + " --tensor-parallel-size=4 --max-model-len=262144 --max-num-seqs=128"
                                + " --enable-chunked-prefill --enable-auto-tool-choice --tool-call-parser=qwen3_coder"
                                + " --reasoning-parser=nemotron_v3 --kv-cache-dtype=fp8 --trust-remote-code --seed=42",
                        "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8"),
                new Manifest(
                        "llm-d-incubation/llm-d-modelservice examples/output-pd.yaml",
                        "facebook/opt-125m --port 8200 --served-model-name facebook/opt-125m --enforce-eager"
                                + " --kv-transfer-config '{\"kv_connector\":\"NixlConnector\", \"kv_role\":\"kv_both\"}'",
                        "facebook/opt-125m"),
                new Manifest(
                        "kubernetes-sigs/gateway-api-inference-extension config/manifests/vllm/gpu-deployment.yaml",
                        "--model Qwen/Qwen3-32B --tensor-parallel-size 1 --port 8000 --max-num-seq 1024 --enable-lora"
                                + " --max-loras 2 --max-lora-rank 8 --max-cpu-loras 12",
                        "Qwen/Qwen3-32B"),
                new Manifest(
                        "kubernetes-sigs/gateway-api-inference-extension config/manifests/vllm/cpu-deployment.yaml",
                        "--model Qwen/Qwen2.5-1.5B-Instruct --port 8000 --enable-lora --max-loras 4 --lora-modules"
                                + " '{\"name\": \"tweet-summary-0\", \"path\":"
                                + " \"/adapters/ai-blond/Qwen-Qwen2.5-Coder-1.5B-Instruct-lora_0\"}'"
                                + " '{\"name\": \"tweet-summary-1\", \"path\":"
                                + " \"/adapters/ai-blond/Qwen-Qwen2.5-Coder-1.5B-Instruct-lora_1\"}'",
                        "Qwen/Qwen2.5-1.5B-Instruct"),
                new Manifest(
                        "vllm-project/aibrix samples/disaggregation/vllm/1p1d.yaml",
                        "--host \"0.0.0.0\" --port \"8000\" --uvicorn-log-level warning --model /models/Qwen3-8B"
                                + " --served-model-name qwen3-8B"
                                + " --kv-transfer-config '{\"kv_connector\":\"NixlConnector\",\"kv_role\":\"kv_both\"}'",
                        "qwen3-8B"),
                new Manifest(
                        "vllm-project/aibrix samples/adapter/base-api-key.yaml",
                        "--host 0.0.0.0 --port 8000 --uvicorn-log-level warning --model Qwen/Qwen2.5-Coder-1.5B-Instruct"
                                + " --served-model-name qwen-coder-1-5b-instruct --api-key sk-fake --enable-lora",
                        "qwen-coder-1-5b-instruct"),
                new Manifest(
                        "vllm-project/aibrix samples/heterogeneous/deepseek-coder-7b-l20-deployment.yaml",
                        "--host 0.0.0.0 --port 8000 --uvicorn-log-level warning --model"
                                + " /models/deepseek-coder-6.7b-instruct --served-model-name deepseek-coder-7b"
                                + " --trust-remote-code --max-model-len 15000 --api-key sk-fake",
                        "deepseek-coder-7b"),
                new Manifest(
                        "vllm-project/aibrix samples/deepseek-r1/deepseek-r1-huggingface.yaml",
                        "deepseek-ai/DeepSeek-R1 --served-model-name deepseek-r1-671b --tensor-parallel-size 16"
                                + " --distributed-executor-backend ray --uvicorn-log-level warning",
                        "deepseek-r1-671b"),
                new Manifest(
                        "vllm-project/aibrix samples/kvcache/l1cache/vllm.yaml",
                        "--port 8000 --uvicorn-log-level warning --model /models/DeepSeek-R1-Distill-Llama-8B/"
                                + " --trust-remote-code --served-model-name deepseek-r1-distill-llama-8b --max-model-len"
                                + " 32000 --disable-log-requests --disable-fastapi-docs --swap-space 0 --api-key sk-fake"
                                + " --no-enable-chunked-prefill --kv-transfer-config"
                                + " '{\"kv_connector\":\"AIBrixOffloadingConnectorV1Type3\", \"kv_role\":\"kv_both\"}'",
                        "deepseek-r1-distill-llama-8b"),
                new Manifest(
                        "kserve/kserve config/llmisvcconfig/config-llm-template.yaml",
                        "/mnt/models --served-model-name Qwen/Qwen2.5-7B-Instruct --port 8000",
                        "Qwen/Qwen2.5-7B-Instruct"),
                new Manifest(
                        "vllm-project/production-stack examples/disaggregated_prefill_orchestrated/prefill-deploy.yaml",
                        "--host 0.0.0.0 --port 8000 --model /var/mdl/llama --served-model-name llama --max-model-len 512",
                        "llama"));
    }

    @ParameterizedTest
    @MethodSource("manifests")
    void commandLine_startsAServerThatAnswers(Manifest manifest) throws Exception {
        var vllm = VllmSettings.of(VllmWords.split(manifest.line()), Map.of());
        var stronger = new HashMap<>(OF_THE_TEST);
        stronger.putAll(manifest.more());
        var scenario = vllm.over("conf/vllm.conf", Map.of(), stronger);

        assertThat(vllm.warnings()).noneMatch(warning -> warning.contains("unknown"));
        try (var server = serve(scenario)) {
            assertThat(complete(server, vllm.settings().getOrDefault("server.api-key", "")))
                    .contains("\"model\":\"" + manifest.model() + '"')
                    .contains("\"completion_tokens\":3");
        }
    }

    private static EmulationServer serve(Scenario scenario) {
        return EmulationServer.start(
                scenario.clusterSpec(null, false),
                scenario.speed(),
                scenario.server().read(),
                scenario.kvEvents(),
                null,
                api -> List.of());
    }

    private static String complete(EmulationServer server, String key) throws Exception {
        var headers = new ArrayList<>(List.of("Content-Type", "application/json"));
        if (!key.isEmpty()) {
            headers.addAll(List.of("Authorization", "Bearer " + key));
        }
        var uri = URI.create("http://127.0.0.1:" + server.address().getPort() + "/v1/completions");
        var body =
                HttpRequest.BodyPublishers.ofString("{\"prompt\": \"Hello\", \"max_tokens\": 3, \"ignore_eos\": true}");
        var request = HttpRequest.newBuilder(uri)
                .headers(headers.toArray(String[]::new))
                .POST(body)
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    }
}

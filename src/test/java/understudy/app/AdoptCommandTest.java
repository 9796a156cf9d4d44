package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static understudy.app.CommandLineFixture.call;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.testkit.EmulatedCluster;

/**
 * Adoption of what servers have said. The logs are lines of public issues; the file's name is the repository's and the
 * issue's: {@code vllm-*} of vllm-project/vllm, {@code vllm-omni-*} of vllm-project/vllm-omni, {@code sglang-*} of
 * sgl-project/sglang, {@code sglang-jax-*} of sgl-project/sglang-jax, {@code lmcache-*} of LMCache/LMCache, {@code kserve-*} of
 * kserve/kserve, {@code ktransformers-*} of kvcache-ai/ktransformers, {@code talos-*} of mitchross/talos-argocd-proxmox, {@code
 * club-3090-*} of noonghunna/club-3090.
 */
final class AdoptCommandTest {
    private static final Path LOGS = Path.of("src/test/resources/understudy/adopt");
    private static final int BLOCK = 16;

    @TempDir
    private Path directory;

    private String log(String name) {
        return LOGS.resolve(name + ".log").toString();
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    /** A list of models, which tells the model that the lines of an issue leave out. */
    private String models(String owner) throws IOException {
        return write("models.json", """
                {"object": "list", "data": [{"id": "my-model", "owned_by": "%s", "root": "Qwen/Qwen3-8B"}]}""".formatted(owner));
    }

    private Scenario adopted(String... sources) throws IOException {
        var words = new ArrayList<>(List.of("adopt"));
        words.addAll(List.of(sources));
        var file = directory.resolve("twin.conf");
        words.addAll(List.of("--out", file.toString()));
        var called = call(words.toArray(String[]::new));
        assertThat(called.exitCode).as(called.err).isZero();
        return Scenario.read(new ScenarioFile(Map.of()).load(file.toString(), Map.of()));
    }

    private String error(String... sources) {
        var words = new ArrayList<>(List.of("adopt"));
        words.addAll(List.of(sources));
        var called = call(words.toArray(String[]::new));
        assertThat(called.exitCode).isEqualTo(2);
        assertThat(called.out).isEmpty();
        assertThat(called.err.lines()).hasSize(1);
        return called.err;
    }

    /**
     * The blocks times 16 are the tokens that vLLM has printed; where that counts parts of blocks, which the model has
     * and its double has not, less than a block is missing.
     */
    @ParameterizedTest
    @CsvSource({
        "vllm-12569, false, 22096", // # GPU blocks: 1381
        "vllm-13596, true, 2042016",
        "vllm-17327, true, 198784",
        "vllm-20707, true, 922496",
        "vllm-21348-vllm, false, 178880",
        "vllm-49011, true, 1823372",
        "vllm-omni-1160, true, 2925232",
        "vllm-omni-1434, true, 1949520",
        "talos-1995, true, 302921",
        "club-3090-294, false, 622408",
        "club-3090-295, false, 620944",
        "club-3090-612, false, 567978",
        "club-3090-652, false, 569878"
    })
    void logOfVllm_givesItsCapacity(String log, boolean lacksModel, long numTokens) throws IOException {
        var scenario = lacksModel ? adopted(log(log), models("vllm")) : adopted(log(log));

        long held = (long) scenario.engine().kvCache().numGpuBlocks() * BLOCK;
        assertThat(held).isEqualTo(numTokens - numTokens % BLOCK);
    }

    @ParameterizedTest
    @CsvSource({
        "sglang-11716, true, 2795207",
        "sglang-11830, true, 2243474",
        "sglang-14071, true, 60000",
        "sglang-27537, true, 1106304",
        "sglang-29575, true, 2086558",
        "sglang-29853, true, 387968",
        "vllm-21348-sglang, false, 367404"
    })
    void logOfSglang_givesItsCapacity(String log, boolean lacksModel, int numTokens) throws IOException {
        var scenario = lacksModel ? adopted(log(log), models("sglang")) : adopted(log(log));

        // Pages of one token, and the one that is never given out.
        assertThat(scenario.engine().kvCache().numGpuBlocks()).isEqualTo(numTokens + 1);
    }

    /** What else a start says; a page of metrics tells the capacity that these issues do not have. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "kserve-4368 | latency.llm = llama-3.2-1b, engine.max-model-len = 131072",
                "vllm-20745 | latency.tensor-parallel-size = 8, engine.max-num-batched-tokens = 5120, engine.max-model-len"
                        + " = 128000",
                "vllm-24162 | latency.tensor-parallel-size = 2, engine.max-num-batched-tokens = 2048, latency.llm ="
                        + " qwen2.5-0.5b, engine.max-model-len = 32768",
                "lmcache-1740 | latency.llm = qwen3-8b, engine.max-model-len = 16384, kv-cache.enable-prefix-caching ="
                        + " false",
                "lmcache-792 | latency.tensor-parallel-size = 4, latency.llm = llama-3.1-70b",
                "vllm-39734 | google/gemma-4-31B-it",
                "vllm-51454 | cluster.replicas = 8, latency.data-parallel-size = 8, latency.enable-expert-parallel = true,"
                        + " kv-cache.block-size = 256, kv-cache.gpu-memory-utilization = 0.95, kv-cache.kv-cache-dtype ="
                        + " fp8, engine.max-num-seqs = 256, served-model-name = deepseek-v4-flash-0731"
            })
    void startOfVllm_givesItsFlags(String log, String settings) throws IOException {
        String metrics = write("metrics.txt", """
                # TYPE vllm:cache_config_info gauge
                vllm:cache_config_info{engine="0",num_gpu_blocks="50000"} 1.0
                """);

        var called = call("adopt", log(log), metrics);

        assertThat(called.err).isEmpty();
        assertThat(plain(called.out)).contains(settings.split(", ")).contains("kv-cache.num-gpu-blocks = 50000");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sglang-12726 | latency.llm = qwen3-4b, engine.sglang.mem-fraction-static = 0.835,"
                        + " engine.sglang.max-running-requests = 48, engine.sglang.chunked-prefill-size = 8192",
                "sglang-jax-564 | latency.tensor-parallel-size = 4, engine.sglang.page-size = 64,"
                        + " engine.sglang.chunked-prefill-size = 4096, engine.sglang.max-prefill-tokens = 8192",
                "ktransformers-1969 | DeepSeek-V3.2, kv-cache.kv-cache-dtype = bfloat16"
            })
    void startOfSglang_givesItsFlags(String log, String settings) throws IOException {
        String metrics = write("metrics.txt", "sglang:max_total_num_tokens{dp_rank=\"0\"} 1024000.0\n");

        var called = call("adopt", log(log), metrics, "--gpu", "b200");

        assertThat(called.err).isEmpty();
        assertThat(plain(called.out)).contains(settings.split(", ")).contains("max-total-tokens = 1024000");
    }

    private static String plain(String text) {
        return text.replace("\"", "");
    }

    @Test
    void eachValueHasItsPlace() {
        var called = call("adopt", log("club-3090-295"), "--gpu", "l40s");

        assertThat(called.out.replaceAll(" +", " "))
                .contains("engine.max-num-seqs = 2 # " + log("club-3090-295") + ":3 non-default args")
                .contains("kv-cache.num-gpu-blocks = 38809 # " + log("club-3090-295") + ":1: 620944 tokens")
                .contains("latency.gpu = l40s # --gpu")
                .contains("# What they do not say:");
    }

    @Test
    void writtenScenarioRuns() throws IOException {
        adopted(log("vllm-21348-vllm"));

        var run = call("run", directory.resolve("twin.conf").toString(), "--set", "workload.requests=20");

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out).contains("Successful requests:                     20");
    }

    /** Of two starts in one log the second counts, of two ranks the one with less memory. */
    @Test
    void lastStartAndSmallestRankCount() throws IOException {
        String start =
                "INFO [api_server.py:1] vLLM API server version 0.11.0\nnon-default args: {'model': 'Qwen/Qwen3-8B'}\n";
        String log = write(
                "twice.log",
                start + "GPU KV cache size: 1,600 tokens\n" + start
                        + "GPU KV cache size: 400,000 tokens\nGPU KV cache size: 399,984 tokens\n");

        // 399,984 / 16 = 24,999 blocks.
        assertThat(adopted(log).engine().kvCache().numGpuBlocks()).isEqualTo(24_999);
    }

    /** 96,000 tokens on the host are one and a half times 64,000 on the GPU. */
    @Test
    void hostMemoryOfSglang_isRead() throws IOException {
        String metrics = write("metrics.txt", """
                sglang:num_running_reqs{model_name="Qwen/Qwen3-8B",dp_rank="0"} 0
                sglang:max_total_num_tokens{dp_rank="0"} 64000
                sglang:hicache_host_total_tokens{dp_rank="0"} 96000
                """);

        assertThat(call("adopt", metrics).out)
                .contains("engine.sglang.enable-hierarchical-cache = true")
                .contains("engine.sglang.hicache-ratio = 1.5");
    }

    @Test
    void deviceOfALog_isItsGpu() throws IOException {
        String log = write("moe.log", """
                vllm serve openai/gpt-oss-120b
                Config file not found at /x/configs/E=128,N=768,device_name=NVIDIA_H200.json
                GPU KV cache size: 500,000 tokens
                """);

        assertThat(adopted(log).hardware()).isEqualTo("gpt-oss-120b on h200");
    }

    /** SGLang tells what a rank has; its flags, and those of a scenario, are for all ranks. */
    @Test
    void ranksOfDpAttention_haveTheirPart() throws IOException {
        String log = write("dp.log", """
                server_args=ServerArgs(model_path='deepseek-ai/DeepSeek-V3', tp_size=8, dp_size=4, enable_dp_attention=True)
                max_total_num_tokens=200000, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=64, context_len=131072
                """);

        var called = call("adopt", log, "--gpu", "h200");

        // 4 x 64 requests, 4 x 2048 tokens; 8 GPUs in 4 ranks are 2 for the attention of each.
        assertThat(called.out)
                .contains("engine.sglang.max-running-requests = 256 ")
                .contains("latency.tensor-parallel-size = 2 ")
                .contains("latency.data-parallel-size = 4 ")
                .doesNotContain("engine.sglang.chunked-prefill-size = 2048");
    }

    @Test
    void halfALog_isRefused() {
        assertThat(error(log("vllm-24162")))
                .contains("of vLLM, but does not say how much the KV cache holds")
                .contains("GPU KV cache size");
        assertThat(error(log("sglang-29575"))).contains("of SGLang, but does not say which model is served");
    }

    @Test
    void strangeSources_areRefused() throws IOException {
        String html = write("page.html", "<!DOCTYPE html><html><body>Sign in</body></html>");
        String other = write("tgi.txt", "# HELP tgi_queue_size x\ntgi_queue_size 0\n");
        String text = write("notes.txt", "The server was started yesterday.\n");
        String prometheus = write("range.json", "{\"status\": \"success\", \"data\": {\"result\": []}}");

        assertThat(error(html)).contains("a web page (HTML)");
        assertThat(error(other)).contains("neither vLLM's nor SGLang's").contains("tgi_queue_size");
        assertThat(error(text)).contains("no start log of vLLM or SGLang");
        assertThat(error(prometheus)).contains("give it to --metrics");
        assertThat(error(directory.resolve("missing.log").toString())).contains("no such file");
        assertThat(error(write("empty.log", "\n"))).contains("empty");
        assertThat(error(log("vllm-12569"), "--gpu", "h1000")).contains("--gpu is \"h1000\"");
    }

    @Test
    void sourcesThatContradictEachOther_areRefused() throws IOException {
        assertThat(error(log("club-3090-294"), log("club-3090-295")))
                .contains("KV cache in tokens is 622408")
                .contains("620944")
                .contains("contradict");
        assertThat(error(log("sglang-29575"), log("vllm-12569"))).contains("sources must be of one server");
    }

    private static String served(EmulatedCluster cluster) {
        return cluster.uri().toString();
    }

    @Test
    void servedScenarioOfVllm_comesBack() throws IOException {
        String settings = """
                clock.speed = 1
                cluster.replicas = 2
                latency { llm = qwen3-32b, gpu = h200, tensor-parallel-size = 2 }
                engine { max-num-seqs = 77, max-num-batched-tokens = 4096, max-model-len = 20000 }
                kv-cache { num-gpu-blocks = 12345, block-size = 32, enable-prefix-caching = false }
                server.served-model-name = my-qwen
                """;
        try (var cluster = EmulatedCluster.serve(settings)) {
            var scenario = adopted(served(cluster));

            assertThat(scenario.numReplicas()).isEqualTo(2);
            assertThat(scenario.hardware()).isEqualTo("qwen3-32b on 2 x h200");
            assertThat(scenario.engine().resolved())
                    .containsEntry("engine.max-num-seqs", 77)
                    .containsEntry("engine.max-model-len", 20_000)
                    .containsEntry("kv-cache.num-gpu-blocks", 12_345);
            assertThat(scenario.engine().traits().maxNumBatchedTokens()).isEqualTo(4096);
            assertThat(scenario.engine().kvCache().blockSize()).isEqualTo(32);
            assertThat(scenario.engine().kvCache().enablePrefixCaching()).isFalse();
        }
    }

    /**
     * A server says of itself in which format it keeps states; of one whose model has none that is passed over. SGLang has no
     * auto.
     */
    @ParameterizedTest
    @CsvSource({
        "vllm, qwen3-next-80b-a3b, float32, float32",
        "vllm, qwen3-next-80b-a3b, auto, ''",
        "vllm, qwen3-32b, float32, ''",
        "sglang, qwen3-next-80b-a3b, float16, float16",
        "sglang, qwen3-next-80b-a3b, auto, bfloat16",
        "sglang, qwen3-32b, float16, ''"
    })
    void formatOfStates_comesBack(String kind, String llm, String asked, String found) throws IOException {
        String settings = """
                clock.speed = 1
                latency { llm = %s, gpu = h200, tensor-parallel-size = 2 }
                engine.kind = %s
                kv-cache.mamba-ssm-cache-dtype = %s
                """.formatted(llm, kind, asked);
        try (var cluster = EmulatedCluster.serve(settings)) {
            adopted(served(cluster));

            String twin = Files.readString(directory.resolve("twin.conf")).replaceAll(" +#.*", "");
            var format = twin.lines()
                    .filter(line -> line.contains("mamba-ssm-cache-dtype"))
                    .map(line -> line.replaceFirst(".*= *", ""));
            assertThat(String.join(",", format.toList())).isEqualTo(found);
        }
    }

    /** Without --enable-metrics its page has no series of the engine. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void servedScenarioOfSglang_comesBack(boolean hasMetrics) throws IOException {
        String settings = """
                clock.speed = 1
                latency { llm = qwen3-8b, gpu = l40s }
                engine.kind = sglang
                engine.max-model-len = 30000
                engine.sglang {
                  page-size = 16, max-total-tokens = 64000, max-running-requests = 50, chunked-prefill-size = 4096
                  schedule-policy = lpm
                }
                server.served-model-name = my-qwen
                server.sglang.enable-metrics = %s
                """.formatted(hasMetrics);
        try (var cluster = EmulatedCluster.serve(settings)) {
            var scenario = adopted(served(cluster));

            assertThat(scenario.hardware()).isEqualTo("qwen3-8b on l40s");
            assertThat(scenario.engine().resolved())
                    .containsEntry("engine.sglang.max-running-requests", 50)
                    .containsEntry("engine.sglang.chunked-prefill-size", 4096)
                    .containsEntry("engine.sglang.max-total-tokens", 64_000)
                    .containsEntry("engine.max-model-len", 30_000);
            assertThat(scenario.engine().kvCache().blockSize()).isEqualTo(16);
            assertThat(Files.readString(directory.resolve("twin.conf")))
                    .contains("engine.sglang.schedule-policy = lpm");
        }
    }

    @Test
    void serverAndLogOfAnother_contradictEachOther() {
        try (var cluster = EmulatedCluster.serve("clock.speed = 1, kv-cache.num-gpu-blocks = 5000")) {
            assertThat(error(served(cluster), log("vllm-20707")))
                    .contains("KV cache in blocks is 5000")
                    .contains("57656");
        }
    }

    @Test
    void serverThatRefusesOrIsNone_isOneLine() throws IOException {
        assertThat(error("http://127.0.0.1:1")).contains("/v1/models: cannot be read: connection refused");
        try (var strange = new StrangeServer(200, "<html>Grafana</html>")) {
            assertThat(error(strange.address())).contains("a web page (HTML)");
        }
        try (var strange = new StrangeServer(401, "{}")) {
            assertThat(error(strange.address())).contains("answers HTTP 401").contains("OPENAI_API_KEY");
        }
        try (var strange = new StrangeServer(200, "{\"data\": [{\"id\": \"x\", \"owned_by\": \"library\"}]}")) {
            assertThat(error(strange.address()))
                    .contains("neither vLLM's nor SGLang's")
                    .contains("library");
        }
    }

    /** A server that announces more than it ever sends. */
    @Test
    void slowServer_isGivenUp() throws IOException {
        try (var strange = new StrangeServer(200, "{")) {
            strange.isSlow = true;

            assertThatThrownBy(() ->
                            new AdoptedServer(strange.address(), Map.of(), null, Duration.ofMillis(300)).findings())
                    .isInstanceOf(ScenarioException.class)
                    .hasMessageContaining("no whole answer within 0.3 s");
        }
    }

    /** Answers everything with one text. */
    private static final class StrangeServer implements AutoCloseable {
        private final HttpServer server;
        private volatile boolean isSlow;

        StrangeServer(int status, String text) throws IOException {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                byte[] body = text.getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(status, isSlow ? 1000 : body.length);
                exchange.getResponseBody().write(body);
                exchange.getResponseBody().flush();
                if (!isSlow) {
                    exchange.close();
                }
            });
            server.start();
        }

        String address() {
            return "http://127.0.0.1:" + server.getAddress().getPort();
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}

package understudy.api.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import understudy.api.ServerFixture;

/** What a server tells of its settings. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ServerInfoRoutesTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    /** The numbers are those that the fixture sets; the others are vLLM's defaults, but for the hash. */
    @Test
    void parts_haveTheNamesOfVllm() {
        var config = server.get("/server_info?config_format=json").json().get("vllm_config");

        assertThat(config.get("model_config"))
                .hasToString("{\"model\":\"m\",\"served_model_name\":[\"m\"],\"max_model_len\":2048,\"seed\":1}");
        assertThat(config.get("cache_config"))
                .hasToString("{\"block_size\":16,\"num_gpu_blocks\":1000,\"enable_prefix_caching\":true,"
                        + "\"prefix_caching_hash_algo\":\"xxh3\"}");
        assertThat(config.get("scheduler_config"))
                .hasToString("{\"max_num_seqs\":64,\"max_num_batched_tokens\":2048,\"long_prefill_token_threshold\":0,"
                        + "\"enable_chunked_prefill\":true,\"scheduler_reserve_full_isl\":true,\"policy\":\"fcfs\","
                        + "\"async_scheduling\":true}");
        assertThat(config.get("parallel_config")).hasToString("{\"pipeline_parallel_size\":1}");
        assertThat(config.get("speculative_config").isNull()).isTrue();
    }

    @Test
    void text_isTheDefault() {
        var info = server.get("/server_info").json();

        assertThat(info.get("vllm_config").asText())
                .isEqualTo("model='m', speculative_config=None, max_seq_len=2048, pipeline_parallel_size=1, seed=1,"
                        + " served_model_name=m, enable_prefix_caching=True, enable_chunked_prefill=True");
        assertThat(info.get("vllm_env").isEmpty()).isTrue();
        assertThat(info.at("/emulation/timed_as").asText()).isEqualTo("llama-3.1-8b on h100-sxm");
        assertThat(info.at("/system_env/vllm_version"))
                .isEqualTo(server.get("/version").json().get("version"));
    }

    @Test
    void otherFormat_isRefused() {
        var reply = server.get("/server_info?config_format=yaml");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText())
                .isEqualTo("1 validation error:\n"
                        + "  {'type': 'literal_error', 'loc': ('query', 'config_format'), 'msg': \"Input should be"
                        + " 'text' or 'json'\"}");
    }

    @Test
    void mixedFleet_saysWhichReplicaIsWhich() {
        try (var mixed = new ServerFixture()) {
            mixed.portsPerReplica = true;
            mixed.moreSettings = """
                cluster.groups = [
                  { name = a, replicas = 1 }
                  { name = b, replicas = 2, engine.kind = sglang, kv-cache.num-gpu-blocks = auto }
                ]
                """;
            mixed.start();

            assertThat(mixed.get("/server_info").json().at("/emulation/replicas"))
                    .hasToString("[{\"replica\":0,\"group\":\"a\",\"engine\":\"vllm\",\"role\":\"both\"},"
                            + "{\"replica\":1,\"group\":\"b\",\"engine\":\"sglang\",\"role\":\"both\"},"
                            + "{\"replica\":2,\"group\":\"b\",\"engine\":\"sglang\",\"role\":\"both\"}]");
            var ports = mixed.server().replicaAddresses();
            assertThat(infoAt(mixed, ports.get(0).getPort())).contains("vllm_config");
            assertThat(infoAt(mixed, ports.get(1).getPort()))
                    .contains("disaggregation_mode")
                    .doesNotContain("vllm_config");
        }
    }

    private static String infoAt(ServerFixture fleet, int port) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/server_info"))
                .build();
        return fleet.client().sendAsync(request, BodyHandlers.ofString()).join().body();
    }
}

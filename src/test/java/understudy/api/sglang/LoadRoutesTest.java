package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.Waiting;
import understudy.testkit.EmulatedCluster;

/**
 * Loads and settings as SGLang tells them; the names of the fields are those of {@code GetLoadsReqOutput} ({@code
 * managers/io_struct.py}) and of {@code http_server.py}. A step takes 10 ms, and a request none to the queue.
 */
final class LoadRoutesTest {
    private static final String SETTINGS = """
        cluster.replicas = 2
        engine.kind = sglang
        engine.sglang { max-total-tokens = 16000, max-running-requests = 1, disable-overlap-schedule = true }
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        latency.api-delay = 0ms
        router.policy = round-robin
        """;

    private final HttpClient client = HttpClient.newHttpClient();

    @AutoClose
    private final EmulatedCluster cluster = EmulatedCluster.servePaused(SETTINGS);

    private JsonNode get(String path) {
        var request = HttpRequest.newBuilder(cluster.uri().resolve(path)).build();
        try {
            return new ObjectMapper()
                    .readTree(client.send(request, BodyHandlers.ofString()).body());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Three requests take turns: the first and the third come to the first replica, which runs one at a time. */
    private void sendThree() {
        for (int i = 0; i < 3; i++) {
            cluster.submit(100, 200);
        }
        // The prefill ends at 10 ms, and the 40th decode at 410 ms: 40 tokens in 410 ms.
        cluster.advance(Duration.ofMillis(415));
        // The server's threads follow the cluster at a small distance.
        Waiting.until(() -> get("/v1/loads").at("/loads/1/gen_throughput").doubleValue() > 0);
    }

    @Test
    void loads_areThoseOfEachRank() {
        sendThree();

        var loads = get("/v1/loads").get("loads");
        var names = new ArrayList<String>();
        loads.get(0).fieldNames().forEachRemaining(names::add);
        assertThat(names)
                .containsExactly(
                        "dp_rank",
                        "timestamp",
                        "num_running_reqs",
                        "num_waiting_reqs",
                        "num_used_tokens",
                        "num_total_tokens",
                        "max_total_num_tokens",
                        "token_usage",
                        "gen_throughput",
                        "cache_hit_rate",
                        "utilization",
                        "max_running_requests",
                        "queues");
        assertThat(loads.findValuesAsText("dp_rank")).containsExactly("0", "1");
        assertThat(loads.findValuesAsText("num_running_reqs")).containsExactly("1", "1");
        assertThat(loads.findValuesAsText("num_waiting_reqs")).containsExactly("1", "0");
        // 40 tokens in 0.41 s are 97.56 a second.
        assertThat(loads.findValuesAsText("gen_throughput")).containsExactly("97.56", "97.56");
        // 100 tokens of the prompt and 41 of the answer, the last of which has its place already or not.
        assertThat(loads.at("/0/num_used_tokens").intValue()).isBetween(140, 142);
        assertThat(loads.at("/0/token_usage").doubleValue()).isBetween(0.0087, 0.0089);
        assertThat(get("/v1/loads?dp_rank=1").get("loads").findValuesAsText("dp_rank"))
                .containsExactly("1");
        assertThat(get("/v1/loads?include=core,gpu").toString()).contains("Invalid include sections: [gpu]");

        // The prompt that waits has 100 tokens.
        int used = loads.at("/0/num_used_tokens").intValue();
        assertThat(loads.at("/0/num_total_tokens").intValue()).isEqualTo(used + 100);
        assertThat(loads.at("/0/queues").toString())
                .isEqualTo("{\"waiting\":1,\"grammar\":0,\"paused\":0,\"retracted\":0}");

        assertThat(get("/get_load").toString())
                .isEqualTo("[{\"dp_rank\":0,\"num_reqs\":2,\"num_waiting_reqs\":1,\"num_tokens\":" + (used + 100)
                        + "},{\"dp_rank\":1,\"num_reqs\":1,\"num_waiting_reqs\":0,\"num_tokens\":"
                        + loads.at("/1/num_used_tokens").intValue() + "}]");
    }

    /** Each port says which engine is behind it, as SGLang does where there is no other. */
    @Test
    void serverInfo_hasTheSettingsAndTheStates() {
        sendThree();

        for (String path : List.of("/server_info", "/get_server_info")) {
            var info = get(path);
            assertThat(info.get("max_total_num_tokens").intValue()).isEqualTo(16_000);
            assertThat(info.get("max_running_requests").intValue()).isEqualTo(1);
            assertThat(info.get("schedule_policy").textValue()).isEqualTo("fcfs");
            assertThat(info.get("page_size").intValue()).isEqualTo(1);
            assertThat(info.get("disaggregation_mode").textValue()).isEqualTo("null");
            assertThat(info.get("internal_states").findValuesAsText("last_gen_throughput"))
                    .containsExactly("97.56", "97.56");
            assertThat(info.has("block_size")).isFalse();
        }
        assertThat(get("/v1/models").at("/data/0/owned_by").textValue()).isEqualTo("sglang");
    }
}

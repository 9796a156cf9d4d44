package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.Waiting;
import understudy.api.ServerFixture;
import understudy.api.call.RequestRecorder;

/** What a server does besides its API, where its engine is SGLang: faults, records, and the live page. */
final class SglangServiceTest {
    private static final String SETTINGS = """
        engine.kind = sglang
        kv-cache.num-gpu-blocks = auto
        engine.sglang.max-total-tokens = 16000
        server.sglang.enable-metrics = true
        """;

    private static final String CALL = "{\"input_ids\": [100, 101, 102, 103, 104, 105, 106, 107, 108],"
            + " \"sampling_params\": {\"max_new_tokens\": 5, \"ignore_eos\": true}}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private void start(String... more) {
        server.moreSettings = SETTINGS + String.join("\n", more);
        server.startAlone();
    }

    /** A crash takes the replica's series and tree with it; the other one goes on. */
    @Test
    void crash_leavesTheOtherReplica() {
        server.numReplicas = 2;
        start("router.policy = round-robin");
        assertThat(server.post("/generate", CALL).status()).isEqualTo(200);

        assertThat(server.post("/admin/replicas/0/crash", "").status()).isEqualTo(200);
        Waiting.until(() -> !server.get("/metrics").text().contains("sglang:token_usage{dp_rank=\"0\""));

        assertThat(server.post("/generate", CALL).status()).isEqualTo(200);
        assertThat(server.get("/metrics").text()).contains("sglang:token_usage{dp_rank=\"1\"");
    }

    /** A drained replica finishes what it has, and new calls go to the other one. */
    @Test
    void drain_losesNoCall() throws Exception {
        server.numReplicas = 2;
        server.speed = 1;
        start("router.policy = round-robin");
        var calls = new ArrayList<CompletableFuture<HttpResponse<String>>>();
        for (int i = 0; i < 8; i++) {
            calls.add(send(CALL.replace("\"max_new_tokens\": 5", "\"max_new_tokens\": 1000")));
        }
        Waiting.until(() -> server.metric("sglang:num_running_reqs", "dp_rank=\"0\"") == 4);

        assertThat(server.post("/admin/replicas/0/drain", "").status()).isEqualTo(200);
        // Steps take 5 ms: the first eight go on for some seconds.
        assertThat(calls).noneMatch(CompletableFuture::isDone);
        for (int i = 0; i < 4; i++) {
            calls.add(send(CALL));
        }

        for (var call : calls) {
            assertThat(call.get().statusCode()).isEqualTo(200);
        }
        assertThat(calls.subList(0, 8))
                .allSatisfy(call -> assertThat(call.join().body()).contains("\"completion_tokens\":1000"));
        // Half of the first eight were the drained one's, and none of the last four.
        assertThat(server.metric("sglang:num_requests_total", "dp_rank=\"1\"")).isEqualTo(4 + 4);
    }

    private CompletableFuture<HttpResponse<String>> send(String call) {
        var request = server.request("/generate").POST(HttpRequest.BodyPublishers.ofString(call));
        return server.client().sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void record_hasTheCallsOfGenerate(@TempDir Path directory) throws IOException {
        var file = directory.resolve("today.jsonl");
        try (var recorder = new RequestRecorder(file, 4, false)) {
            server.recorder = recorder;
            start();
            assertThat(server.post("/generate", CALL).status()).isEqualTo(200);
            Waiting.until(() -> server.metric("sglang:num_requests_total", "") == 1);
            server.close();
        }

        // Behind the head of the trace.
        assertThat(Files.readAllLines(file))
                .hasSize(2)
                .last()
                .asString()
                .contains("\"input_length\":9", "\"output_length\":5");
    }

    @Test
    void livePage_hasTheReplicasOfSglang() {
        start("cluster.groups = [{ name = p, role = prefill }, { name = d, role = decode }]");

        assertThat(server.post("/generate", CALL).status()).isEqualTo(200);

        assertThat(server.get("/admin/status").json().get("replicas")).hasSize(2);
        assertThat(server.get("/").text()).contains("<html");
    }
}

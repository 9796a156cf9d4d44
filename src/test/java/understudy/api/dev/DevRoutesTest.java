package understudy.api.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.api.ServerFixture;

/** Endpoints of vLLM's development mode, and the pages about the API. */
final class DevRoutesTest {
    private static final String COMPLETIONS = "/v1/completions";
    private static final String LONG = "{\"prompt\": \"x\", \"max_tokens\": 1500, \"ignore_eos\": true}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private void start(String moreSettings) {
        server.speed = 2;
        server.moreSettings = moreSettings;
        server.start();
    }

    private CompletableFuture<ServerFixture.Reply> asking(String body, String... headers) {
        return CompletableFuture.supplyAsync(() -> server.post(COMPLETIONS, body, headers));
    }

    private static String reason(ServerFixture.Reply reply) {
        return reply.json().at("/choices/0/finish_reason").asText();
    }

    private void awaitRunning(int numRequests) {
        server.awaitMetric("vllm:num_requests_running", "", count -> count == numRequests);
    }

    @Test
    void pause_abortsAndForgets_andResumeGoesOn() {
        start("server.dev-mode = true");
        String prompt = "{\"prompt\": \"" + "some words ".repeat(40) + "\", \"max_tokens\": 1}";
        server.post(COMPLETIONS, prompt);
        var running = asking(LONG);
        awaitRunning(1);

        assertThat(server.get("/is_paused").text()).isEqualTo("{\"is_paused\":false}");
        assertThat(server.post("/pause", "").text()).isEqualTo("{\"status\":\"paused\"}");
        assertThat(server.get("/is_paused").text()).isEqualTo("{\"is_paused\":true}");
        assertThat(reason(running.join())).isEqualTo("abort");
        var waiting = asking(prompt);
        assertThat(server.post("/resume", "").text()).isEqualTo("{\"status\":\"resumed\"}");

        assertThat(waiting.join()
                        .json()
                        .at("/usage/prompt_tokens_details/cached_tokens")
                        .asInt())
                .isZero();
        assertThat(server.get("/is_paused").text()).isEqualTo("{\"is_paused\":false}");
    }

    @Test
    void pauseThatKeeps_goesOnWithWhatRan_andKeepsTheCache() {
        start("server.dev-mode = true");
        var running = asking("{\"prompt\": \"x\", \"max_tokens\": 300, \"ignore_eos\": true}");
        awaitRunning(1);

        server.post("/pause?mode=keep", "");
        assertThat(running).isNotDone();
        server.post("/resume", "");

        assertThat(reason(running.join())).isEqualTo("length");
        var refused = server.post("/pause?mode=never", "").json();
        assertThat(refused.at("/error/message").asText()).contains("Input should be 'abort', 'wait' or 'keep'");
    }

    @Test
    void abortedRequests_endAsTheyAre() {
        start("server.dev-mode = true");
        var one = asking(LONG, "X-Request-Id", "one");
        var two = asking(LONG, "X-Request-Id", "two");
        awaitRunning(2);

        var first = server.post("/abort_requests", "{\"request_ids\": [\"cmpl-one\"]}");

        assertThat(first.text()).isEqualTo("{\"status\":\"aborted\",\"aborted\":1}");
        assertThat(reason(one.join())).isEqualTo("abort");
        assertThat(two).isNotDone();
        assertThat(server.post("/abort_requests", "{}").text()).contains("\"aborted\":1");
        assertThat(reason(two.join())).isEqualTo("abort");
    }

    @Test
    void workers_areOneForEachGpu() {
        server.numReplicas = 2;
        start("server.dev-mode = true");

        assertThat(server.get("/get_world_size").text()).isEqualTo("{\"world_size\":2}");
        assertThat(server.get("/get_world_size?include_dp=false").text()).isEqualTo("{\"world_size\":1}");
        assertThat(server.post("/collective_rpc", "{\"method\": \"reload_weights\"}")
                        .text())
                .isEqualTo("{\"results\":[null,null]}");
        assertThat(server.post("/collective_rpc", "{}")
                        .json()
                        .at("/error/message")
                        .asText())
                .isEqualTo("Missing 'method' in request body");
        assertThat(server.post("/reset_mm_cache", "").status()).isEqualTo(200);
        assertThat(server.post("/reset_encoder_cache", "").status()).isEqualTo(200);
    }

    @Test
    void withoutDevelopmentMode_thereAreNone() {
        start("");

        assertThat(server.post("/pause", "").status()).isEqualTo(404);
        assertThat(server.get("/is_paused").status()).isEqualTo(404);
        assertThat(server.get("/openapi.json").json().at("/paths").has("/pause"))
                .isFalse();
    }

    @Test
    void webPages_areKeptFromThem() {
        start("server.dev-mode = true");

        assertThat(server.post("/pause", "", "Origin", "http://evil.example").status())
                .isEqualTo(403);
        assertThat(server.post("/abort_requests", "{}", "Origin", "http://evil.example")
                        .status())
                .isEqualTo(403);
    }

    @Test
    void docs_nameEveryEndpoint_withoutAnyNetwork() {
        start("server.dev-mode = true");

        var api = server.get("/openapi.json").json();
        var page = server.get("/docs");

        assertThat(api.at("/paths/~1v1~1chat~1completions/post/summary").asText())
                .isEqualTo("Create Chat Completion");
        assertThat(page.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/html");
        assertThat(page.text()).contains("/v1/chat/completions").doesNotContain("http://", "https://", "<script");
        assertThat(server.get("/redoc").text()).isEqualTo(page.text());
        api.get("paths")
                .fieldNames()
                .forEachRemaining(path -> assertThat(page.text()).contains(path));
        // Each is there: it may want another body, but is not unknown.
        api.get("paths").properties().forEach(entry -> {
            String method = entry.getValue().fieldNames().next();
            String path = entry.getKey().replace("{response_id}", "resp_x");
            boolean isElsewhere = path.contains("lora") || path.contains("resp_x");
            int status = (method.equals("get") ? server.get(path) : server.post(path, "{}")).status();
            assertThat(isElsewhere || status != 404).as(path).isTrue();
        });
    }

    @Test
    void docs_mayBeLeftOut() {
        start("server.docs = false");

        assertThat(server.get("/docs").status()).isEqualTo(404);
        assertThat(server.get("/openapi.json").status()).isEqualTo(404);
    }

    @Test
    void response_isNotFoundInVllmsWords() {
        start("");

        for (var reply :
                List.of(server.get("/v1/responses/resp_x"), server.post("/v1/responses/resp_x/cancel", "{}"))) {
            assertThat(reply.status()).isEqualTo(404);
            assertThat(reply.text())
                    .isEqualTo("{\"error\":{\"message\":\"Response with id 'resp_x' not found.\",\"type\":"
                            + "\"invalid_request_error\",\"param\":\"response_id\",\"code\":404}}");
        }
    }
}

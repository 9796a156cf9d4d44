package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** LoRA adapters over HTTP: as models, loaded and unloaded, in metrics. */
final class LoraRoutesTest {
    private static final String CHAT =
            "{\"model\": \"%s\", \"max_tokens\": 2, \"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}";

    private static final String LOAD = "{\"lora_name\": \"%1$s\", \"lora_path\": \"/mnt/%1$s\"}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @Test
    void adapter_isAModelWithAParent() {
        start("engine.lora.lora-modules = [sql, \"chat=/mnt/chat\"]");

        var models = server.get("/v1/models").json().get("data");
        assertThat(ids(models)).endsWith("sql", "chat");
        var chat = models.get(models.size() - 1);
        assertThat(chat.get("root").asText()).isEqualTo("/mnt/chat");
        assertThat(chat.get("parent")).isEqualTo(models.get(0).get("id"));
        assertThat(chat.get("max_model_len").isNull()).isTrue();
        assertThat(models.get(0).get("parent").isNull()).isTrue();
    }

    @Test
    void answer_carriesTheNameOfTheAdapter() {
        start("engine.lora.lora-modules = [sql]");

        assertThat(server.post("/v1/chat/completions", CHAT.formatted("sql"))
                        .json()
                        .get("model")
                        .asText())
                .isEqualTo("sql");
        assertThat(server.post("/v1/responses", "{\"model\": \"sql\", \"input\": \"x\"}")
                        .json()
                        .get("model")
                        .asText())
                .isEqualTo("sql");
        assertThat(server.post("/v1/chat/completions", CHAT.formatted("other")).status())
                .isEqualTo(404);
    }

    @Test
    void adapters_comeAndGo() {
        start("");

        assertThat(load("late").status()).isEqualTo(200);
        var again = load("late");
        assertThat(again.status()).isEqualTo(400);
        assertThat(again.json().at("/error/type").asText()).isEqualTo("InvalidUserInput");
        assertThat(ids(server.get("/v1/models").json().get("data"))).endsWith("late");
        var inPlace = "{\"lora_name\": \"late\", \"lora_path\": \"/other\", \"load_inplace\": true}";
        assertThat(server.post("/v1/load_lora_adapter", inPlace).status()).isEqualTo(200);
        var late = server.get("/v1/models").json().get("data");
        assertThat(late.get(late.size() - 1).get("root").asText()).isEqualTo("/other");
        assertThat(server.post("/v1/chat/completions", CHAT.formatted("late")).status())
                .isEqualTo(200);

        assertThat(unload("late").text()).isEqualTo("Success: LoRA adapter 'late' removed successfully.");
        assertThat(unload("late").json().at("/error/type").asText()).isEqualTo("NotFoundError");
        assertThat(server.post("/v1/chat/completions", CHAT.formatted("late")).status())
                .isEqualTo(404);
        assertThat(server.post("/v1/load_lora_adapter", "{\"lora_name\": \"x\"}")
                        .status())
                .isEqualTo(400);
    }

    /**
     * 10 s of virtual time are 1 s of the clock's. The call takes them, and meanwhile nobody can ask for the adapter; the
     * first request does not.
     */
    @Test
    void call_isAnsweredWhenTheAdapterHasBeenRead() throws Exception {
        start("engine.lora.load-time = 10 s");
        long beforeNanos = System.nanoTime();
        var calls = List.of(loadAsync("late"), loadAsync("late"));
        assertThat(server.post("/v1/chat/completions", CHAT.formatted("late")).status())
                .isEqualTo(404);

        var statuses = new ArrayList<Integer>();
        for (var call : calls) {
            statuses.add(call.get(20, TimeUnit.SECONDS).statusCode());
        }
        assertThat(statuses).as("the second one waits for the first").containsExactlyInAnyOrder(200, 400);
        assertThat(Duration.ofNanos(System.nanoTime() - beforeNanos)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        assertThat(ttftSeconds("late")).isLessThan(10);
    }

    @Test
    void modulesOfTheStart_areThereBeforeTheFirstRequest() {
        start("engine.lora.lora-modules = [sql]\nengine.lora.load-time = 10 s");

        assertThat(ttftSeconds("sql")).isLessThan(10);
    }

    private double ttftSeconds(String model) {
        assertThat(server.post("/v1/chat/completions", CHAT.formatted(model)).status())
                .isEqualTo(200);
        server.awaitMetric("vllm:time_to_first_token_seconds_count", "engine=\"0\"", count -> count == 1);
        return server.metric("vllm:time_to_first_token_seconds_sum", "engine=\"0\"");
    }

    private CompletableFuture<HttpResponse<String>> loadAsync(String name) {
        var request = HttpRequest.newBuilder(URI.create(server.url() + "/v1/load_lora_adapter"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(LOAD.formatted(name)))
                .build();
        return server.client().sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** The same prompt of 40 tokens or more hits the cache with its own adapter only. */
    @Test
    void adapters_shareNoBlocks() {
        start("engine.lora.lora-modules = [one, two]");
        String prompt = "{\"model\": \"%s\", \"max_tokens\": 1, \"prompt\": \"" + "word ".repeat(64) + "\"}";

        server.post("/v1/completions", prompt.formatted("one"));
        server.post("/v1/completions", prompt.formatted("two"));
        assertThat(server.metric("vllm:prefix_cache_hits_total", "engine=\"0\""))
                .isZero();
        server.post("/v1/completions", prompt.formatted("one"));
        server.awaitMetric("vllm:prefix_cache_hits_total", "engine=\"0\"", hits -> hits == 64);
    }

    @Test
    void requestsInfo_namesTheAdaptersAndTheSlots() {
        start("engine.lora.lora-modules = [one]\nengine.lora.max-loras = 3\nengine.lora.max-cpu-loras = 4");

        server.post("/v1/chat/completions", CHAT.formatted("one"));

        assertThat(server.get("/metrics").text())
                .containsPattern("vllm:lora_requests_info\\{engine=\"0\",max_lora=\"3\","
                        + "running_lora_adapters=\"(one)?\",waiting_lora_adapters=\"\"} 1\\.\\d+E9");
    }

    /** Loaded at the port of replica 0, an adapter is known there and at the port of the cluster, not at replica 1. */
    @Test
    void adapterOfAReplica_isKnownAtItsPort() throws IOException, InterruptedException {
        server.numReplicas = 2;
        server.portsPerReplica = true;
        start("engine.lora.lora-modules = [all]");

        assertThat(post(0, "/v1/load_lora_adapter", LOAD.formatted("own"))).isEqualTo(200);
        assertThat(post(0, "/v1/chat/completions", CHAT.formatted("own"))).isEqualTo(200);
        assertThat(post(1, "/v1/chat/completions", CHAT.formatted("own"))).isEqualTo(404);
        assertThat(server.post("/v1/chat/completions", CHAT.formatted("own")).status())
                .isEqualTo(200);

        // One that all have goes from replica 1 alone, and then from the other one, which was the last.
        assertThat(post(1, "/v1/unload_lora_adapter", LOAD.formatted("all"))).isEqualTo(200);
        assertThat(post(1, "/v1/chat/completions", CHAT.formatted("all"))).isEqualTo(404);
        assertThat(post(0, "/v1/chat/completions", CHAT.formatted("all"))).isEqualTo(200);
        assertThat(post(0, "/v1/unload_lora_adapter", LOAD.formatted("all"))).isEqualTo(200);
        assertThat(server.post("/v1/chat/completions", CHAT.formatted("all")).status())
                .isEqualTo(404);
    }

    private int post(int replica, String path, String body) throws IOException, InterruptedException {
        int port = server.server().replicaAddresses().get(replica).getPort();
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return server.client()
                .send(request, HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    @Test
    void foreignPage_loadsNothing() {
        start("");

        assertThat(server.post("/v1/load_lora_adapter", LOAD.formatted("x"), "Origin", "http://evil.example")
                        .status())
                .isEqualTo(403);
    }

    @Test
    void withoutLora_thereAreNoRoutesAndNoMetric() {
        server.start();

        assertThat(load("late").status()).isEqualTo(404);
        assertThat(server.get("/metrics").text()).doesNotContain("lora_requests_info");
    }

    private void start(String settings) {
        server.moreSettings = "engine.lora.enable = true\n" + settings;
        server.start();
    }

    private ServerFixture.Reply load(String name) {
        return server.post("/v1/load_lora_adapter", LOAD.formatted(name));
    }

    private ServerFixture.Reply unload(String name) {
        return server.post("/v1/unload_lora_adapter", "{\"lora_name\": \"%s\"}".formatted(name));
    }

    private static List<String> ids(JsonNode models) {
        var ids = new ArrayList<String>();
        models.forEach(model -> ids.add(model.get("id").asText()));
        return ids;
    }
}

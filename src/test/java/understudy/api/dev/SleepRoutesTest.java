package understudy.api.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;

/** vLLM's sleep mode over a real connection. */
final class SleepRoutesTest {
    private static final String COMPLETIONS = "/v1/completions";

    /** Lasts 600 steps of 5 ms, a second and a half at twice the speed. */
    private static final String LONG = "{\"prompt\": \"x\", \"max_tokens\": 600, \"ignore_eos\": true}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private void start(int numReplicas) {
        server.numReplicas = numReplicas;
        server.portsPerReplica = numReplicas > 1;
        server.speed = 2;
        server.start();
    }

    private void post(String path) {
        assertThat(server.post(path, "").status()).as(path).isEqualTo(200);
    }

    private String isSleeping() {
        return server.get("/is_sleeping").text();
    }

    private CompletableFuture<ServerFixture.Reply> asking(String body) {
        return CompletableFuture.supplyAsync(() -> server.post(COMPLETIONS, body));
    }

    private static String reason(ServerFixture.Reply reply) {
        return reply.json().at("/choices/0/finish_reason").asText();
    }

    private void awaitRunning(int numRequests) {
        server.awaitMetric("vllm:num_requests_running", "", count -> count == numRequests);
    }

    @Test
    void sleep_abortsWhatRuns_andKeepsWhatComesWaiting() {
        start(1);
        var running = asking(LONG);
        awaitRunning(1);

        post("/sleep");
        var ended = running.join();
        var waiting = asking("{\"prompt\": \"y\", \"max_tokens\": 3}");
        server.awaitMetric("vllm:num_requests_waiting", "", count -> count == 1);
        boolean isAnsweredAsleep = waiting.isDone();
        String asleep = isSleeping();
        post("/wake_up");

        assertThat(reason(ended)).isEqualTo("abort");
        assertThat(ended.json().at("/usage/completion_tokens").asInt()).isBetween(1, 599);
        assertThat(isAnsweredAsleep).isFalse();
        assertThat(asleep).isEqualTo("{\"is_sleeping\":true}");
        assertThat(waiting.join().json().at("/usage/completion_tokens").asInt()).isBetween(1, 3);
        assertThat(isSleeping()).isEqualTo("{\"is_sleeping\":false}");
        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.metric("vllm:num_preemptions_total", "")).isZero();
    }

    @ParameterizedTest
    @CsvSource({"0, 48", "1, 0", "2, 0"})
    void kvCache_isDroppedFromLevelOneOn(int level, int numCached) {
        start(1);
        var prompt = "{\"prompt\": [%s 7], \"max_tokens\": 1}".formatted("5, ".repeat(60));
        var running = asking(LONG);
        awaitRunning(1);
        server.post(COMPLETIONS, prompt);

        post("/sleep?level=" + level);
        running.join();
        post("/wake_up");

        // Three full blocks of 16 of the 61 tokens.
        var cached = server.post(COMPLETIONS, prompt).json().at("/usage/prompt_tokens_details/cached_tokens");
        assertThat(cached.asInt()).isEqualTo(numCached);
    }

    @Test
    void keep_goesOnWithWhatRan() {
        start(1);
        var running = asking(LONG);
        awaitRunning(1);

        post("/sleep?level=2&mode=keep");
        awaitRunning(0);
        post("/wake_up");

        assertThat(reason(running.join())).isEqualTo("length");
        assertThat(server.metric("vllm:num_preemptions_total", "")).isEqualTo(1);
    }

    @Test
    void wait_isAnsweredWhenWhatRanHasEnded_andWhatComesWaits() {
        start(1);
        var running = asking(LONG);
        awaitRunning(1);

        var sleep = CompletableFuture.supplyAsync(() -> server.post("/sleep?mode=wait", ""));
        server.awaitMetric("vllm:engine_sleep_state", "sleep_state=\"awake\"", value -> value == 0);
        var waiting = asking("{\"prompt\": \"y\", \"max_tokens\": 3}");
        server.awaitMetric("vllm:num_requests_waiting", "", count -> count == 1);
        boolean isAnsweredEarly = sleep.isDone();
        int status = sleep.join().status();
        boolean hasWaited = !waiting.isDone();
        post("/wake_up");

        assertThat(isAnsweredEarly).isFalse();
        assertThat(status).isEqualTo(200);
        assertThat(hasWaited).isTrue();
        assertThat(reason(running.join())).isEqualTo("length");
        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0, 0", "1, 0, 1, 0", "2, 0, 0, 1"})
    void sleepState_isShown(int level, int awake, int weightsOffloaded, int discardAll) {
        start(1);

        post("/sleep?level=" + level);
        server.awaitMetric("vllm:engine_sleep_state", "sleep_state=\"awake\"", value -> value == awake);
        double offloaded = server.metric("vllm:engine_sleep_state", "sleep_state=\"weights_offloaded\"");
        double discarded = server.metric("vllm:engine_sleep_state", "sleep_state=\"discard_all\"");
        post("/wake_up?tags=scheduling&tags=weights&tags=kv_cache");

        assertThat(offloaded).isEqualTo(weightsOffloaded);
        assertThat(discarded).isEqualTo(discardAll);
        server.awaitMetric("vllm:engine_sleep_state", "sleep_state=\"awake\"", value -> value == 1);
        assertThat(server.metric("vllm:engine_sleep_state", "")).isEqualTo(1);
    }

    @Test
    void parts_areWokenOneByOne() {
        start(1);
        post("/sleep?level=2");

        post("/wake_up?tags=weights");
        String half = isSleeping();
        post("/wake_up?tags=kv_cache");

        assertThat(half).isEqualTo("{\"is_sleeping\":true}");
        assertThat(isSleeping()).isEqualTo("{\"is_sleeping\":false}");
    }

    @Test
    void portOfAReplica_isForThatOne_andThatOfTheClusterForAll() throws Exception {
        start(2);

        assertThat(atReplica(1, "POST", "/sleep")).isEmpty();
        String one = atReplica(0, "GET", "/is_sleeping") + atReplica(1, "GET", "/is_sleeping") + isSleeping();
        post("/sleep?level=2");
        String all = atReplica(0, "GET", "/is_sleeping") + isSleeping();
        post("/wake_up");

        assertThat(one).isEqualTo("{\"is_sleeping\":false}{\"is_sleeping\":true}{\"is_sleeping\":false}");
        assertThat(all).isEqualTo("{\"is_sleeping\":true}{\"is_sleeping\":true}");
        assertThat(atReplica(1, "GET", "/is_sleeping")).isEqualTo("{\"is_sleeping\":false}");
    }

    private String atReplica(int replica, String method, String path) throws Exception {
        int port = server.server().replicaAddresses().get(replica).getPort();
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return server.client()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void drainingReplica_doesNotSleep() throws Exception {
        start(2);
        post("/admin/replicas/1/drain");

        String refusal = atReplica(1, "POST", "/sleep");
        post("/sleep");

        assertThat(refusal).contains("\"message\":\"Sleep: replica 1 is DRAINING\"", "\"code\":409");
        assertThat(server.get("/admin/status").text()).contains("\"weights_offloaded\"", "\"draining\"");
    }

    @Test
    void removedReplica_finishesWhatItHas() throws Exception {
        start(2);
        post("/sleep");
        var waiting = asking("{\"prompt\": \"y\", \"max_tokens\": 3}");
        server.awaitMetric("vllm:num_requests_waiting", "", count -> count == 1);

        post("/admin/replicas/0/remove");
        post("/admin/replicas/1/remove");

        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @Test
    void replicaThatRestarts_isAwake() {
        start(1);
        post("/sleep");

        post("/admin/replicas/0/crash");
        post("/admin/replicas/0/restart");

        server.awaitMetric("vllm:engine_sleep_state", "sleep_state=\"awake\"", value -> value == 1);
        assertThat(server.post(COMPLETIONS, "{\"prompt\": \"x\"}").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            /sleep?level=3          | level is "3", must be 0, 1 or 2
            /sleep?level=deep       | level is "deep", must be 0, 1 or 2
            /sleep?mode=soon        | mode is "soon", must be abort, wait or keep
            /wake_up?tags=all       | tags is "all", must be weights, kv_cache or scheduling
            """)
    void badParameter_isNamed(String path, String message) {
        start(1);

        var reply = server.post(path, "");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).isEqualTo(message);
        assertThat(isSleeping()).isEqualTo("{\"is_sleeping\":false}");
    }
}

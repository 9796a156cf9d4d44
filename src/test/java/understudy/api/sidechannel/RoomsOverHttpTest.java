package understudy.api.sidechannel;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.Waiting;
import understudy.faults.Fault;
import understudy.testkit.EmulatedCluster;

/**
 * Two served clusters of SGLang's engine, of which one computes prompts and the other one answers, behind a router that sends a
 * call to both (SGLang {@code disaggregation/mini_lb.py}). Their clocks stand still unless a test moves them.
 *
 * <p>A step takes 5 ms, and 1 ms for each token. A page is a token, which has 131,072 bytes of Llama-3.1-8B: 100 ms at 0.00131072
 * GB/s.
 */
final class RoomsOverHttpTest {
    private static final int NUM_PROMPT = 64;
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private static final String SETTINGS = """
        engine.kind = sglang
        engine.max-model-len = 2048
        engine.sglang.max-total-tokens = 4000
        latency { model = linear, api-delay = 0s }
        latency.linear { per-step = 5ms, per-token = 1ms, per-decode-seq = 0ns, per-kv-token = 0ns }
        kv-cache.transfer { kv-connector = bootstrap, bandwidth = 0.00131072, post = 0s, notify = 0s }
        server.served-model-name = m
        """;

    private static final String PREFILL = SETTINGS + "cluster.groups = [{ name = p, role = prefill }]\n";
    private static final String DECODE = SETTINGS + "cluster.groups = [{ name = d, role = decode }]\n";

    private final Sidecar router = new Sidecar();
    private final EmulatedCluster prefill = EmulatedCluster.servePaused(PREFILL);
    private EmulatedCluster decode = EmulatedCluster.servePaused(DECODE);

    @AfterEach
    void close() {
        prefill.close();
        decode.close();
    }

    private int bootstrapPort() {
        return prefill.server().sideChannelPort().orElseThrow();
    }

    private ObjectNode generate(int room) {
        var call = Sidecar.JSON.createObjectNode();
        IntStream.range(0, NUM_PROMPT).forEach(i -> call.withArray("input_ids").add(100 + i));
        call.putObject("sampling_params").put("max_new_tokens", 3).put("ignore_eos", true);
        return inRoom(call, room);
    }

    private ObjectNode inRoom(ObjectNode call, int room) {
        return call.put("bootstrap_host", "127.0.0.1")
                .put("bootstrap_port", bootstrapPort())
                .put("bootstrap_room", room);
    }

    private CompletableFuture<Sidecar.Reply> send(EmulatedCluster to, String path, ObjectNode call) {
        return router.post(to.uri().resolve(path), call.toString());
    }

    /** Moves both clocks until a call is answered, and returns how many seconds of the second one that took. */
    private double moveUntil(CompletableFuture<Sidecar.Reply> reply, Duration step) {
        long from = decode.nowNanos();
        Waiting.until(() -> {
            prefill.advance(step);
            decode.advance(step);
            return reply.isDone();
        });
        return (decode.nowNanos() - from) / 1e9;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void halvesMeetInTheirRoom_whicheverComesFirst(boolean isPrefillFirst) {
        var first = send(isPrefillFirst ? prefill : decode, "/generate", generate(7));
        (isPrefillFirst ? prefill : decode).awaitRequests(1);
        var second = send(isPrefillFirst ? decode : prefill, "/generate", generate(7));
        (isPrefillFirst ? decode : prefill).awaitRequests(1);
        var answer = isPrefillFirst ? second : first;

        // 64 pages of 0.1 s each.
        assertThat(moveUntil(answer, Duration.ofMillis(5))).isGreaterThan(6.4);

        assertThat(answer.join().status()).as(answer.join().text()).isEqualTo(200);
        var meta = answer.join().json().get("meta_info");
        assertThat(meta.get("completion_tokens").asInt()).isEqualTo(3);
        assertThat(meta.get("prompt_tokens").asInt()).isEqualTo(NUM_PROMPT);
        // The first half ends with the first token, as process_disagg_prefill_inflight_queue has it.
        var ofPrefill = (isPrefillFirst ? first : second).join();
        assertThat(ofPrefill.status()).as(ofPrefill.text()).isEqualTo(200);
        assertThat(ofPrefill.json().at("/meta_info/completion_tokens").asInt()).isEqualTo(1);
    }

    @Test
    void listOfPrompts_hasListsOfRooms() {
        var call = Sidecar.JSON.createObjectNode();
        call.putArray("text").add("Hello").add("Good morning");
        call.putObject("sampling_params").put("max_new_tokens", 2).put("ignore_eos", true);
        call.putArray("bootstrap_host").add("127.0.0.1").add("127.0.0.1");
        call.putArray("bootstrap_port").add(bootstrapPort()).add(bootstrapPort());
        call.putArray("bootstrap_room").add(Long.MAX_VALUE).add(12);

        var first = send(prefill, "/generate", call);
        var answer = send(decode, "/generate", call);
        prefill.awaitRequests(2);
        decode.awaitRequests(2);
        moveUntil(answer, Duration.ofMillis(5));

        assertThat(answer.join().status()).as(answer.join().text()).isEqualTo(200);
        assertThat(answer.join().json()).hasSize(2);
        assertThat(first.join().json()).hasSize(2);
    }

    @Test
    void chat_takesRoomsToo() {
        var call = Sidecar.JSON.createObjectNode().put("max_tokens", 2).put("ignore_eos", true);
        call.putArray("messages").addObject().put("role", "user").put("content", "Hello");
        inRoom(call, 3);

        assertThat(send(prefill, "/v1/chat/completions", call)).isNotNull();
        var answer = send(decode, "/v1/chat/completions", call);
        prefill.awaitRequests(1);
        decode.awaitRequests(1);
        moveUntil(answer, Duration.ofMillis(5));

        assertThat(answer.join().json().at("/usage/completion_tokens").asInt()).isEqualTo(2);
    }

    /** {@code Scheduler.handle_generate_request}; tested by SGLang's {@code test_missing_bootstrap_returns_400}. */
    @ParameterizedTest
    @CsvSource({"false, /generate", "true, /generate", "true, /v1/chat/completions"})
    void callWithoutRoom_isRefused(boolean isDecode, String path) {
        var call = Sidecar.JSON.createObjectNode().put("text", "Hello");
        call.putArray("messages").addObject().put("role", "user").put("content", "Hello");

        var reply = send(isDecode ? decode : prefill, path, call).join();

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.text()).contains("Disaggregated request received without bootstrap room id");
    }

    /** {@code CommonKVReceiver._check_waiting_timeout}. */
    @Test
    void decodeWithoutItsPrefill_failsAfterTheWaitingTimeout() {
        var reply = send(decode, "/generate", generate(9));
        decode.awaitRequests(1);

        // It begins when the other process has said that it is there, while the clock goes on.
        assertThat(moveUntil(reply, Duration.ofSeconds(1))).isBetween(300.0, 400.0);

        assertThat(reply.join().status()).isEqualTo(500);
        assertThat(reply.join().text())
                .contains("Decode transfer failed for request rank=0")
                .contains(
                        "KVTransferError(bootstrap_room=9): Request 9 timed out after 300.0s in KVPoll.WaitingForInput");
        decode.check().hasFailed(1);
    }

    /** {@code CommonKVSender._check_bootstrap_timeout}. */
    @Test
    void prefillWithoutItsDecode_failsAfterTheBootstrapTimeout() {
        var reply = send(prefill, "/generate", generate(9));
        prefill.awaitRequests(1);

        moveUntil(reply, Duration.ofSeconds(1));

        assertThat(reply.join().status()).isEqualTo(500);
        assertThat(reply.join().text())
                .contains("Prefill bootstrap failed for request rank=0 req.bootstrap_room=9")
                .contains("Request 9 timed out after 300.0s in KVPoll.Bootstrapping");
        prefill.check().hasFailed(1);
    }

    /** {@code DecodePreallocQueue._ensure_prefill_info}: 15 attempts, one in a second. */
    @Test
    void decodeWhoseBootstrapServerIsNotThere_fails() throws IOException {
        int nobody;
        try (var socket = new ServerSocket(0)) {
            nobody = socket.getLocalPort();
        }
        var reply = send(decode, "/generate", generate(9).put("bootstrap_port", nobody));
        decode.awaitRequests(1);

        assertThat(moveUntil(reply, Duration.ofMillis(100))).isBetween(14.0, 60.0);

        assertThat(reply.join().status()).isEqualTo(500);
        assertThat(reply.join().text())
                .contains("Decode handshake failed for request rank=0")
                .contains("Could not fetch prefill parallel info from 127.0.0.1:" + nobody + " after 15 attempts");
    }

    @Test
    void prefillThatCrashes_takesTheOtherHalfWithIt() {
        assertThat(send(prefill, "/generate", generate(7))).isNotNull();
        var answer = send(decode, "/generate", generate(7));
        prefill.awaitRequests(1);
        decode.awaitRequests(1);
        Waiting.until(() -> {
            prefill.advance(Duration.ofMillis(5));
            decode.advance(Duration.ofMillis(5));
            return prefill.nowNanos() > 1_000_000_000;
        });
        prefill.inject(new Fault.Crash(0));
        moveUntil(answer, Duration.ofMillis(5));

        assertThat(answer.join().status()).isEqualTo(500);
        assertThat(answer.join().text()).contains("Decode transfer failed");
    }

    @Test
    void clientThatGivesUp_endsTheOtherHalf() {
        var first = send(prefill, "/generate", generate(7).put("rid", "r"));
        var answer = send(decode, "/generate", generate(7).put("rid", "r"));
        prefill.awaitRequests(1);
        decode.awaitRequests(1);
        Waiting.until(() -> {
            prefill.advance(Duration.ofMillis(5));
            decode.advance(Duration.ofMillis(5));
            return prefill.nowNanos() > 1_000_000_000;
        });
        assertThat(send(
                        decode,
                        "/abort_request",
                        Sidecar.JSON.createObjectNode().put("rid", "r")))
                .isNotNull();
        moveUntil(first, Duration.ofMillis(5));

        assertThat(first.join().status()).isEqualTo(500);
        assertThat(first.join().text()).contains("Prefill transfer failed").contains("Aborted by AbortReq.");
        assertThat(answer.join().json().at("/meta_info/finish_reason/type").asText())
                .isEqualTo("abort");
    }

    /** {@code FAKE_BOOTSTRAP_HOST} of {@code disaggregation/utils.py}, with which a server warms up alone. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void fakeHost_needsNoOtherHalf(boolean isDecode) {
        var server = isDecode ? decode : prefill;
        var reply = send(server, "/generate", generate(0).put("bootstrap_host", "2.2.2.2"));
        server.awaitRequests(1);
        moveUntil(reply, Duration.ofMillis(5));

        assertThat(reply.join().status()).as(reply.join().text()).isEqualTo(200);
        assertThat(reply.join().json().at("/meta_info/completion_tokens").asInt())
                .isEqualTo(isDecode ? 3 : 1);
    }

    /** One process with replicas of both roles, each at its own port; the router inside pairs the calls of the cluster's port. */
    @Test
    void oneProcess_hasBothRolesAtPortsOfTheirOwn() {
        String settings = SETTINGS + "server.ports-per-replica = true\nclock.speed = 4\n"
                + "cluster.groups = [{ name = p, role = prefill }, { name = d, role = decode }]\n";
        try (var both = EmulatedCluster.serve(settings)) {
            var call = generate(7)
                    .put("bootstrap_port", both.server().sideChannelPort().orElseThrow());
            var ports = both.server().replicaAddresses();
            var first = router.post(
                    URI.create("http://127.0.0.1:" + ports.get(0).getPort() + "/generate"), call.toString());
            var answer = router.post(
                    URI.create("http://127.0.0.1:" + ports.get(1).getPort() + "/generate"), call.toString());

            assertThat(answer.join().status()).as(answer.join().text()).isEqualTo(200);
            assertThat(first.join().status()).as(first.join().text()).isEqualTo(200);

            call.remove("bootstrap_room");
            var paired = router.post(both.uri().resolve("/generate"), call.toString())
                    .join();
            assertThat(paired.status()).as(paired.text()).isEqualTo(200);
        }
    }

    /** {@code CommonKVBootstrapServer}. */
    @Test
    void bootstrapServer_answersAsSglangs() {
        String all = "/route?prefill_dp_rank=-1&prefill_cp_rank=-1&target_tp_rank=-1&target_pp_rank=-1";
        String ofWorker = "/route?prefill_cp_rank=0&target_tp_rank=0&target_pp_rank=0&prefill_dp_rank=";

        requireAnswer("GET", "/health", "", 200, "OK");
        requireAnswer("GET", "/route", "", 400, "Missing inputs for bootstrap server.");
        requireAnswer("GET", all, "", 200, "\"dp_size\":1,\"pp_size\":1,\"page_size\":1");
        requireAnswer("GET", ofWorker + 0, "", 200, "\"rank_ip\":\"127.0.0.1\"");
        requireAnswer(
                "GET", ofWorker + 1, "", 404, "Bootstrap info not found for dp_rank=1 cp_rank=0 tp_rank=0 pp_rank=0");
        requireAnswer("DELETE", "/route", "", 405, "Method not allowed");
        requireAnswer("PUT", "/route", "{\"attn_tp_size\": 1}", 200, "OK");
        requireAnswer("POST", "/register_dp_rank", "{\"bootstrap_room\": 5, \"dp_rank\": 0}", 200, "OK");
        requireAnswer("POST", "/register_dp_rank", "{}", 500, "500");
        requireAnswer("POST", "/query_dp_ranks", "{\"bootstrap_rooms\": [5, 6]}", 200, "{\"5\":0}");
        requireAnswer("POST", "/query_dp_ranks", "[", 500, "500");
    }

    private void requireAnswer(String method, String path, String body, int status, String words) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bootstrapPort() + path))
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();

        var response =
                CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString()).join();

        assertThat(response.statusCode()).as(path).isEqualTo(status);
        assertThat(response.body()).as(path).contains(words);
    }
}

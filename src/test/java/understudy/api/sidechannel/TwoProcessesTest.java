package understudy.api.sidechannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
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
 * Two served clusters behind a sidecar, of which one computes prompts and the other one answers. Their clocks stand still
 * unless a test moves them.
 *
 * <p>A step takes 5 ms, and 1 ms for each token. A block of 16 tokens has 16 * 131,072 bytes of Llama-3.1-8B, which take
 * 0.1 s at 0.02097152 GB/s.
 */
final class TwoProcessesTest {
    private static final String COMPLETIONS = "/v1/completions";
    private static final int NUM_PROMPT = 64;
    private static final Duration LONG = Duration.ofSeconds(5);

    private static final String SETTINGS = """
        latency { model = linear, api-delay = 0s }
        latency.linear { per-step = 5ms, per-token = 1ms, per-decode-seq = 0ns, per-kv-token = 0ns }
        engine { max-model-len = 2048, max-num-batched-tokens = 2048 }
        kv-cache { num-gpu-blocks = 200 }
        kv-cache.transfer { kv-connector = nixl, bandwidth = 0.02097152, post = 0s, notify = 0s, lease-heartbeats = false }
        server.served-model-name = m
        """;

    private final Sidecar sidecar = new Sidecar();
    private final EmulatedCluster prefill = EmulatedCluster.servePaused(SETTINGS);
    private EmulatedCluster decode = EmulatedCluster.servePaused(SETTINGS);
    private long numPrefills;

    @AfterEach
    void close() {
        prefill.close();
        decode.close();
    }

    private void decodeWith(String settings) {
        decode.close();
        decode = EmulatedCluster.servePaused(SETTINGS + settings);
    }

    private static ObjectNode call() {
        var call = Sidecar.JSON.createObjectNode().put("max_tokens", 3).put("ignore_eos", true);
        IntStream.range(0, NUM_PROMPT).forEach(i -> call.withArray("prompt").add(100 + i));
        return call;
    }

    /** Has the first process compute the prompt of a call, and returns its answer. */
    private Sidecar.Reply prefilled(ObjectNode call) {
        var reply = sidecar.prefill(prefill.uri(), COMPLETIONS, call);
        prefill.awaitRequests(++numPrefills);
        prefill.advance(Duration.ofSeconds(1));
        return reply.join();
    }

    /** Moves the clock of the answering process, once its words have been answered, until a call is. */
    private Sidecar.Reply decoded(CompletableFuture<Sidecar.Reply> reply) {
        decode.awaitRequests(1);
        Waiting.until(() -> {
            decode.advance(Duration.ofMillis(1));
            return reply.isDone();
        });
        return reply.join();
    }

    private double ttftSeconds() {
        Waiting.until(() -> decode.metric("vllm:time_to_first_token_seconds_count", "") == 1);
        return decode.metric("vllm:time_to_first_token_seconds_sum", "");
    }

    private double promptTokens(String source) {
        return decode.metric("vllm:prompt_tokens_by_source_total", "source=\"" + source + "\"");
    }

    /** Tokens of all steps; the first of an answer comes with the prompt's last one, each other one is computed itself. */
    private double computedTokens() {
        return decode.metric("vllm:iteration_tokens_total_sum", "");
    }

    @Test
    void prefill_answersWhereItsBlocksAre_andKeepsThem() {
        var params = prefilled(call()).kvTransferParams();

        // 64 tokens fill four blocks; of the one output token there is no KV.
        assertThat(params.get("remote_block_ids")).hasSize(1);
        assertThat(params.get("remote_block_ids").get(0)).hasSize(4).allMatch(JsonNode::isInt);
        assertThat(params.fieldNames())
                .toIterable()
                .containsExactly(
                        "do_remote_prefill",
                        "do_remote_decode",
                        "remote_block_ids",
                        "remote_engine_id",
                        "remote_request_id",
                        "remote_host",
                        "remote_port",
                        "tp_size",
                        "remote_num_tokens",
                        "remote_blocks_expiry_time",
                        "transfer_mode");
        assertThat(params.get("do_remote_prefill").asBoolean()).isTrue();
        assertThat(params.get("do_remote_decode").asBoolean()).isFalse();
        assertThat(params.get("remote_num_tokens").asInt()).isEqualTo(NUM_PROMPT);
        assertThat(params.get("remote_host").asText()).isEqualTo("127.0.0.1");
        assertThat(params.get("transfer_mode").asText()).isEqualTo("pull");
        assertThat(sidecar.isKept("look", params)).isTrue();
    }

    @Test
    void decode_readsThePrompt_andComputesOneTokenOfIt() {
        var params = prefilled(call()).kvTransferParams();
        var reply = sidecar.decode(decode.uri(), COMPLETIONS, call(), params);
        decode.awaitRequests(1);

        // 4 blocks of 0.1 s each; nothing else is due before.
        Waiting.until(() -> decode.step() > 0);
        assertThat(decode.nowNanos()).isEqualTo(400_000_000);
        decode.advance(LONG);

        assertThat(reply.join().status()).isEqualTo(200);
        assertThat(reply.join().json().at("/usage/completion_tokens").asInt()).isEqualTo(3);
        // Then a step of 5 ms + 1 ms for the last token of the prompt.
        assertThat(ttftSeconds()).isCloseTo(0.406, within(1e-9));
        assertThat(promptTokens("external_kv_transfer")).isEqualTo(NUM_PROMPT);
        assertThat(promptTokens("local_compute")).isZero();
        assertThat(computedTokens()).isEqualTo(1 + 2);
        assertThat(decode.metric("vllm:nixl_xfer_time_seconds_sum", "")).isCloseTo(0.4, within(1e-9));
        assertThat(decode.metric("vllm:nixl_bytes_transferred_sum", "")).isEqualTo(64 * 131_072);
        Waiting.until(() -> !sidecar.isKept("look", params));
        Waiting.until(() -> prefill.metric("vllm:kv_cache_usage_perc", "") == 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void lostLease_recomputesOrFails(boolean recomputes) {
        decodeWith("kv-cache.transfer.load-failure-policy = " + (recomputes ? "recompute" : "fail"));
        var params = prefilled(call()).kvTransferParams();
        prefill.advance(Duration.ofSeconds(31));
        Waiting.until(() -> prefill.metric("vllm:nixl_num_kv_expired_reqs_total", "") == 1);

        var reply = decoded(sidecar.decode(decode.uri(), COMPLETIONS, call(), params));

        assertThat(reply.status()).isEqualTo(recomputes ? 200 : 500);
        assertThat(decode.metric("vllm:nixl_num_failed_transfers_total", "")).isEqualTo(1);
        if (recomputes) {
            // Nothing is read, and all 64 tokens are computed: 5 ms + 64 ms, and at most the moments of waiting.
            assertThat(decode.metric("vllm:nixl_bytes_transferred_sum", "")).isZero();
            assertThat(ttftSeconds()).isGreaterThanOrEqualTo(0.069);
        }
    }

    /** A block takes 2 s here, so that the read takes 8 s: longer than the lease of 6 s, which a beat each second renews. */
    @Test
    void heartbeats_keepTheBlocks_untilTheReadIsOver() {
        String settings =
                SETTINGS + "clock.speed = 4, kv-cache.transfer { bandwidth = 0.001048576, lease-duration = 6s,"
                        + " lease-heartbeats = true, timeout = 60s }";
        try (var first = EmulatedCluster.serve(settings);
                var second = EmulatedCluster.serve(settings)) {
            var params =
                    sidecar.prefill(first.uri(), COMPLETIONS, call()).join().kvTransferParams();

            var reply =
                    sidecar.decode(second.uri(), COMPLETIONS, call(), params).join();

            assertThat(reply.status()).isEqualTo(200);
            Waiting.until(() -> !sidecar.isKept("look", params));
            assertThat(second.metric("vllm:nixl_num_failed_transfers_total", ""))
                    .isZero();
            assertThat(first.metric("vllm:nixl_num_kv_expired_reqs_total", "")).isZero();
        }
    }

    @Test
    void replicaThatCrashes_losesWhatItKept() {
        decodeWith("kv-cache.transfer.load-failure-policy = recompute");
        var params = prefilled(call()).kvTransferParams();
        prefill.inject(new Fault.Crash(0));

        var reply = decoded(sidecar.decode(decode.uri(), COMPLETIONS, call(), params));

        assertThat(reply.status()).isEqualTo(200);
        assertThat(decode.metric("vllm:nixl_num_failed_transfers_total", "")).isEqualTo(1);
    }

    @Test
    void processThatIsGone_isAFailedRead() {
        decodeWith("kv-cache.transfer.load-failure-policy = recompute");
        var params = (ObjectNode) prefilled(call()).kvTransferParams();

        var reply = decoded(sidecar.decode(decode.uri(), COMPLETIONS, call(), params.put("remote_port", 9)));

        assertThat(reply.status()).isEqualTo(200);
        assertThat(decode.metric("vllm:nixl_num_failed_transfers_total", "")).isEqualTo(1);
    }

    /** A server of another kind, such as one that never ends its answer, is no process that keeps anything. */
    @Test
    void strangeServer_isAFailedRead() throws IOException {
        decodeWith("kv-cache.transfer.load-failure-policy = recompute");
        var params = (ObjectNode) prefilled(call()).kvTransferParams();
        var strange = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        strange.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(new byte[1 << 16]);
            exchange.getResponseBody().flush();
        });
        strange.start();
        try {
            int port = strange.getAddress().getPort();
            var reply = decoded(sidecar.decode(decode.uri(), COMPLETIONS, call(), params.put("remote_port", port)));

            assertThat(reply.status()).isEqualTo(200);
            assertThat(decode.metric("vllm:nixl_num_failed_transfers_total", ""))
                    .isEqualTo(1);
        } finally {
            strange.stop(0);
        }
    }

    /** A call names the address, so whoever may call would choose where this server sends requests. */
    @ParameterizedTest
    @ValueSource(strings = {"10.1.2.3", "127.0.0.1:9", "10.0.0.0/8, other.example"})
    void serverThatIsNoPeer_isNotAsked(String peers) throws IOException {
        decodeWith("server.side-channel-peers = \"" + peers + "\"");
        var params = (ObjectNode) prefilled(call()).kvTransferParams();
        var numAsked = new AtomicInteger();
        var strange = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        strange.createContext("/", exchange -> {
            numAsked.incrementAndGet();
            exchange.close();
        });
        strange.start();
        try {
            int port = strange.getAddress().getPort();
            var reply = decoded(sidecar.decode(decode.uri(), COMPLETIONS, call(), params.put("remote_port", port)));

            assertThat(reply.status()).isEqualTo(500);
            assertThat(numAsked).hasValue(0);
        } finally {
            strange.stop(0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "host_name", "nowhere.invalid", "[", "::1", "127.0.0.1/x?y"})
    void hostThatCannotBeReached_isAFailedRead(String host) {
        decodeWith("kv-cache.transfer.load-failure-policy = recompute");
        var params = (ObjectNode) prefilled(call()).kvTransferParams();

        var reply = decoded(sidecar.decode(decode.uri(), COMPLETIONS, call(), params.put("remote_host", host)));

        assertThat(reply.status()).isEqualTo(200);
        assertThat(decode.metric("vllm:nixl_num_failed_transfers_total", "")).isEqualTo(1);
    }

    @Test
    void restartedProcess_keepsNothingOfTheOneBefore() {
        decodeWith("kv-cache.transfer.load-failure-policy = recompute");
        var params = (ObjectNode) prefilled(call()).kvTransferParams();

        var reply = decoded(
                sidecar.decode(decode.uri(), COMPLETIONS, call(), params.put("remote_engine_id", "another_dp0")));

        assertThat(reply.status()).isEqualTo(200);
        assertThat(decode.metric("vllm:nixl_num_failed_transfers_total", "")).isEqualTo(1);
    }

    @Test
    void chat_isHandedOverLikewise_andStreams() {
        var call = Sidecar.JSON.createObjectNode().put("stream", true).put("max_tokens", 3);
        call.putArray("messages").addObject().put("role", "user").put("content", "Tell me of the sea.");
        var first = sidecar.prefill(prefill.uri(), "/v1/chat/completions", call);
        prefill.awaitRequests(1);
        prefill.advance(LONG);

        var reply = decoded(sidecar.decode(
                decode.uri(), "/v1/chat/completions", call, first.join().kvTransferParams()));

        assertThat(reply.text()).endsWith("data: [DONE]\n\n");
        assertThat(promptTokens("local_compute")).isZero();
        assertThat(computedTokens()).isEqualTo(1 + 2);
    }

    @Test
    void responses_areHandedOverLikewise() {
        var call = Sidecar.JSON
                .createObjectNode()
                .put("input", "Tell me of the sea.")
                .put("max_output_tokens", 1);
        call.putObject("kv_transfer_params").put("do_remote_decode", true);
        var first = sidecar.post(prefill.uri().resolve("/v1/responses"), call.toString());
        prefill.awaitRequests(1);
        prefill.advance(LONG);
        call.put("max_output_tokens", 3);

        var params = first.join().kvTransferParams();
        var reply = decoded(sidecar.decode(decode.uri(), "/v1/responses", call, params));

        assertThat(reply.status()).isEqualTo(200);
        assertThat(computedTokens()).isBetween(1.0, 3.0);
        assertThat(promptTokens("local_compute")).isZero();
    }

    @Test
    void streamedPrefill_keepsItsBlocks() {
        var call = call().put("max_tokens", 1).put("stream", true);
        call.putObject("kv_transfer_params").put("do_remote_decode", true);
        var reply = sidecar.post(prefill.uri().resolve(COMPLETIONS), call.toString());
        prefill.awaitRequests(1);
        prefill.advance(Duration.ofSeconds(1));

        // As in vLLM, whose chunks have no such field.
        assertThat(reply.join().text()).doesNotContain("kv_transfer_params").endsWith("data: [DONE]\n\n");
        assertThat(prefill.metric("vllm:kv_cache_usage_perc", "")).isPositive();
    }

    @Test
    void readThatIsNotWanted_freesTheBlocks() {
        var params = prefilled(call()).kvTransferParams();
        var call = call().put("max_tokens", 4000);

        // More than fits: refused before it gets to a replica, so nobody tells the other process.
        assertThat(sidecar.decode(decode.uri(), COMPLETIONS, call, params)
                        .join()
                        .status())
                .isEqualTo(400);
        assertThat(sidecar.isKept("look", params)).isTrue();

        assertThat(sidecar.isKept("done", params)).isTrue();
        assertThat(sidecar.isKept("look", params)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"do_remote_prefill":true}                                                | remote_block_ids
        {"do_remote_prefill":true,"remote_block_ids":[[1]]}                       | remote_port
        {"do_remote_prefill":true,"remote_block_ids":[[1]],"remote_port":70000}   | remote_port
        {"do_remote_prefill":true,"remote_block_ids":[[1]],"remote_port":1}       | remote_engine_id
        {"do_remote_prefill":true,"do_remote_decode":true}                        | do_remote_prefill
        {"do_remote_decode":7}                                                    | do_remote_decode
        [1]                                                                       | kv_transfer_params
        """)
    void fieldsThatMakeNoSense_areRefused(String params, String named) throws Exception {
        var reply = sidecar.decode(decode.uri(), COMPLETIONS, call(), Sidecar.JSON.readTree(params))
                .join();

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/param").asText()).contains(named);
    }
}

package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import org.apache.commons.rng.UniformRandomProvider;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.workload.RandomStreams;

/** Requests that nobody should send: each is answered, none by an error of the server, and nothing is left behind. */
final class HostileRequestsTest {
    private static final int NUM_REQUESTS = Integer.getInteger("understudy.hostile-requests", 1500);
    private static final List<String> PATHS =
            List.of("/v1/chat/completions", "/v1/completions", "/v1/responses", "/tokenize", "/detokenize", "/nowhere");
    private static final List<String> KEYS = List.of(
            "prompt",
            "messages",
            "input",
            "tokens",
            "model",
            "n",
            "max_tokens",
            "max_completion_tokens",
            "min_tokens",
            "stop",
            "stop_token_ids",
            "stream",
            "stream_options",
            "logprobs",
            "top_logprobs",
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "seed",
            "priority",
            "cache_salt",
            "echo",
            "suffix",
            "tools",
            "tool_choice",
            "response_format",
            "ignore_eos",
            "truncate_prompt_tokens",
            "prompt_logprobs",
            "request_id",
            "logit_bias",
            "continue_final_message",
            "add_generation_prompt",
            "text",
            "instructions",
            "previous_response_id",
            "include",
            "background",
            "metadata",
            "reasoning",
            "truncation");
    private static final List<String> VALUES = List.of(
            "null",
            "true",
            "false",
            "0",
            "-1",
            "1",
            "3",
            "1e400",
            "1e-400",
            "99999999999999999999",
            "0.5",
            "\"\"",
            "\"x\"",
            "\"\\ud800\"",
            "\"a b c\"",
            "[]",
            "[[]]",
            "[1,2,3]",
            "[-5]",
            "[\"a\",\"b\"]",
            "[null]",
            "{}",
            "{\"role\":\"user\"}",
            "[{\"role\":\"user\",\"content\":\"hi\"}]",
            "[{\"role\":5,\"content\":{}}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]",
            "{\"type\":\"json_object\"}",
            "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"type\":\"nothing\",\"$ref\":\"#/x\"}}}",
            "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"$ref\":\"#\"}}}]",
            "\"required\"",
            "\"auto\"",
            "{\"include_usage\":true}",
            "{\"format\":{\"type\":\"json_object\"}}");

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private final UniformRandomProvider random = new RandomStreams(11).stream("hostile-requests");

    @Test
    void noneIsAnsweredByAnErrorOfTheServer() throws IOException {
        server.speed = 1000;
        server.start();
        var byStatus = new TreeMap<Integer, Integer>();
        for (int i = 0; i < NUM_REQUESTS; i++) {
            String path = pick(PATHS);
            String body = body();
            if (random.nextInt(20) == 0) {
                halfClosed(path, body);
                continue;
            }
            var reply = server.post(path, body);

            byStatus.merge(reply.status(), 1, Integer::sum);
            assertThat(reply.status()).as(path + " " + body).isLessThan(500);
        }

        // The mix reaches the model now and then, or it would show little.
        assertThat(byStatus.keySet()).contains(200, 400, 404);
        server.awaitMetric("understudy_calls_in_flight", "", count -> count == 0);
        server.awaitMetric("vllm:num_requests_running", "", count -> count == 0);
        server.awaitMetric("vllm:kv_cache_usage_perc", "", usage -> usage == 0);
        assertThat(server.server().whenFailed()).isNotDone();
    }

    @Test
    void deepNesting_isRefused() {
        server.start();

        var reply = server.post("/v1/completions", "{\"prompt\": " + "[".repeat(50_000) + "]".repeat(50_000) + "}");

        assertThat(reply.status()).isEqualTo(400);
    }

    @Test
    void slowBody_isNotWaitedForForever() throws IOException {
        server.start();
        try (var socket = connect()) {
            write(
                    socket,
                    "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                            + "Content-Length: 100\r\n\r\n{");

            // The fixture's server waits for five seconds.
            String answer = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            assertThat(answer).isEqualTo("HTTP/1.1 408");
        }
    }

    private String body() {
        return switch (random.nextInt(12)) {
            case 0 -> garbage();
            case 1 -> object().substring(1);
            case 2 -> pick(VALUES);
            case 3 -> "{\"prompt\": \"" + "word ".repeat(random.nextInt(3000)) + "\"}";
            default -> object();
        };
    }

    private String object() {
        var body = new StringBuilder("{\"max_tokens\": 5, \"prompt\": \"x\", \"input\": \"x\", \"messages\":"
                + " [{\"role\": \"user\", \"content\": \"hi\"}]");
        int numFields = random.nextInt(4);
        for (int i = 0; i < numFields; i++) {
            body.append(", \"").append(pick(KEYS)).append("\": ").append(pick(VALUES));
        }
        return body.append('}').toString();
    }

    private String garbage() {
        var text = new StringBuilder();
        int length = random.nextInt(60);
        for (int i = 0; i < length; i++) {
            text.append((char) (1 + random.nextInt(0x2FF)));
        }
        return text.toString();
    }

    /** Sends half of a request, or all of it, and goes away. */
    private void halfClosed(String path, String body) throws IOException {
        try (var socket = connect()) {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            write(
                    socket,
                    "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                            + (bytes.length + random.nextInt(2)) + "\r\n\r\n" + body);
            socket.shutdownOutput();
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("Broken pipe");
        }
    }

    private Socket connect() throws IOException {
        return new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort());
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}

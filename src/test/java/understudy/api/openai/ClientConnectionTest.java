package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.Waiting;
import understudy.api.ServerFixture;
import understudy.api.call.ApiContext;
import understudy.api.call.Call;
import understudy.api.call.Generation;
import understudy.api.call.GenerationParams;
import understudy.api.call.ServerState;
import understudy.api.http.Arrival;
import understudy.api.http.ClientConnection;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.model.Answers;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.routing.Role;

/** Clients that go away before their call has got anywhere, and calls that come when the server is about to. */
final class ClientConnectionTest {
    private static final String COMPLETIONS = "/v1/completions";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @Test
    void answersBehindAnother_areForgottenWithTheirConnection() throws IOException {
        server.speed = 1;
        server.start();
        String body = "{\"prompt\": \"x\", \"max_tokens\": %d, \"ignore_eos\": true, \"stream\": true}";
        var sockets = new ArrayList<Socket>();
        for (int i = 0; i < 20; i++) {
            // The later answers are complete at once, and wait for the first one, which takes ten seconds.
            var socket = connect();
            String requests = request(body.formatted(2000)) + request(body.formatted(2));
            socket.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
            sockets.add(socket);
        }
        server.awaitMetric("vllm:request_success_total", "reason=\"length\"", count -> count == 20);
        assertThat(server.metric("understudy_calls_in_flight", "")).isEqualTo(40);

        for (var socket : sockets) {
            // With a reset, as when a client dies that has not read everything.
            socket.setSoLinger(true, 0);
            socket.close();
        }

        server.awaitMetric("vllm:request_success_total", "reason=\"abort\"", count -> count == 20);
        server.awaitMetric("understudy_calls_in_flight", "", count -> count == 0);
        server.awaitMetric("http_requests_total", "completions", count -> count == 40);
    }

    @Test
    void callOfAClientThatIsGone_isNeverSent() {
        server.start();
        var api = server.server().api();
        var connection = new ClientConnection(() -> {});
        connection.close();

        var call = new Call(api.link(), event -> {});
        connection.carry(call);
        call.start(List.of(spec(api)), Arrival.of(HttpRequest.create(), 0));

        assertThat(call.closed().toCompletableFuture()).isDone();
        assertThat(api.link().newestInFlight(1)).isEmpty();
    }

    @Test
    void requestWhoseBodyComesWhileDraining_isRefused() throws Exception {
        server.speed = 1;
        server.drainTimeout = Duration.ofSeconds(2);
        server.start();
        String body = "{\"prompt\": \"x\", \"max_tokens\": 1}";
        try (var inFlight = connect();
                var late = connect()) {
            inFlight.getOutputStream()
                    .write(request("{\"prompt\": \"x\", \"max_tokens\": 2000, \"ignore_eos\": true}")
                            .getBytes(StandardCharsets.US_ASCII));
            server.awaitMetric("vllm:num_requests_running", "", running -> running == 1);
            String head = request(body).replace("\r\n\r\n" + body, "\r\nExpect: 100-continue\r\n\r\n");
            late.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            var answer = new BufferedReader(new InputStreamReader(late.getInputStream(), StandardCharsets.US_ASCII));
            assertThat(answer.readLine()).isEqualTo("HTTP/1.1 100 Continue");

            var drained = CompletableFuture.runAsync(server.server()::drain);
            Waiting.until(() -> server.server().api().state().phase() == ServerState.Phase.DRAINING);
            late.getOutputStream().write(body.getBytes(StandardCharsets.US_ASCII));

            assertThat(answer.lines().dropWhile(line -> !line.isEmpty()).skip(1).findFirst())
                    .contains("HTTP/1.1 503 Service Unavailable");
            drained.get();
        }
    }

    private Socket connect() throws IOException {
        return new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort());
    }

    private static Generation.Spec spec(ApiContext api) {
        var model = api.settings().model();
        var tokenizer = model.tokenizer().load();
        var body = new JsonBody(Json.object().put("max_tokens", 1000).put("ignore_eos", true));
        var prompt = new EncodedPrompt(new TokenIds(new int[] {1, 2, 3}), "x", true);
        return new SpecBuilder(
                        api.settings(),
                        api.link(),
                        api.loras(),
                        tokenizer,
                        new Answers(tokenizer, model),
                        OptionalInt.empty(),
                        Role.BOTH,
                        PromptLimit.OF_VLLM)
                .build(
                        "name",
                        List.of(prompt),
                        GenerationParams.read(body, List.of("max_tokens"), null, -1),
                        SpecBuilder.Shape.TEXT,
                        SessionTurn.NONE)
                .get(0);
    }

    private static String request(String body) {
        return "POST " + COMPLETIONS
                + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }
}

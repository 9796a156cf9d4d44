package understudy.chaos.gateway.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import understudy.chaos.gateway.GatewayUnderTest.Running;
import understudy.chaos.gateway.GatewayUnderTest.Setup;

@Timeout(60)
final class ReferenceGatewayTest {
    private static final String WHOLE = "data: a\n\ndata: b\n\ndata: [DONE]\n\n";

    private final ScriptedReplica one = new ScriptedReplica(ReferenceGatewayTest::whole);
    private final ScriptedReplica two = new ScriptedReplica(ReferenceGatewayTest::whole);

    @TempDir
    Path directory;

    @AfterEach
    void closeReplicas() throws IOException {
        one.close();
        two.close();
    }

    private static void whole(ScriptedReplica.Call call) throws IOException {
        call.stream().event("a").event("b").event("[DONE]").end();
    }

    private static void broken(ScriptedReplica.Call call) throws IOException {
        call.stream().event("a").pause();
    }

    private static void refusing(ScriptedReplica.Call call) throws IOException {
        call.write("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy");
    }

    @Test
    void streamIsPassedOnWhole() throws Exception {
        try (var gateway = start(WrongDecision.NONE)) {
            var response = call(gateway);

            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("content-type")).hasValue("text/event-stream");
            assertThat(response.body()).isEqualTo(WHOLE);
            assertThat(one.numCalls.get() + two.numCalls.get()).isEqualTo(1);
        }
    }

    @Test
    void callFailsOverWhenNoByteWasSent() throws Exception {
        one.answersWith(call -> {});
        try (var gateway = start(WrongDecision.NONE)) {
            assertThat(call(gateway).body()).isEqualTo(WHOLE);
            assertThat(one.numCalls).hasValue(1);
            assertThat(two.numCalls).hasValue(1);
        }
    }

    @Test
    void streamThatBreaksIsBrokenForTheClient() throws Exception {
        one.answersWith(ReferenceGatewayTest::broken);
        try (var gateway = start(WrongDecision.NONE)) {
            assertThatThrownBy(() -> call(gateway)).isInstanceOf(IOException.class);
            assertThat(two.numCalls).hasValue(0);
        }
    }

    /** As of a sidecar whose engine is down. */
    @Test
    void refusalWithoutABodyIsTriedElsewhere() throws Exception {
        one.answersWith(call -> call.write("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"));
        try (var gateway = start(WrongDecision.NONE)) {
            assertThat(call(gateway).body()).isEqualTo(WHOLE);
            assertThat(two.numCalls).hasValue(1);
        }
    }

    @Test
    void wrongGatewayBeginsTheStreamAgain() throws Exception {
        one.answersWith(ReferenceGatewayTest::broken);
        try (var gateway = start(WrongDecision.RETRY_AFTER_FIRST_BYTE)) {
            assertThat(call(gateway).body()).isEqualTo("data: a\n\n" + WHOLE);
        }
    }

    @Test
    void wrongGatewayHidesThatTheStreamBroke() throws Exception {
        one.answersWith(ReferenceGatewayTest::broken);
        try (var gateway = start(WrongDecision.SWALLOWS_STREAM_ERRORS)) {
            assertThat(call(gateway).body()).isEqualTo("data: a\n\ndata: [DONE]\n\n");
        }
    }

    @Test
    void refusalReachesTheClientAndIsRemembered() throws Exception {
        one.answersWith(ReferenceGatewayTest::refusing);
        two.answersWith(ReferenceGatewayTest::refusing);
        try (var gateway = start(WrongDecision.NONE)) {
            var first = call(gateway);
            assertThat(first.statusCode()).isEqualTo(429);
            assertThat(first.headers().firstValue("retry-after")).hasValue("7");
            assertThat(first.body()).isEqualTo("busy");

            var second = call(gateway);
            assertThat(second.statusCode()).isEqualTo(503);
            assertThat(second.headers().firstValueAsLong("retry-after").orElseThrow())
                    .isBetween(1L, 7L);
            assertThat(one.numCalls).hasValue(1);
            assertThat(two.numCalls).hasValue(1);
        }
    }

    @Test
    void clientThatLeavesBeforeTheHeadEndsTheRequest() throws Exception {
        one.answersWith(call -> {
            call.awaitClosed();
            one.wasLeft.countDown();
        });
        try (var gateway = start(WrongDecision.NONE)) {
            try (var client = send(gateway)) {
                awaitCall(one);
                assertThat(client.isConnected()).isTrue();
            }
            assertThat(one.wasLeft.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(two.numCalls).hasValue(0);
        }
    }

    @Test
    void clientThatLeavesWithinTheStreamEndsTheRequest() throws Exception {
        one.answersWith(call -> {
            call.stream().event("a");
            call.awaitClosed();
            one.wasLeft.countDown();
        });
        try (var gateway = start(WrongDecision.NONE)) {
            try (var client = send(gateway)) {
                assertThat(client.getInputStream().read()).isEqualTo('H');
            }
            assertThat(one.wasLeft.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void wrongGatewayLetsTheRequestRunOn() throws Exception {
        one.answersWith(call -> {
            call.stream().event("a");
            call.awaitClosed();
            one.wasLeft.countDown();
        });
        try (var gateway = start(WrongDecision.RUNS_ON)) {
            try (var client = send(gateway)) {
                assertThat(client.getInputStream().read()).isEqualTo('H');
            }
            assertThat(one.wasLeft.await(1, TimeUnit.SECONDS)).isFalse();
        }
    }

    private Running start(WrongDecision wrong) throws IOException, InterruptedException {
        int port;
        try (var free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        var setup = new Setup(port, List.of(one.backend("one"), two.backend("two")), directory, null);
        var gateway = new ReferenceGateway(wrong).start(setup);
        var health = HttpRequest.newBuilder(gateway.uri().resolve("/health")).build();
        while (HttpClient.newHttpClient()
                        .send(health, BodyHandlers.discarding())
                        .statusCode()
                != 200) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        // Both have been probed, so that the first one, which is chosen among equals, is known.
        TimeUnit.MILLISECONDS.sleep(300);
        return gateway;
    }

    private static HttpResponse<String> call(Running gateway) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(gateway.uri().resolve("/v1/completions"))
                .POST(BodyPublishers.ofString("{\"prompt\":\"hello\",\"stream\":true}"))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    private static Socket send(Running gateway) throws IOException {
        var client = new Socket(InetAddress.getLoopbackAddress(), gateway.uri().getPort());
        client.getOutputStream()
                .write(("POST /v1/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: 16\r\n\r\n"
                                + "{\"prompt\":\"hey\"}")
                        .getBytes(StandardCharsets.UTF_8));
        return client;
    }

    private static void awaitCall(ScriptedReplica replica) throws InterruptedException {
        while (replica.numCalls.get() == 0) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }
}

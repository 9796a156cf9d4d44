package understudy.chaos.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.Attempt.Ending;
import understudy.chaos.proxy.ReplicaFault.Kind;
import understudy.chaos.wire.BodyParts;
import understudy.chaos.wire.HttpHead;
import understudy.chaos.wire.Wire;
import understudy.runtime.Stopwatch;

/** Each fault, over a real socket, in front of an engine that is always well. */
final class InterposerTest {
    private static final double LIMIT_SECONDS = 10;

    private final AttemptLog log = new AttemptLog(Stopwatch.start());
    private ScriptedEngine engine;
    private Interposer replica;

    @BeforeEach
    void start() throws IOException {
        engine = new ScriptedEngine();
        replica = new Interposer("r", 0, new AtomicLong(), null, log);
        replica.forwardTo(engine.address());
    }

    @AfterEach
    void stop() {
        replica.close();
        engine.close();
    }

    /** What a gateway sees: the status and the body as far as it came. */
    private record Seen(HttpHead head, String body) {}

    private Wire connect() throws IOException {
        return Wire.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), replica.port()), 1000);
    }

    private static Wire.Waiting limit() {
        return limit(LIMIT_SECONDS);
    }

    private static Wire.Waiting limit(double seconds) {
        var waiting = Stopwatch.start();
        return () -> {
            if (waiting.seconds() > seconds) {
                throw new IOException("nothing comes");
            }
        };
    }

    private static void send(Wire wire, String method, String path, String body) throws IOException {
        String head = method + " " + path + " HTTP/1.1\r\nHost: r\r\nContent-Length: " + body.length() + "\r\n\r\n";
        wire.send((head + body).getBytes(StandardCharsets.US_ASCII));
    }

    private static void generate(Wire wire, boolean isStreamed) throws IOException {
        String text = "{\"model\":\"chaos-model\",\"prompt\":\"call-0001\",\"stream\":" + isStreamed + "}";
        send(wire, "POST", "/v1/chat/completions", text);
    }

    private static HttpHead head(Wire wire) throws IOException {
        var head = HttpHead.read(wire, limit());
        if (head == null) {
            throw new EOFException("no head");
        }
        return head;
    }

    private static Seen read(Wire wire) throws IOException {
        var head = head(wire);
        var parts = BodyParts.ofResponse(head, "POST", wire);
        var body = new StringBuilder();
        for (byte[] part = parts.next(limit()); part.length > 0; part = parts.next(limit())) {
            body.append(new String(part, StandardCharsets.UTF_8));
        }
        return new Seen(head, body.toString());
    }

    private Seen get(String path) throws IOException {
        try (var wire = connect()) {
            send(wire, "GET", path, "");
            return read(wire);
        }
    }

    private Seen whole() throws IOException {
        try (var wire = connect()) {
            generate(wire, false);
            return read(wire);
        }
    }

    /** Waits for the end of the only attempt, which comes a moment after that of its response. */
    private Attempt attempt() throws IOException {
        var limit = limit();
        while (true) {
            var attempts = log.attempts();
            if (!attempts.isEmpty() && attempts.get(attempts.size() - 1).ending() != Ending.OPEN) {
                return attempts.get(attempts.size() - 1);
            }
            limit.check();
            Thread.onSpinWait();
        }
    }

    private void begin(Kind kind) {
        replica.begin(ReplicaFaultBuilder.builder(ReplicaFault.of(kind))
                .afterEvents(2)
                .build());
    }

    @Test
    void streamIsPassedOnAndRecorded() throws IOException {
        try (var wire = connect()) {
            generate(wire, true);

            String all = "";
            for (int i = 0; i < 4; i++) {
                all += ScriptedEngine.event(i);
            }
            assertThat(read(wire).body()).isEqualTo(all + "data: [DONE]\n\n");
            var attempt = attempt();
            assertThat(attempt.callId()).isEqualTo("call-0001");
            assertThat(attempt.replica()).isEqualTo("r");
            assertThat(attempt.ending()).isEqualTo(Ending.COMPLETED);
            assertThat(attempt.bodyBytes()).isEqualTo(all.length() + "data: [DONE]\n\n".length());
        }
    }

    @Test
    void connectionIsKeptAndUsageRead() throws IOException {
        try (var wire = connect()) {
            generate(wire, false);
            assertThat(read(wire).body()).isEqualTo(ScriptedEngine.WHOLE);
            generate(wire, false);
            assertThat(read(wire).body()).isEqualTo(ScriptedEngine.WHOLE);

            assertThat(log.attempts()).hasSize(2).allSatisfy(attempt -> {
                assertThat(attempt.promptTokens()).isEqualTo(7);
                assertThat(attempt.cachedTokens()).isEqualTo(3);
                assertThat(attempt.connection()).isEqualTo(1);
            });
            assertThat(replica.numOpen()).isEqualTo(1);
        }
    }

    @Test
    void gatewayThatLeavesIsRecordedSo() throws IOException {
        replica.begin(ReplicaFaultBuilder.builder(ReplicaFault.of(Kind.SLOW_BODY))
                .delayMillis(200)
                .build());
        try (var wire = connect()) {
            generate(wire, true);
            head(wire);
        }

        assertThat(attempt().ending()).isEqualTo(Ending.LEFT_BY_GATEWAY);
    }

    @Test
    void refusedPortResetsWhatIsOpenAndOpensAgain() throws IOException {
        try (var wire = connect()) {
            generate(wire, false);
            read(wire);
            replica.begin(ReplicaFault.of(Kind.REFUSE));

            assertThatThrownBy(() -> {
                        generate(wire, false);
                        head(wire);
                    })
                    .isInstanceOf(IOException.class);
        }
        assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);

        replica.end(Kind.REFUSE);
        assertThat(whole().head().status()).isEqualTo(200);
    }

    @Test
    void zombieAnswersNothing() throws IOException {
        begin(Kind.ZOMBIE);
        try (var wire = connect()) {
            send(wire, "GET", "/health", "");
            assertThatThrownBy(() -> HttpHead.read(wire, limit(0.2))).hasMessage("nothing comes");
        }
    }

    @Test
    void stuckReplicaAnswersProbesAlone() throws IOException {
        begin(Kind.STUCK);
        assertThat(get("/health").head().status()).isEqualTo(200);
        try (var wire = connect()) {
            generate(wire, false);
            assertThatThrownBy(() -> HttpHead.read(wire, limit(0.2))).hasMessage("nothing comes");
        }
        assertThat(attempt().ending()).isEqualTo(Ending.BROKEN_BY_FAULT);
    }

    @Test
    void stalledStreamBringsNothingBehindItsFirstEvents() throws IOException {
        begin(Kind.STALL);
        try (var wire = connect()) {
            generate(wire, true);
            var parts = BodyParts.ofResponse(head(wire), "POST", wire);
            assertThat(new String(parts.next(limit()), StandardCharsets.UTF_8)).isEqualTo(ScriptedEngine.event(0));
            assertThat(new String(parts.next(limit()), StandardCharsets.UTF_8)).isEqualTo(ScriptedEngine.event(1));
            assertThatThrownBy(() -> parts.next(limit(0.2))).hasMessage("nothing comes");
        }
    }

    @Test
    void warmingAndDrainingReplicasSaySoAndRefuse() throws IOException {
        for (var kind : List.of(Kind.WARMING, Kind.DRAIN)) {
            begin(kind);
            assertThat(get("/health").head().status()).isEqualTo(503);
            assertThat(whole().head().status()).isEqualTo(503);
            assertThat(attempt().ending()).isEqualTo(Ending.REFUSED);
            replica.end(kind);
            assertThat(get("/health").head().status()).isEqualTo(200);
        }
    }

    @Test
    void refusalHasItsStatusAndRetryAfter() throws IOException {
        replica.begin(ReplicaFaultBuilder.builder(ReplicaFault.of(Kind.STATUS))
                .status(429)
                .retryAfterSeconds(2)
                .every(2)
                .build());

        var seen = whole();
        assertThat(seen.head().status()).isEqualTo(429);
        assertThat(seen.head().header("Retry-After")).contains("2");
        assertThat(attempt().retryAfterSeconds()).hasValue(2);
        // Every second one is struck, beginning with the first.
        assertThat(whole().head().status()).isEqualTo(200);
    }

    @Test
    void resetComesBeforeTheHead() throws IOException {
        begin(Kind.RESET);
        assertThatThrownBy(this::whole).isInstanceOf(SocketException.class);
        assertThat(attempt().status()).isZero();
        assertThat(attempt().ending()).isEqualTo(Ending.BROKEN_BY_FAULT);
    }

    @Test
    void cutStreamEndsBehindItsFirstEvents() throws IOException {
        begin(Kind.CUT);
        try (var wire = connect()) {
            generate(wire, true);
            assertThatThrownBy(() -> read(wire)).isInstanceOf(EOFException.class);
        }
        var attempt = attempt();
        assertThat(attempt.ending()).isEqualTo(Ending.BROKEN_BY_FAULT);
        assertThat(attempt.bodyBytes()).isEqualTo(2L * ScriptedEngine.event(0).length());
    }

    @Test
    void cutBodyEndsInItsMiddle() throws IOException {
        begin(Kind.CUT);
        assertThatThrownBy(this::whole).isInstanceOf(EOFException.class);
        assertThat(attempt().bodyBytes()).isEqualTo(ScriptedEngine.WHOLE.length() / 2);
    }

    @Test
    void streamIsResetInItsMiddle() throws IOException {
        begin(Kind.RESET_MID_STREAM);
        try (var wire = connect()) {
            generate(wire, true);
            assertThatThrownBy(() -> read(wire)).isInstanceOf(IOException.class);
        }
        assertThat(attempt().ending()).isEqualTo(Ending.BROKEN_BY_FAULT);
    }

    @Test
    void truncatedChunkIsShorterThanItSays() throws IOException {
        begin(Kind.TRUNCATED_CHUNK);
        try (var wire = connect()) {
            generate(wire, true);
            int half = ScriptedEngine.event(2).length() / 2;
            assertThatThrownBy(() -> read(wire))
                    .isInstanceOf(EOFException.class)
                    .hasMessage("ended after " + half + " of "
                            + ScriptedEngine.event(2).length() + " bytes");
        }
    }

    @Test
    void brokenJsonIsHalfOfAnEventOrBody() throws IOException {
        begin(Kind.BROKEN_JSON);
        try (var wire = connect()) {
            generate(wire, true);
            String third = ScriptedEngine.event(2);
            assertThat(read(wire).body())
                    .doesNotContain(third)
                    .contains(third.substring(0, third.length() / 2) + "\n\n" + ScriptedEngine.event(3));
        }
        assertThat(whole().body()).isEqualTo(ScriptedEngine.WHOLE.substring(0, ScriptedEngine.WHOLE.length() / 2));
    }

    /** Events 2 and 3 have the same length, so that half of the part that has both is the whole of event 2. */
    @Test
    void brokenJsonIsHalfOfTheLastEventOfAPart() throws IOException {
        engine.joinLastEvents();
        begin(Kind.BROKEN_JSON);
        try (var wire = connect()) {
            generate(wire, true);
            String fourth = ScriptedEngine.event(3);
            assertThat(read(wire).body())
                    .contains(ScriptedEngine.event(2) + fourth.substring(0, fourth.length() / 2) + "\n\ndata: [DONE]");
        }
    }

    @Test
    void brokenEventsAreNotSetApart() throws IOException {
        begin(Kind.BROKEN_SSE);
        try (var wire = connect()) {
            generate(wire, true);
            assertThat(read(wire).body())
                    .contains(ScriptedEngine.event(2).stripTrailing() + "\n" + ScriptedEngine.event(3));
        }
    }

    @Test
    void slowBodyTakesItsTime() throws IOException {
        begin(Kind.SLOW_BODY);
        var taken = Stopwatch.start();
        try (var wire = connect()) {
            generate(wire, true);
            read(wire);
        }
        // Five parts, 50 ms before each.
        assertThat(taken.seconds()).isGreaterThanOrEqualTo(0.25);
    }

    @Test
    void streamWithoutDoneIsWholeButForIt() throws IOException {
        begin(Kind.NO_DONE);
        try (var wire = connect()) {
            generate(wire, true);
            assertThat(read(wire).body()).endsWith(ScriptedEngine.event(3));
        }
    }

    @Test
    void keptConnectionIsClosedUnderTheNextRequest() throws IOException {
        begin(Kind.CLOSE_KEPT);
        try (var wire = connect()) {
            generate(wire, false);
            assertThat(read(wire).head().status()).isEqualTo(200);
            generate(wire, false);
            assertThatThrownBy(() -> read(wire)).isInstanceOf(IOException.class);
        }
        assertThat(log.attempts()).hasSize(2);
        assertThat(attempt().ending()).isEqualTo(Ending.BROKEN_BY_FAULT);
    }

    @Test
    void adapterIsMissingInTheListAndForItsCalls() throws IOException {
        begin(Kind.NO_ADAPTER);
        assertThat(get("/v1/models").body()).contains("chaos-model").doesNotContain("chaos-adapter");
        try (var wire = connect()) {
            send(wire, "POST", "/v1/completions", "{\"model\":\"chaos-adapter\",\"prompt\":\"call-0002\"}");
            assertThat(read(wire).head().status()).isEqualTo(404);
        }
        assertThat(whole().head().status()).isEqualTo(200);
    }

    @Test
    void anotherModelIsListed() throws IOException {
        begin(Kind.WRONG_MODELS);
        assertThat(get("/v1/models").body()).contains("another-model").doesNotContain("chaos-model");
    }

    @Test
    void metricsStandStillOrBeginAgain() throws IOException {
        begin(Kind.STALE_METRICS);
        assertThat(get("/metrics").body()).isEqualTo(ScriptedEngine.METRICS);
        engine.metricsAre("b_total 9\n");
        assertThat(get("/metrics").body()).isEqualTo(ScriptedEngine.METRICS);
        replica.end(Kind.STALE_METRICS);

        begin(Kind.RESTARTED_COUNTERS);
        assertThat(get("/metrics").body()).isEqualTo("b_total 0.0\n");
        engine.metricsAre("b_total 12\n");
        // 12 - 9.
        assertThat(get("/metrics").body()).isEqualTo("b_total 3.0\n");
    }

    @Test
    void seriesVanishOrHaveOtherFigures() throws IOException {
        replica.begin(ReplicaFaultBuilder.builder(ReplicaFault.of(Kind.VANISHED_SERIES))
                .series(Map.of("a", ""))
                .build());
        assertThat(get("/metrics").body()).isEqualTo("# TYPE a gauge\nb_total 7\n");
        replica.end(Kind.VANISHED_SERIES);

        replica.begin(ReplicaFaultBuilder.builder(ReplicaFault.of(Kind.FALSE_METRICS))
                .series(Map.of("a", "NaN"))
                .build());
        assertThat(get("/metrics").body()).isEqualTo("# TYPE a gauge\na{x=\"1\"} NaN\nb_total 7\n");
    }

    @Test
    void metricsHangOrFail() throws IOException {
        begin(Kind.FAILED_METRICS);
        assertThat(get("/metrics").head().status()).isEqualTo(500);
        begin(Kind.HUNG_METRICS);
        try (var wire = connect()) {
            send(wire, "GET", "/metrics", "");
            assertThatThrownBy(() -> HttpHead.read(wire, limit(0.2))).hasMessage("nothing comes");
        }
    }

    @Test
    void engineThatIsGoneIsAReplicaThatResets() throws IOException {
        engine.close();
        assertThatThrownBy(this::whole).isInstanceOf(IOException.class);
        assertThat(attempt().ending()).isEqualTo(Ending.BROKEN_BY_FAULT);
    }
}

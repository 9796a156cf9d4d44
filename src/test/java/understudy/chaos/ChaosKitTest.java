package understudy.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.ClientCall.Ending;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.evidence.ReplicaPhase;
import understudy.chaos.evidence.ReplicaPhase.State;
import understudy.chaos.gateway.RunningGateway;
import understudy.chaos.scenario.ScenarioReader;

/** Whole scenarios; the gateway is the port of the one replica, so the client sees what a gateway would. */
final class ChaosKitTest {
    private static Evidence play(String faults) throws IOException {
        return play("vllm", faults);
    }

    private static Evidence play(String engine, String faults) throws IOException {
        String scenario = "scenarios = [{ name = a, fleet.engines = [" + engine + "], bounds.patience = 2s,"
                + " load = [{ rate = 20, for = 1500ms, words = 10 }], faults = [" + faults + "] }]";
        int port = freePort();
        var gateway = new RunningGateway(URI.create("http://127.0.0.1:" + port));
        try (var kit = new ChaosKit(gateway, List.of(port), 1)) {
            return (Evidence) kit.run(ScenarioReader.text(scenario).get(0)).evidence();
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Test
    void everyCallIsAnsweredWholeIfNothingGoesWrong() throws IOException {
        var evidence = play("");

        // 20 per second for 1.5 s.
        assertThat(evidence.calls()).hasSize(30).allSatisfy(call -> {
            assertThat(call.ending()).isEqualTo(Ending.COMPLETED);
            assertThat(call.received()).isEqualTo(call.expected()).hasSize(10);
        });
        assertThat(evidence.attempts()).hasSize(30).allSatisfy(attempt -> {
            assertThat(attempt.ending()).isEqualTo(Attempt.Ending.COMPLETED);
            assertThat(attempt.status()).isEqualTo(200);
            assertThat(attempt.promptTokens()).isPositive();
            assertThat(attempt.cachedTokens()).isNotNegative();
        });
        assertThat(evidence.attempts().stream().map(Attempt::callId))
                .containsExactlyInAnyOrderElementsOf(
                        evidence.calls().stream().map(ClientCall::id).toList());
        assertThat(evidence.phases()).singleElement().satisfies(phase -> {
            assertThat(phase.state()).isEqualTo(State.UP);
            assertThat(phase.toNanos()).isEqualTo(evidence.durationNanos());
        });
        assertThat(evidence.isGatewayAlive()).isTrue();
    }

    @Test
    void crashCutsStreamsAndRefusesConnectionsUntilTheReplicaIsBack() throws IOException {
        var evidence = play("{ at = 500ms, do = crash, replica = 0, for = 300ms }");

        assertThat(evidence.phases().stream().map(ReplicaPhase::state)).containsExactly(State.UP, State.DEAD, State.UP);
        var dead = evidence.phases().get(1);
        assertThat(dead.fault()).isEqualTo("crash");
        assertThat(evidence.calls())
                .anySatisfy(call -> assertThat(call.ending()).isEqualTo(Ending.UNREACHABLE));
        assertThat(evidence.attempts())
                .filteredOn(attempt -> attempt.ending() == Attempt.Ending.BROKEN_BY_FAULT)
                .isNotEmpty()
                .allSatisfy(attempt -> assertThat(attempt.acceptedNanos()).isLessThan(dead.fromNanos()));
        assertThat(evidence.calls())
                .filteredOn(call -> call.sentNanos() > dead.toNanos())
                .isNotEmpty()
                .allSatisfy(call -> assertThat(call.ending()).isEqualTo(Ending.COMPLETED));
    }

    @Test
    void engineThatAnswersDiesBehindAPromptAndBeforeTheFirstToken() throws IOException {
        var evidence = play("vllm-pd", "{ at = 500ms, do = crash-decode, replica = 0, for = 600ms }");

        assertThat(evidence.phases().stream().map(ReplicaPhase::state)).containsExactly(State.UP, State.DEAD, State.UP);
        var dead = evidence.phases().get(1);
        assertThat(dead.fault()).isEqualTo("crash-decode");
        // It died because of a call, which is told by the address that both engines share, as are later ones.
        assertThat(evidence.attempts())
                .filteredOn(attempt -> attempt.status() == 502)
                .isNotEmpty()
                .allSatisfy(attempt -> {
                    assertThat(attempt.ending()).isEqualTo(Attempt.Ending.REFUSED);
                    assertThat(attempt.firstBodyByteNanos()).isEqualTo(-1);
                })
                .anySatisfy(attempt -> assertThat(attempt.acceptedNanos()).isLessThan(dead.fromNanos()));
        assertThat(evidence.calls())
                .filteredOn(call -> call.sentNanos() > dead.toNanos())
                .isNotEmpty()
                .allSatisfy(call -> assertThat(call.ending()).isEqualTo(Ending.COMPLETED));
    }

    @Test
    void engineThatComputesPromptsDiesBeforeTheOtherOneHasReadOne() throws IOException {
        var evidence = play("vllm-pd", "{ at = 500ms, do = crash-prefill, replica = 0, for = 600ms }");

        assertThat(evidence.phases().stream().map(ReplicaPhase::state))
                .containsExactly(State.UP, State.STUCK, State.UP);
        // The prompt of the first one was computed, and could not be read; those of later ones cannot be computed.
        assertThat(evidence.attempts())
                .filteredOn(attempt ->
                        attempt.acceptedNanos() > evidence.phases().get(1).fromNanos()
                                && attempt.endNanos() < evidence.phases().get(1).toNanos())
                .isNotEmpty()
                .allSatisfy(attempt -> assertThat(attempt.status()).isEqualTo(502));
        assertThat(evidence.calls()).anySatisfy(call -> {
            assertThat(call.sentNanos()).isLessThan(evidence.phases().get(1).fromNanos());
            assertThat(call.ending()).isIn(Ending.REFUSED, Ending.ERROR_EVENT);
        });
    }
}

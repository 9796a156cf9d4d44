package understudy.report.run;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.report.run.RequestPhase.Kind.DECODE;
import static understudy.report.run.RequestPhase.Kind.LOADING;
import static understudy.report.run.RequestPhase.Kind.PREFILL;
import static understudy.report.run.RequestPhase.Kind.QUEUED;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.prompt.SessionTurn;
import understudy.report.RequestRecord;

final class RequestPhaseTest {

    @Test
    void request_waitsThenComputesThenAnswers() {
        assertThat(RequestPhase.of(request(10, 30, 60, 100), null, List.of()))
                .containsExactly(phase(QUEUED, 10, 30), phase(PREFILL, 30, 60), phase(DECODE, 60, 100));
    }

    @Test
    void loads_areTakenOutOfTheWait() {
        // The second load ends after the admission, of which it is no longer a wait, and a third overlaps the first.
        var loads = List.of(phase(LOADING, 12, 15), phase(LOADING, 14, 16), phase(LOADING, 25, 35));

        assertThat(RequestPhase.of(request(10, 30, 60, 100), null, loads))
                .containsExactly(
                        phase(QUEUED, 10, 12),
                        phase(LOADING, 12, 15),
                        phase(LOADING, 15, 16),
                        phase(QUEUED, 16, 25),
                        phase(LOADING, 25, 30),
                        phase(PREFILL, 30, 60),
                        phase(DECODE, 60, 100));
    }

    @Test
    void promptOfAnotherReplica_isAPhaseOfItsOwn() {
        var leg = request(10, 20, 40, 40);

        assertThat(RequestPhase.of(request(10, 50, 60, 100), leg, List.of(phase(LOADING, 42, 48))))
                .containsExactly(
                        phase(QUEUED, 10, 20),
                        phase(PREFILL, 20, 40),
                        phase(QUEUED, 40, 42),
                        phase(LOADING, 42, 48),
                        phase(QUEUED, 48, 50),
                        phase(PREFILL, 50, 60),
                        phase(DECODE, 60, 100));
    }

    @Test
    void rejectedRequest_hasNoPhases() {
        assertThat(RequestPhase.of(request(10, 10, 10, 10), null, List.of())).isEmpty();
    }

    private static RequestPhase phase(RequestPhase.Kind kind, long startNanos, long endNanos) {
        return new RequestPhase(kind, startNanos, endNanos);
    }

    private static RequestRecord request(long arrival, long scheduled, long firstToken, long lastToken) {
        return RequestSampleTest.request(0, arrival, scheduled, firstToken, lastToken, SessionTurn.NONE);
    }
}

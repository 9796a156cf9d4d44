package understudy.chaos.autoscaler.law;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.chaos.autoscaler.evidence.Deadline;
import understudy.chaos.autoscaler.evidence.FaultPhase;
import understudy.chaos.autoscaler.evidence.ReplicaCounts;
import understudy.chaos.autoscaler.evidence.ScaleCall;
import understudy.chaos.autoscaler.evidence.ScalingBoundsBuilder;
import understudy.chaos.autoscaler.evidence.ScalingEvidence;
import understudy.chaos.evidence.Lateness;
import understudy.chaos.law.Breach;
import understudy.chaos.law.Verdict;

/** Minimum 1, maximum 4, the load asks for 3; a grace of 0.5 s, and 1 s for the next call and for zero; 10 s in all. */
final class ScalingLawsTest {
    private final List<ScaleCall> calls = new ArrayList<>();
    private final List<ReplicaCounts> counts = new ArrayList<>();
    private final List<FaultPhase> faults = new ArrayList<>();
    private final List<Deadline> deadlines = new ArrayList<>();
    private boolean isAlive = true;
    private Lateness lateness = Lateness.NONE;

    private static long millis(long millis) {
        return millis * 1_000_000;
    }

    private void put(long atMillis, int replicas, int status) {
        calls.add(new ScaleCall(millis(atMillis), "PUT", status, OptionalInt.of(replicas)));
    }

    private void get(long atMillis, int status) {
        calls.add(new ScaleCall(millis(atMillis), "GET", status, OptionalInt.empty()));
    }

    /** Begins with 2 replicas. */
    private Verdict verdict(String law) {
        var bounds = ScalingBoundsBuilder.builder()
                .minReplicas(1)
                .maxReplicas(4)
                .mostReplicas(3)
                .maxReversals(1)
                .graceNanos(millis(500))
                .retryNanos(millis(1000))
                .zeroNanos(millis(1000))
                .maxUnfinished(5)
                .maxCallsPerSecond(3)
                .deadlines(deadlines)
                .build();
        var evidence = new ScalingEvidence("s", bounds, millis(10_000), 2, counts, calls, faults, isAlive, lateness);
        var named = ScalingLaws.named(List.of(law));
        assertThat(named).hasSize(1);
        return Verdict.of(named.get(0), evidence);
    }

    private List<Breach> breaches(String law) {
        return verdict(law).breaches();
    }

    @Test
    void boundsAreForWhatIsAskedFor_doneOrNot() {
        put(1000, 4, 200);
        put(2000, 5, 500);
        put(3000, 0, 200);
        put(4000, 1, 200);

        assertThat(breaches("replicas-within-bounds"))
                .extracting(Breach::reason)
                .containsExactly(
                        "asked for 5 replicas; allowed are 1 to 4", "asked for 0 replicas; allowed are 1 to 4");
    }

    @Test
    void changeInABlindPhaseAfterTheGraceIsABreach() {
        faults.add(new FaultPhase("series-nan", true, millis(1000), millis(3000)));
        faults.add(new FaultPhase("failed-scale", false, millis(5000), millis(7000)));
        put(1400, 3, 200);
        put(2000, 3, 200);
        put(2500, 1, 500);
        put(2700, 1, 200);
        put(3100, 2, 200);
        put(6000, 3, 200);

        // At 1.4 s the grace is not over, at 2.0 s nothing changes, at 2.5 s nothing is done, and at 3.1 s all is well.
        assertThat(breaches("holds-without-metrics"))
                .extracting(Breach::reason)
                .containsExactly("went from 3 to 1 replicas 1.70 s after series-nan had begun");
    }

    @Test
    void deadlineIsMetByAChangeInTime() {
        deadlines.add(new Deadline(millis(1000), millis(1000), true, 3));
        put(1999, 3, 200);
        put(5000, 2, 200);

        assertThat(breaches("scales-up-in-time")).isEmpty();
    }

    @Test
    void deadlineIsMissedByALateChangeAndByOneThatIsRefused() {
        deadlines.add(new Deadline(millis(1000), millis(1000), true, 3));
        deadlines.add(new Deadline(millis(4000), millis(1000), false, 2));
        put(1500, 3, 409);
        put(2001, 3, 200);
        put(4900, 2, 500);

        assertThat(breaches("scales-up-in-time"))
                .extracting(Breach::reason)
                .containsExactly(
                        "the load of 1.00 s asks for at least 3 replicas within 1.00 s, but 2 were wanted then");
        assertThat(breaches("scales-down-in-time"))
                .extracting(Breach::reason)
                .containsExactly(
                        "the load of 4.00 s asks for at most 2 replicas within 1.00 s, but 3 were wanted then");
    }

    @Test
    void moreThanTheLoadAsksForIsOvershoot_theWayBackIsNot() {
        put(1000, 3, 200);
        put(2000, 6, 200);
        put(3000, 5, 200);
        put(4000, 2, 200);

        assertThat(breaches("no-overshoot"))
                .extracting(Breach::reason)
                .containsExactly("went from 3 to 6 replicas; the load asks for 3 at most");
    }

    @Test
    void secondChangeOfDirectionIsFlapping() {
        put(1000, 3, 200);
        put(2000, 4, 200);
        put(3000, 2, 200);
        put(4000, 1, 200);
        put(5000, 2, 200);

        // Up, up, down, down, up: two changes of direction.
        assertThat(breaches("no-flapping"))
                .extracting(Breach::reason)
                .containsExactly("went from 1 to 2 replicas, the 2. change of direction; allowed are 1");
    }

    @Test
    void requestsThatWaitAtZeroForLongAreABreach() {
        counts.add(new ReplicaCounts(millis(1000), 0, 0, 0, 0));
        counts.add(new ReplicaCounts(millis(2000), 0, 0, 0, 3));
        counts.add(new ReplicaCounts(millis(3000), 0, 0, 0, 3));

        assertThat(breaches("serves-from-zero")).isEmpty();

        counts.add(new ReplicaCounts(millis(3100), 0, 0, 0, 4));
        counts.add(new ReplicaCounts(millis(3200), 1, 0, 1, 4));

        assertThat(breaches("serves-from-zero"))
                .extracting(Breach::reason)
                .containsExactly("4 requests wait, and for 1.10 s no replica is wanted; the bound is 1.00 s");
    }

    @Test
    void queueIsThatOfTheEnd() {
        counts.add(new ReplicaCounts(millis(1000), 1, 1, 0, 50));
        counts.add(new ReplicaCounts(millis(9000), 1, 1, 0, 5));

        assertThat(breaches("queue-drains")).isEmpty();

        counts.add(new ReplicaCounts(millis(9900), 1, 1, 0, 6));

        assertThat(breaches("queue-drains"))
                .extracting(Breach::reason)
                .containsExactly("6 requests are unfinished at the end; allowed are 5");
    }

    @Test
    void failedCallAsksForAnotherOneInTime() {
        get(1000, 500);
        put(1900, 3, 409);
        get(2800, 200);
        get(5000, 404);
        put(9500, 3, 500);

        // The last one fails half a second before the end: there was no time for another.
        assertThat(breaches("survives-api-errors")).isEmpty();

        calls.remove(2);

        assertThat(breaches("survives-api-errors"))
                .extracting(Breach::reason)
                .containsExactly("PUT at 1.90 s got status 409, and no call came in 1.00 s");
    }

    @Test
    void fourCallsInASecondAreTooMany() {
        IntStream.of(1000, 1500, 1900, 2000, 2500).forEach(at -> get(at, 200));

        assertThat(breaches("calls-in-measure")).isEmpty();

        get(2899, 200);

        assertThat(breaches("calls-in-measure"))
                .extracting(Breach::reason)
                .containsExactly("more than 3 calls came within a second");
    }

    @Test
    void autoscalerThatHasEndedIsABreach() {
        assertThat(breaches("autoscaler-alive")).isEmpty();

        isAlive = false;

        assertThat(breaches("autoscaler-alive")).hasSize(1);
    }

    /** The machine stood still for a second. */
    @Test
    void lateMachineExcusesNeitherAnEndNorANumberOutOfBounds() {
        lateness = new Lateness(List.of(new Lateness.Stall(millis(1_000), millis(2_000))), 0);
        isAlive = false;
        put(1_000, 5, 200);

        assertThat(verdict("autoscaler-alive").isBroken()).isTrue();
        assertThat(verdict("replicas-within-bounds").isBroken()).isTrue();
        assertThat(verdict("no-overshoot").isInDoubt()).isTrue();
    }
}

package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;
import static understudy.cluster.PrefillDecodeFixture.MILLI;

import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.engine.FinishReason;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.kvcache.FullHit;
import understudy.prompt.SegmentedTokens;
import understudy.report.Invariants;
import understudy.report.RunRecord;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.Signal;
import understudy.transfer.KvLease;

/**
 * Requests whose prompt one replica computes, and that another one answers; see {@link PrefillDecodeFixture} for what takes
 * how long. A prompt of 100 tokens is in 7 blocks: its first step ends at 5 ms, the transfer (4 + 1 + 7 + 1) at 18 ms, the
 * first token comes at 23 ms.
 */
final class PrefillDecodeInVirtualTimeTest {
    @AutoClose
    private final PrefillDecodeFixture cluster = new PrefillDecodeFixture();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void request_crossesTwoReplicasAndEndsOnce(boolean isAsync) {
        cluster.replicas.isAsync = isAsync;
        cluster.start();
        cluster.submit(request(0, 0, 100, 3));

        cluster.until(1000);

        assertThat(cluster.tokenMillis(0)).containsExactly(23L, 28L, 33L);
        assertThat(finish(0)).isEqualTo(FinishReason.LENGTH);
        var run = cluster.stop();
        assertThat(run.requests().size()).isEqualTo(1);
        assertThat(run.requests().get(0).replicaIndex()).isEqualTo(1);
        assertThat(run.replicas().get(0).stats().numSteps()).isEqualTo(1);
        assertThat(run.replicas().get(1).stats().numSteps()).isEqualTo(3);
        assertNothingIsLeft(run);
    }

    @Test
    void secondTurn_movesWhatTheOtherReplicaDoesNotHave() {
        cluster.start();
        var first = SegmentedTokens.EMPTY.append(7, 160);
        cluster.submit(request(0, 0, first, 1));
        cluster.until(100);
        cluster.submit(request(1, 100 * MILLI, first.append(8, 48), 1));

        cluster.until(1000);

        // First: 10 blocks, 5 + (4 + 1 + 10 + 1) + 5 = 26. Second: 13 blocks, of which the first 10 are there:
        // 5 + (1 + 3 + 1) + 5 = 15.
        assertThat(cluster.tokenMillis(0)).containsExactly(26L);
        assertThat(cluster.tokenMillis(1)).containsExactly(115L);
        assertThat(cluster.stop().requests().get(1).numCachedTokens())
                .as("160 that are there, and 48 that are moved")
                .isEqualTo(208);
    }

    @Test
    void promptThatIsWhollyThere_isNotMovedButThePrefillReplicaIsTold() {
        cluster.lease = new KvLease(30_000 * MILLI, false);
        cluster.replicas.fullHit = FullHit.DECODE_DIRECTLY;
        cluster.start();
        var prompt = SegmentedTokens.EMPTY.append(7, 160);
        cluster.submit(request(0, 0, prompt, 1));
        cluster.until(100);
        cluster.submit(request(1, 100 * MILLI, prompt, 1));

        cluster.until(120);
        assertNothingIsLeft(cluster.stop());
    }

    /** Queued at 0 (behind another one), computed until 10, between at 10, being moved until 22, answered until 100. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 1, 5, 6, 9, 10, 11, 15, 19, 23, 27, 28, 30, 60})
    void abort_endsARequestInEveryState(double atMillis) {
        cluster.replicas.maxNumSeqs = 1;
        cluster.lease = new KvLease(1000 * MILLI, true);
        cluster.start();
        cluster.submit(request(0, 0, 100, 1));
        cluster.submit(request(1, 0, 100, 20));
        cluster.until(atMillis);
        cluster.abort(1);

        cluster.until(atMillis + 30);

        assertThat(finish(1)).isEqualTo(FinishReason.ABORT);
        cluster.until(5000);
        assertThat(cluster.end(0)).isInstanceOf(RequestEvent.Finished.class);
        var run = cluster.stop();
        assertThat(run.requests().size()).isEqualTo(2);
        assertNothingIsLeft(run);
    }

    @Test
    void abortThatOvertakesTheNewsOfThePrompt_isNotLost() {
        var prefill = cluster.startRouter();
        cluster.submit(request(0, 0, 100, 20));
        cluster.until(0);
        var leg = (Replica.AddRequest) prefill.messages().get(0);
        cluster.abort(0);
        var timing = new RequestEvent.Timing(0, 0, 0, 0);
        leg.replyTo().tell(new RequestEvent.Finished(0, FinishReason.LENGTH, 0, 1, 0, timing));

        cluster.until(1);

        assertThat(finish(0)).isEqualTo(FinishReason.ABORT);
    }

    /** The request reaches the queue of the answering replica 50 ms late, at 55 ms. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void abortBeforeTheQueue_givesTheBlocksBack(boolean notifies) {
        cluster.notifiesOnReject = notifies;
        cluster.lease = new KvLease(1000 * MILLI, true);
        cluster.start();
        cluster.change(new Fault.LatencySpike(OptionalInt.of(1), 50 * MILLI));
        cluster.submit(request(0, 0, 100, 20));
        cluster.until(10);
        cluster.abort(0);

        // Without a word the blocks stay for a second; nobody renews the lease.
        cluster.until(notifies ? 11 : 1010);
        assertThat(finish(0)).isEqualTo(FinishReason.ABORT);
        assertNothingIsLeft(cluster.stop());
    }

    /** The one in the queue is never asked for: the replica has nothing more to plan. */
    @Test
    void abortOfAllRequests_givesTheBlocksBack() {
        cluster.replicas.maxNumSeqs = 1;
        cluster.start();
        cluster.submit(request(0, 0, 100, 50));
        cluster.until(30);
        cluster.submit(request(1, 30 * MILLI, 100, 50));
        cluster.until(50);
        cluster.abort(0);
        cluster.abort(1);

        cluster.until(60);

        assertNothingIsLeft(cluster.stop());
    }

    @Test
    void requestThatIsTurnedAwayWhereItIsToBeAnswered_givesTheBlocksBack() {
        cluster.numBlocksOfDecode = 50;
        cluster.start();
        cluster.submit(request(0, 0, 100, 800));

        cluster.until(10);

        assertThat(cluster.end(0)).isInstanceOf(RequestEvent.Rejected.class);
        assertNothingIsLeft(cluster.stop());
    }

    /**
     * Each prompt goes to the replica with the fewest prompt tokens: that of the first one is over at 5 ms, and the second
     * one, at 6 ms, finds both idle; the third one, at the same time, finds 200 tokens there.
     */
    @Test
    void promptThatIsComputed_countsNoMore() {
        cluster.numPrefill = 2;
        cluster.prefillPolicy = new RoutingPolicyFactory(
                "fewest",
                Set.of(Signal.PROGRESS),
                any -> (request, view) -> view.promptTokens(0) <= view.promptTokens(1) ? 0 : 1);
        cluster.start();
        cluster.submit(request(0, 0, 100, 1));
        cluster.until(6);
        cluster.submit(request(1, 6 * MILLI, 200, 1));
        cluster.submit(request(2, 6 * MILLI, 100, 1));

        cluster.until(1000);

        assertThat(cluster.stop().replicas())
                .extracting(replica -> replica.stats().numRequests())
                .containsExactly(2L, 1L, 3L);
    }

    @Test
    void replicaThatLeaves_waitsUntilItsBlocksAreRead() {
        cluster.start();
        cluster.submit(request(0, 0, 100, 2));
        cluster.until(6);
        cluster.change(new FleetChange.Remove(0));

        cluster.until(1000);

        assertThat(cluster.tokenMillis(0)).containsExactly(23L, 28L);
        assertThat(finish(0)).isEqualTo(FinishReason.LENGTH);
        assertNothingIsLeft(cluster.stop());
    }

    @Test
    void replicaThatLeavesWithARequest_waitsUntilItsBlocksAreRead() {
        cluster.start();
        cluster.submit(request(0, 0, 100, 2));
        cluster.until(2);
        cluster.change(new FleetChange.Remove(0));

        cluster.until(1000);

        assertThat(cluster.tokenMillis(0)).containsExactly(23L, 28L);
        assertThat(cluster.isThere(0)).isFalse();
    }

    @Test
    void replicaThatLeaves_waitsNoLongerThanALease() {
        cluster.lease = new KvLease(1000 * MILLI, false);
        cluster.numBlocksOfDecode = 50;
        cluster.notifiesOnReject = false;
        cluster.start();
        // The answer does not fit where it is to be given: 100 + 800 tokens need 57 blocks.
        cluster.submit(request(0, 0, 100, 800));
        cluster.until(10);
        cluster.change(new FleetChange.Remove(0));

        cluster.until(900);
        assertThat(cluster.isThere(0)).isTrue();
        cluster.until(1100);
        assertThat(cluster.isThere(0)).isFalse();
    }

    private FinishReason finish(long requestId) {
        var end = cluster.end(requestId);
        assertThat(end).isInstanceOf(RequestEvent.Finished.class);
        return ((RequestEvent.Finished) end).reason();
    }

    private static void assertNothingIsLeft(RunRecord run) {
        assertThat(Invariants.check(run)).isEmpty();
        assertThat(run.replicas())
                .allSatisfy(replica -> assertThat(replica.kvCache().numInUse()).isZero());
    }
}

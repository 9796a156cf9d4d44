package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;
import static understudy.cluster.PrefillDecodeFixture.MILLI;

import java.util.OptionalInt;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.latency.ApiDelay;
import understudy.report.Invariants;
import understudy.transfer.KvLease;

/**
 * What goes wrong with requests that cross two replicas. Without it, the prompt of 100 tokens is computed at 5 ms, its 7
 * blocks are moved at 18 ms (4 + 1 + 7 + 1), and the tokens come at 23 and 28 ms.
 */
final class PrefillDecodeFaultsInVirtualTimeTest {
    @AutoClose
    private final PrefillDecodeFixture cluster = new PrefillDecodeFixture();

    @Test
    void crashWhileThePromptIsComputed_failsTheRequest() {
        run(2, new Fault.Crash(0));

        assertFailed(RequestEvent.FailureCause.CRASH);
    }

    @Test
    void crashWhileThePromptIsComputed_isMadeUpForByTheOtherReplica() {
        cluster.decodesLocally = true;
        run(2, new Fault.Crash(0));

        // From 2 ms on the other replica does it all.
        assertThat(cluster.tokenMillis(0)).containsExactly(7L, 12L);
        assertAllIsWell();
    }

    @Test
    void crashWhileThePromptIsComputed_reroutesThePrompt() {
        cluster.numPrefill = 2;
        cluster.retries = ClusterFixture.REROUTE;
        run(2, new Fault.Crash(0));

        // The second replica begins at 2 ms: 2 + 5 + 13 + 5.
        assertThat(cluster.tokenMillis(0)).containsExactly(25L, 30L);
        assertAllIsWell();
    }

    @ParameterizedTest
    @ValueSource(doubles = {5, 6, 10, 17})
    void crashWhileKvIsMoved_failsTheRequest(double atMillis) {
        run(atMillis, new Fault.Crash(0));

        assertFailed(RequestEvent.FailureCause.KV_LOAD_FAILED);
    }

    @ParameterizedTest
    @ValueSource(longs = {6, 10, 17})
    void crashWhileKvIsMoved_hasThePromptComputedAgain(long atMillis) {
        cluster.failsOnLoadFailure = false;
        run((double) atMillis, new Fault.Crash(0));

        assertThat(cluster.tokenMillis(0)).containsExactly(atMillis + 5, atMillis + 10);
        assertAllIsWell();
    }

    @Test
    void crashAfterKvIsMoved_leavesTheRequestAlone() {
        run(19, new Fault.Crash(0));

        assertThat(cluster.tokenMillis(0)).containsExactly(23L, 28L);
        assertAllIsWell();
    }

    @Test
    void crashOfTheAnsweringReplica_beginsAnewElsewhere() {
        cluster.numDecode = 2;
        cluster.retries = ClusterFixture.REROUTE;
        run(10, new Fault.Crash(1));

        // At 10 ms again: the prompt is cached where it was computed, but for the last block, and is moved to the other
        // replica: 10 + 5 + 13 + 5.
        assertThat(cluster.tokenMillis(0)).containsExactly(33L, 38L);
        assertAllIsWell();
    }

    @Test
    void crashOfTheAnsweringReplica_resumesBehindTheTokens() {
        cluster.numDecode = 2;
        cluster.retries = ClusterFixture.RESUME;
        run(24, new Fault.Crash(1));

        // One token is there. 101 tokens are in 7 blocks, too: 24 + 5 + 13 + 5.
        assertThat(cluster.tokenMillis(0)).containsExactly(23L, 47L);
        assertAllIsWell();
    }

    /** The new process begins a read, at 15 ms, before that of the old one would have ended. */
    @Test
    void answeringReplicaThatIsBack_readsAnew() {
        cluster.start();
        cluster.submit(request(0, 0, 100, 2));
        cluster.until(10);
        cluster.change(new Fault.Crash(1));
        cluster.change(new FleetChange.Restart(1));
        cluster.until(10);
        cluster.submit(request(1, 10 * MILLI, 100, 1));

        cluster.until(100);

        // 10 + 5 + (1 + 7 + 1) + 5; the two had their handshake before.
        assertThat(cluster.tokenMillis(1)).containsExactly(29L);
        assertAllIsWell();
    }

    @Test
    void crashOfTheAnsweringReplica_leavesTheBlocksToTheirLease() {
        cluster.lease = new KvLease(1000 * MILLI, true);
        cluster.start();
        cluster.submit(request(0, 0, 100, 2));
        cluster.until(10);
        cluster.change(new Fault.Crash(1));
        cluster.change(new FleetChange.Remove(0));
        cluster.until(900);
        assertThat(cluster.isThere(0)).isTrue();

        cluster.until(1010);

        assertThat(cluster.isThere(0)).isFalse();
    }

    /** Another request holds the only place at the answering replica until 23 + 19 x 5 = 118 ms. */
    @ParameterizedTest
    @CsvSource({"true, true, true", "false, true, false", "false, false, true"})
    void leaseThatIsShorterThanTheQueue(boolean hasHeartbeats, boolean fails, boolean isAnswered) {
        cluster.lease = new KvLease(60 * MILLI, hasHeartbeats);
        cluster.failsStaleReads = fails;
        cluster.replicas.maxNumSeqs = 1;
        cluster.start();
        cluster.submit(request(0, 0, 100, 20));
        cluster.until(30);
        cluster.submit(request(1, 30 * MILLI, 100, 1));

        cluster.until(1000);

        // Without heartbeats the blocks are given up at 35 + 60 ms. A read of garbage takes as long as any.
        if (isAnswered) {
            assertThat(cluster.end(1)).isInstanceOf(RequestEvent.Finished.class);
        } else {
            assertThat(cluster.end(1))
                    .isInstanceOfSatisfying(
                            RequestEvent.Failed.class,
                            failed -> assertThat(failed.cause()).isEqualTo(RequestEvent.FailureCause.KV_LOAD_FAILED));
        }
        assertAllIsWell();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void leaseThatEndsDuringARead_failsItOrNot(boolean fails) {
        cluster.lease = new KvLease(8 * MILLI, false);
        cluster.failsStaleReads = fails;
        cluster.start();
        cluster.submit(request(0, 0, 100, 2));

        // The lease ends at 13 ms, the read at 18 ms.
        cluster.until(14);
        assertThat(cluster.hasEnded(0)).isEqualTo(fails);
        cluster.until(100);
        assertThat(cluster.tokenMillis(0)).hasSize(fails ? 0 : 2);
        assertAllIsWell();
    }

    @Test
    void slowNetwork_takesLonger() {
        run(0, new Fault.SlowLink(OptionalInt.of(1), Fault.LinkKind.NETWORK, 0.5));

        // 7 blocks at half the rate: 5 + (4 + 1 + 14 + 1) + 5.
        assertThat(cluster.tokenMillis(0)).containsExactly(30L, 35L);
    }

    @Test
    void brokenNetwork_failsWhatWaitsForTooLong() {
        run(0, new Fault.SlowLink(Fault.ALL_REPLICAS, Fault.LinkKind.NETWORK, 0));

        // The bytes stand still from 10 ms on, for a second at most.
        assertThat(cluster.hasEnded(0)).isFalse();
        cluster.until(1011);
        assertFailed(RequestEvent.FailureCause.KV_LOAD_FAILED);
    }

    @Test
    void failingNetwork_failsRequests() {
        run(0, new Fault.FailTransfers(Fault.ALL_REPLICAS, Fault.LinkKind.NETWORK, 1));

        assertFailed(RequestEvent.FailureCause.KV_LOAD_FAILED);
    }

    /** Two requests are at any point between two replicas when the run is interrupted. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 2, 5, 6, 10, 18, 20, 23, 40})
    void interruptedRun_accountsForAllRequests(double atMillis) {
        cluster.replicas.apiDelay = new ApiDelay(MILLI, 0);
        cluster.start();
        cluster.submit(request(0, 0, 100, 2));
        cluster.submit(request(1, 0, 100, 2));
        cluster.until(atMillis);

        assertThat(Invariants.check(cluster.stop())).isEmpty();
    }

    private void run(double atMillis, Fault fault) {
        cluster.start();
        cluster.submit(request(0, 0, 100, 2));
        cluster.until(atMillis);
        cluster.change(fault);
        cluster.until(Math.max(atMillis, 200));
    }

    private void assertFailed(RequestEvent.FailureCause cause) {
        assertThat(cluster.end(0)).isInstanceOfSatisfying(RequestEvent.Failed.class, failed -> {
            assertThat(failed.cause()).isEqualTo(cause);
        });
        assertAllIsWell();
    }

    private void assertAllIsWell() {
        assertThat(Invariants.check(cluster.stop())).isEmpty();
    }
}

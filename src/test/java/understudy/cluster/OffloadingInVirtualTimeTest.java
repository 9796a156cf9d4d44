package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;

import java.util.OptionalInt;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.engine.Request;
import understudy.faults.Fault;
import understudy.prompt.SegmentedTokens;

/** A replica and its host's memory: a step takes 5 ms, a block of 16 tokens 1 ms over the link between them. */
final class OffloadingInVirtualTimeTest {
    @AutoClose
    private final OffloadingFixture cluster = new OffloadingFixture();

    /** 64 tokens are 4 blocks: 4 ms for the load, then 5 ms for the step that computes the 65th. */
    @Test
    void requestIsParked_untilItsKvHasCome() {
        var replica = replicaWithPromptOnHost();
        cluster.submit(replica, same(2, 1));
        // Another one comes 1 ms later, and is not held up: from 101 to 106 ms. The parked one goes with its next step.
        cluster.until(101);
        cluster.submit(replica, request(3, 0, 20, 1));

        cluster.until(200);

        assertThat(cluster.tokenMillis(3)).containsExactly(106L);
        assertThat(cluster.tokenMillis(2)).containsExactly(111L);
    }

    @Test
    void timeToFirstToken_holdsTheTransfer() {
        var replica = replicaWithPromptOnHost();
        cluster.submit(replica, same(2, 2));

        cluster.until(200);

        // 100 + 4 + 5, and the second token after a step more.
        assertThat(cluster.tokenMillis(2)).containsExactly(109L, 114L);
    }

    /** At half the rate 4 blocks take 8 ms; the fault may be of all replicas. */
    @ParameterizedTest
    @CsvSource({"0.5, 113", "0.25, 121", "1, 109"})
    void slowLink_takesLonger(double factor, long firstTokenMillis) {
        var replica = replicaWithPromptOnHost();
        slow(replica, factor);
        cluster.submit(replica, same(2, 1));

        cluster.until(200);

        assertThat(cluster.tokenMillis(2)).containsExactly(firstTokenMillis);
    }

    /** 2 ms at full rate, so that 2 of 4 blocks are through, and at a quarter of it 8 ms for the others: 100 + 10 + 5. */
    @Test
    void linkThatBecomesSlow_slowsDownWhatIsUnderWay() {
        var replica = replicaWithPromptOnHost();
        cluster.submit(replica, same(2, 1));
        cluster.until(102);
        slow(replica, 0.25);

        cluster.until(200);

        assertThat(cluster.tokenMillis(2)).containsExactly(115L);
    }

    /** What is lost is computed again, in one step, and stored again. */
    @ParameterizedTest
    @CsvSource({"1, 105, 0", "0, 109, 4"})
    void lostKv_isComputedAgain(double share, long firstTokenMillis, int numUsed) {
        var replica = replicaWithPromptOnHost();
        replica.tell(new Replica.ForMemory(new KvExchange.Lose(share)));
        assertThat(cluster.host(replica).numUsed()).isEqualTo(numUsed);
        cluster.submit(replica, same(2, 1));

        cluster.until(200);

        assertThat(cluster.tokenMillis(2)).containsExactly(firstTokenMillis);
        assertThat(cluster.host(replica).numUsed()).isEqualTo(4);
    }

    /** Chunks that a load reads are not lost, whatever happens to the others. */
    @Test
    void chunksBeingLoaded_areNotLost() {
        var replica = replicaWithPromptOnHost();
        cluster.submit(replica, same(2, 1));
        cluster.until(102);
        replica.tell(new Replica.ForMemory(new KvExchange.Lose(1)));

        cluster.until(200);

        assertThat(cluster.tokenMillis(2)).containsExactly(109L);
        assertThat(cluster.host(replica).numUsed()).isEqualTo(4);
    }

    /** The load fails on its way, at 104 ms at the latest; the next one takes 4 ms again, and the step 5. */
    @Test
    void failedLoad_isTriedAgain() {
        var replica = replicaWithPromptOnHost();
        fail(replica, 1);
        cluster.submit(replica, same(2, 1));
        cluster.until(100);
        fail(replica, 0);

        cluster.until(200);

        assertThat(cluster.tokenMillis(2)).hasSize(1).allMatch(millis -> millis >= 109 && millis <= 113);
        assertThat(cluster.numFailedLoads(replica)).isEqualTo(1);
    }

    /**
     * Two prompts of 32 tokens fill 4 of 5 blocks, and are stored from 0 ms on, at a tenth of the rate: 4 blocks in 40 ms.
     * At 5 ms the first request gets the last block, and the second one is preempted: the step waits until its blocks are
     * stored, and ends at 45 ms.
     */
    @ParameterizedTest
    @CsvSource({"0.1, 45", "1, 10"})
    void preemptedRequestsBlocks_areStoredBeforeTheStep(double factor, long secondTokenMillis) {
        cluster.hasStore = false;
        cluster.replicas.numBlocks = 6;
        cluster.start();
        var replica = cluster.spawn(0);
        slow(replica, factor);
        cluster.submit(replica, request(1, 0, 32, 2));
        cluster.submit(replica, request(2, 0, 32, 2));

        cluster.until(300);

        assertThat(cluster.tokenMillis(1)).containsExactly(5L, secondTokenMillis);
        assertThat(cluster.tokenMillis(2)).hasSize(2).first().isEqualTo(5L);
    }

    /** Its GPU has forgotten the prompt of request 1, and it is 100 ms. */
    private ActorRef<Replica.Command> replicaWithPromptOnHost() {
        cluster.hasStore = false;
        cluster.start();
        var replica = cluster.spawn(0);
        cluster.submit(replica, request(1, 0, 64, 1));
        cluster.until(100);
        cluster.forgetGpu(replica);
        return replica;
    }

    /** The prompt of request 1, and one token more. */
    private static Request same(long id, int numOutputTokens) {
        return request(id, 0, SegmentedTokens.EMPTY.append(1, 64).append(100 + id, 1), numOutputTokens);
    }

    private static void fail(ActorRef<Replica.Command> replica, double rate) {
        var fail = new Fault.FailTransfers(Fault.ALL_REPLICAS, Fault.LinkKind.HOST, rate);
        replica.tell(new Replica.ForMemory(new KvExchange.SetFault(fail)));
    }

    private static void slow(ActorRef<Replica.Command> replica, double factor) {
        var slow = new Fault.SlowLink(OptionalInt.of(0), Fault.LinkKind.HOST, factor);
        replica.tell(new Replica.ForMemory(new KvExchange.SetFault(slow)));
    }
}

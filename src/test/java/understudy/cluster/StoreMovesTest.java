package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.link.KvStoreSpec;
import understudy.cluster.link.KvTier;
import understudy.cluster.link.Link;
import understudy.engine.Request;
import understudy.faults.CrashRetries;
import understudy.prompt.SegmentedTokens;
import understudy.testkit.VirtualTimeTestKit.Inbox;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/**
 * Moves between hosts, and from a host to the store, of a replica that dies meanwhile. Without that, a prompt of 64 tokens
 * is written to the host from 0 to 4 ms, and from there to the store until 12 ms; who wants it from the store knows after
 * 3 ms, and has it on the host 8 ms later; from another host it takes 16 ms.
 */
final class StoreMovesTest {
    @AutoClose
    private final OffloadingFixture cluster = new OffloadingFixture();

    private ActorRef<Replica.Command> first;
    private ActorRef<Replica.Command> second;

    @BeforeEach
    void start() {
        cluster.numStoreBlocks = 4;
        cluster.numHostBlocks = 4;
        cluster.start();
        first = cluster.spawn(0);
        second = cluster.spawn(1);
    }

    /** The second replica has the prompt on its host until 4 ms, and in the store until 12 ms, which is full with it. */
    private void storeFromSecond() {
        cluster.submit(second, request(1, 0, 64, 1));
        cluster.until(20);
        assertThat(cluster.storeAudit().numIdle()).isEqualTo(4);
    }

    /** The prompt of request 1, and one token more. */
    private static Request same(long id) {
        var prompt = SegmentedTokens.EMPTY.append(1, 64).append(100 + id, 1);
        return request(id, 0, prompt, 1);
    }

    private void crash(ActorRef<Replica.Command> replica) {
        replica.tell(new Replica.Crash(CrashRetries.NONE));
        cluster.kit.settle();
    }

    @Test
    void crashWhileChunksAreWritten_givesThemUp() {
        cluster.submit(first, request(1, 0, 64, 1));
        cluster.until(8);
        assertThat(cluster.storeAudit().numPending()).isEqualTo(4);

        crash(first);

        assertThat(cluster.storeAudit().numFree()).isEqualTo(4);
        assertLinkIsFree(KvStoreSpec.WRITE);
        // All of them can be stored again.
        cluster.submit(second, request(2, 0, 64, 1));
        cluster.until(70);
        assertThat(cluster.storeAudit().numIdle()).isEqualTo(4);
    }

    /** At 21 ms the store has not answered yet, at 25 ms it is being read: from 23 to 31 ms. */
    @ParameterizedTest
    @ValueSource(doubles = {21, 25})
    void crashWhileChunksAreRead_leavesThemToOthers(double atMillis) {
        storeFromSecond();
        cluster.submit(first, same(2));
        cluster.until(atMillis);
        assertThat(cluster.storeAudit().numInRead()).isEqualTo(4);

        crash(first);

        assertThat(cluster.storeAudit().numIdle()).isEqualTo(4);
        assertLinkIsFree(KvStoreSpec.READ);
        // Others can evict all of them.
        cluster.submit(second, request(3, 0, 64, 1));
        cluster.until(90);
        assertThat(cluster.storeAudit().numIdle()).isEqualTo(4);
        assertThat(cluster.host(second).numUsed()).isEqualTo(4);
    }

    @Test
    void crashWhileChunksAreFetched_leavesThemToTheirOwner() {
        storeFromSecond();
        cluster.submit(first, same(2), second);
        cluster.until(25);
        assertThat(cluster.host(second).numInRead()).isEqualTo(4);

        crash(first);

        assertThat(cluster.host(second).numInRead()).isZero();
        assertThat(nanosAlone(cluster.network(), KvTransferSpec.portOut(1))).isEqualTo(1_000_000);
    }

    /** A peer that never answers. */
    @Test
    void crashBeforeAPeerAnswers_isToldToIt() {
        Inbox<Replica.Command> peer = cluster.kit.createInbox(Replica.Command.class);
        cluster.submit(first, same(2), peer.ref());
        cluster.kit.settle();
        var lend = (KvExchange.Lend) ((Replica.ForMemory) peer.messages().get(0)).command();

        crash(first);

        assertThat(peer.messages()).last().isEqualTo(new Replica.ForMemory(new KvExchange.TakeBack(lend.job())));
    }

    @Test
    void moveThatHasEnded_leavesNothingInUse() {
        storeFromSecond();
        cluster.submit(first, same(2));
        cluster.until(60);

        // 3 ms for the answer, 8 from the store, 4 to the GPU, and a step of 5.
        assertThat(cluster.tokenMillis(2)).containsExactly(40L);
        assertThat(cluster.storeAudit().numIdle()).isEqualTo(4);
    }

    /**
     * The first replica's own disk has nothing of the prompt, and says so after 3 ms; the store has it, and says so 3 ms
     * later. 8 ms from the store, 4 to the GPU, and a step of 5.
     */
    @Test
    void chunksThatTheDiskHasNot_comeFromTheStoreBehindIt() {
        withDisks();
        storeFromSecond();

        cluster.submit(first, same(2));
        cluster.until(60);

        assertThat(cluster.tokenMillis(2)).containsExactly(43L);
        assertThat(cluster.storeAudit().numIdle()).isEqualTo(4);
    }

    /**
     * Another prompt of four blocks takes the place of the first on the host and in the store, but the disk has room for
     * both. It is asked first: 3 ms for the answer, 8 from there, 4 to the GPU, and a step of 5.
     */
    @Test
    void chunksThatTheDiskHas_comeFromThere() {
        withDisks();
        storeFromSecond();
        cluster.forgetGpu(second);
        cluster.submit(second, request(3, 0, 64, 1));
        cluster.until(60);

        cluster.submit(second, same(2));
        cluster.until(100);

        assertThat(cluster.tokenMillis(2)).containsExactly(80L);
    }

    private void withDisks() {
        cluster.hasDisk = true;
        cluster.numStoreBlocks = 8; // of the disks; the store has its four by now
        first = cluster.spawn(2);
        second = cluster.spawn(3);
    }

    /** A chunk that is there twice: the record of the replica is never written, since the store fails. */
    @Test
    void storeThatIsBroken_failsAtTheEnd() {
        storeFromSecond();
        var records = cluster.kit.createInbox(Replica.Recorded.class);
        second.tell(new Replica.GetRecord(records.ref()));
        cluster.kit.settle();
        assertThat(records.messages()).hasSize(1);
        var prepared = cluster.kit.createInbox(KvTier.StorePrepared.class);
        cluster.store().tell(new KvTier.PrepareStore(new KvTier.Job(9, 1), LongList.of(7, 7), prepared.ref()));

        second.tell(new Replica.GetRecord(records.ref()));
        cluster.kit.settle();

        assertThat(prepared.messages()).hasSize(1);
        assertThat(records.messages()).hasSize(1);
    }

    private void assertLinkIsFree(int port) {
        assertThat(nanosAlone(cluster.storeLink(), port)).isEqualTo(1_000_000);
    }

    /** Returns how long a transfer of 1 MB takes: 1 ms if it has the port for itself. */
    private long nanosAlone(ActorRef<Link.Command> link, int port) {
        var ended = cluster.kit.createInbox(TransferEnded.class);
        long startNanos = cluster.kit.nowNanos();
        link.tell(new Link.Start(
                new Transfer(-1, IntList.of(port), OffloadingFixture.BYTES_PER_BLOCK, 1, 0), ended.ref()));
        cluster.until(startNanos / 1e6 + 30);
        return List.copyOf(ended.messages()).get(0).endNanos() - startNanos;
    }
}

package understudy.cluster.link;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import java.time.Duration;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.testkit.VirtualTimeTestKit;
import understudy.testkit.VirtualTimeTestKit.Inbox;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.Transfer;
import understudy.transfer.TransferCost;
import understudy.transfer.TransferEnded;
import understudy.workload.RandomStreams;

/** Two replicas, each with a NIC of 10 bytes per ns: ports 0 and 1 lead out of and into the first, 2 and 3 the second. */
final class LinkInVirtualTimeTest {
    private static final PortGroup NIC = PortGroup.of(10_000_000_000L, 10_000_000_000L);
    private static final IntList FIRST_TO_SECOND = IntList.of(0, 3);
    private static final IntList SECOND_TO_FIRST = IntList.of(2, 1);

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final Inbox<TransferEnded> ended = kit.createInbox(TransferEnded.class);

    /** 700 for the handshake, 50 to post, 2 for each of 100 descriptors, 300 for 3,000 bytes, 20 to notify: 1,270 ns. */
    @Test
    void transfer_takesItsCostAndItsBytes_andAPairShakesHandsOnce() {
        var link = spawn(new TransferCost(700, 50, 2, 20));

        link.tell(start(1, FIRST_TO_SECOND, 3_000, 100, 12));
        passNanos(2_000);
        link.tell(start(2, FIRST_TO_SECOND, 3_000, 100, 12));
        link.tell(start(3, SECOND_TO_FIRST, 3_000, 100, 21));
        passNanos(2_000);

        // The second one needs no handshake: 570 ns. The third one is of another pair.
        assertThat(ended.messages())
                .containsExactly(done(1, 0, 1_270, 3_000), done(2, 2_000, 2_570, 3_000), done(3, 2_000, 3_270, 3_000));
        assertThat(ended.received()).extracting(Inbox.Received::atNanos).containsExactly(1_270L, 2_570L, 3_270L);
    }

    /** The handshake is over at 700; the one that starts at 600 has waited for that before it posts for 50 ns. */
    @Test
    void transfer_waitsForTheHandshakeOfItsPair() {
        var link = spawn(new TransferCost(700, 50, 0, 0));
        link.tell(start(1, FIRST_TO_SECOND, 0, 0, 12));
        passNanos(600);

        link.tell(start(2, FIRST_TO_SECOND, 1_000, 0, 12));
        passNanos(1_000);

        assertThat(ended.messages()).containsExactly(done(1, 0, 750, 0), done(2, 600, 850, 1_000));
    }

    /** Each way has its own bandwidth, transfers of the same way have half of it each. */
    @Test
    void transfers_shareTheWayThatTheyCross() {
        var link = spawn(TransferCost.NONE);

        link.tell(start(1, FIRST_TO_SECOND, 1_000, 0, 12));
        link.tell(start(2, FIRST_TO_SECOND, 1_000, 0, 12));
        link.tell(start(3, SECOND_TO_FIRST, 1_000, 0, 21));
        passNanos(1_000);

        assertThat(ended.messages())
                .containsExactly(done(3, 0, 100, 1_000), done(1, 0, 200, 1_000), done(2, 0, 200, 1_000));
    }

    /** 500 bytes in 50 ns, then 500 at half the speed: 150 ns. The replica that joins has ports 4 and 5, at full speed. */
    @Test
    void slowPort_slowsDownWhatCrossesIt_andReplicasJoin() {
        var link = spawn(TransferCost.NONE);
        link.tell(start(1, FIRST_TO_SECOND, 1_000, 0, 12));
        passNanos(50);

        link.tell(new Link.SetFactor(3, 0.5));
        link.tell(new Link.AddPorts(NIC));
        link.tell(start(2, IntList.of(4, 1), 1_000, 0, 31));
        passNanos(1_000);

        assertThat(ended.messages()).containsExactly(done(1, 0, 150, 1_000), done(2, 50, 150, 1_000));
    }

    /**
     * 500 bytes are through when the port breaks at 50 ns. The first transfer stands still for the timeout and fails at
     * 10,050; the second one, from 9,000 on, is saved by the repair at 12,000, and ends 100 ns later.
     */
    @Test
    void brokenPort_failsWhatStandsStillForTooLong() {
        var link = spawn(TransferCost.NONE);
        link.tell(start(1, FIRST_TO_SECOND, 1_000, 0, 12));
        passNanos(50);
        link.tell(new Link.SetFactor(0, 0));
        passNanos(8_950);
        link.tell(start(2, FIRST_TO_SECOND, 1_000, 0, 12));
        passNanos(3_000);

        link.tell(new Link.SetFactor(0, 1));
        passNanos(1_000);

        assertThat(ended.messages())
                .containsExactly(new TransferEnded(1, true, 0, 10_050, 500), done(2, 9_000, 12_100, 1_000));
    }

    /** At 70 ns the transfer with the 20 ns of posting has moved 500 bytes; the one with 500 descriptors none. */
    @Test
    void failingPort_failsAllThatCrossIt_inWhateverPhase() {
        var link = spawn(new TransferCost(0, 20, 1, 40));
        link.tell(start(1, FIRST_TO_SECOND, 300, 0, 12));
        link.tell(start(2, FIRST_TO_SECOND, 10_000, 20, 12));
        link.tell(start(3, FIRST_TO_SECOND, 1_000, 500, 12));
        link.tell(start(4, SECOND_TO_FIRST, 1_000, 0, 21));
        passNanos(70);

        link.tell(new Link.FailPort(3));
        kit.settle();

        // The first one is alone from 20 to 40 ns, then has 100 bytes left at half the speed: through at 60, not
        // notified.
        // The second one has 5 per ns from 40 to 60, then 10: 200 bytes.
        assertThat(ended.messages()).containsExactly(failed(1, 300), failed(2, 200), failed(3, 0));
        passNanos(1_000);
        assertThat(ended.messages()).hasSize(4).contains(done(4, 0, 160, 1_000));
    }

    /** The first one has 50 ns at half the speed; then the other one has 750 bytes left, and the link for itself. */
    @Test
    void cancelledTransfer_isNotAnswered_andLeavesItsShare() {
        var link = spawn(TransferCost.NONE);
        link.tell(start(1, FIRST_TO_SECOND, 1_000, 0, 12));
        link.tell(start(2, FIRST_TO_SECOND, 1_000, 0, 12));
        passNanos(50);

        link.tell(new Link.Cancel(1));
        link.tell(new Link.Cancel(99));
        passNanos(1_000);

        assertThat(ended.messages()).containsExactly(done(2, 0, 125, 1_000));
    }

    /** Of 400 transfers with a chance of one in four, 100 fail, give or take 3 times the deviation of 8.7. */
    @Test
    void shareOfTransfers_failsOnItsWay_alikeForTheSameSeed() {
        var first = failing(7);

        assertThat(first).hasSizeBetween(74, 126).allMatch(each -> each.bytes() < 1_000);
        assertThat(first).anyMatch(each -> each.bytes() > 0);
        assertThat(failing(7)).isEqualTo(first);
        assertThat(failing(8)).isNotEqualTo(first);
    }

    private List<TransferEnded> failing(long seed) {
        try (var other = VirtualTimeTestKit.create()) {
            var inbox = other.createInbox(TransferEnded.class);
            var spec = new LinkSpec(List.of(NIC), TransferCost.NONE, LinkSpec.DEFAULT_TIMEOUT_NANOS);
            var link = other.spawn(Link.create(other.clock(), spec, new RandomStreams(seed).stream("link")), "link");
            link.tell(new Link.SetFailShare(0.25));
            for (int id = 0; id < 400; id++) {
                link.tell(new Link.Start(new Transfer(id, IntList.of(0), 1_000, 0, 0), inbox.ref()));
            }
            other.advance(Duration.ofSeconds(1));
            assertThat(inbox.messages()).hasSize(400);
            return inbox.messages().stream().filter(TransferEnded::isFailed).toList();
        }
    }

    private ActorRef<Link.Command> spawn(TransferCost cost) {
        UniformRandomProvider random = new RandomStreams(1).stream("link");
        return kit.spawn(Link.create(kit.clock(), new LinkSpec(List.of(NIC, NIC), cost, 10_000), random), "link");
    }

    private Link.Start start(long id, IntList ports, long bytes, int numDescriptors, long pair) {
        return new Link.Start(new Transfer(id, ports, bytes, numDescriptors, pair), ended.ref());
    }

    private void passNanos(long nanos) {
        kit.advance(Duration.ofNanos(nanos));
    }

    private static TransferEnded done(long id, long startNanos, long endNanos, long bytes) {
        return new TransferEnded(id, false, startNanos, endNanos, bytes);
    }

    private static TransferEnded failed(long id, long bytes) {
        return new TransferEnded(id, true, 0, 70, bytes);
    }
}

package understudy.cluster.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterFixture;
import understudy.cluster.KvBlockManager;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.Router;
import understudy.engine.OutputPlan;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.testkit.VirtualTimeTestKit;

/** What a replica's memory answers, and whom else it tells; probes are in the places of all others. Blocks have 16 tokens. */
final class KvBlockManagerTest {
    private static final Prompt PROMPT = new Prompt(SegmentedTokens.EMPTY.append(7, 40));

    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();
    private final ClusterFixture cluster = new ClusterFixture();
    private final TestProbe<Replica.Command> replica = TestProbe.create(Replica.Command.class, kit.system());
    private final TestProbe<Router.Command> router = TestProbe.create(Router.Command.class, kit.system());
    private final TestProbe<MetricsCollector.Command> metrics =
            TestProbe.create(MetricsCollector.Command.class, kit.system());

    @AfterEach
    void close() {
        kit.close();
    }

    /** 40 tokens take 3 blocks of 9, of which 2 are full: they are found by the next request, and told to the router. */
    @Test
    void admissions_areAnsweredOneByOne_andFullBlocksAreTold() {
        cluster.numBlocks = 10;
        var memory = spawn();

        assertAdmitted(answer(memory, admit(0)), 0, 6);
        // Its first two blocks are shared, and it takes one more.
        assertAdmitted(answer(memory, admit(1)), 32, 5);
        router.expectNoMessage(Duration.ZERO);

        settle(memory, 0, 1);
        var events = router.expectMessageClass(KvBlockManager.KvEvents.class);
        assertThat(events.events()).singleElement().isInstanceOfSatisfying(KvEvent.Stored.class, stored -> {
            assertThat(stored.blockHashes().size()).isEqualTo(2);
            assertThat(stored.hasParent()).isFalse();
        });
        metrics.expectNoMessage(Duration.ZERO);
        replica.expectNoMessage(Duration.ZERO);
    }

    /** The first request has 3 of 4 blocks; what it leaves behind is settled before the next one asks for 3. */
    @Test
    void settlement_comesBeforeTheQuestionThatBringsIt() {
        cluster.numBlocks = 5;
        var memory = spawn();
        answer(memory, admit(0));

        var ended = new Settlement.Builder();
        ended.begin(1, 5);
        ended.end(0, 0, 41, 1);
        var settle = new KvBlockManager.Settle(ended.build(), 0);
        memory.tell(new KvBlockManager.Ask(settle, admit(1), replica.getRef()));
        kit.advance(Duration.ZERO);

        router.expectMessageClass(KvBlockManager.KvEvents.class);
        assertAdmitted(replica.expectMessageClass(KvBlockManager.Answered.class).answer(), 32, 1);
    }

    /** With one block left, a request that needs it is sure to get it, and nobody waits to be told. */
    @Test
    void sureReservation_isNotAnswered() {
        cluster.numBlocks = 5;
        var memory = spawn();
        answer(memory, admit(0));

        var reservation = new Reservation.Builder();
        reservation.add(0, 49, 49);
        memory.tell(new KvBlockManager.Ask(null, new KvAsk.Reserve(reservation.build(), true), replica.getRef()));
        memory.tell(new KvBlockManager.Audit(replica.getRef()));
        kit.advance(Duration.ZERO);

        var audited = replica.expectMessageClass(KvBlockManager.Audited.class);
        assertThat(audited.audit().numInUse()).isEqualTo(4);
        assertThat(audited.peakUsage()).isEqualTo(1);
    }

    /** A release is not answered; a refusal is, and says so. */
    @Test
    void reservation_isRefused_untilBlocksAreReleased() {
        cluster.numBlocks = 5;
        var memory = spawn();
        answer(memory, admit(0));

        // One block is left, and each of two requests would need one more.
        var reservation = new Reservation.Builder();
        reservation.add(0, 49, 49);
        reservation.add(0, 65, 65);
        assertThat(answer(memory, new KvAsk.Reserve(reservation.build(), false)))
                .isEqualTo(new KvAnswer.Reserved(1, 0));

        memory.tell(new KvBlockManager.Ask(null, new KvAsk.Release(0, 1), replica.getRef()));
        kit.advance(Duration.ZERO);
        replica.expectNoMessage(Duration.ZERO);
        assertThat(answer(memory, new KvAsk.Match(List.of(lookup(1)))))
                .isInstanceOfSatisfying(
                        KvAnswer.Matched.class,
                        matched -> assertThat(matched.numFreeBlocks()).isEqualTo(4));
    }

    @Test
    void audit_countsEveryBlock() {
        cluster.numBlocks = 10;
        var memory = spawn();
        answer(memory, admit(0));

        memory.tell(new KvBlockManager.Audit(replica.getRef()));
        kit.advance(Duration.ZERO);

        var audited = replica.expectMessageClass(KvBlockManager.Audited.class);
        assertThat(audited.audit().isConserved()).isTrue();
        assertThat(audited.audit().numInUse()).isEqualTo(3);
        assertThat(audited.audit().numFree()).isEqualTo(6);
    }

    private ActorRef<KvBlockManager.Command> spawn() {
        var peers = ReplicaPeers.of(router.getRef(), metrics.getRef(), ClusterFixture.router(true));
        var setup = new KvBlockManager.Setup(
                kit.clock(), cluster.replicaSpec(), 0, PrefixCacheStats.NONE, peers, replica.getRef());
        return kit.spawn(KvBlockManagerActor.create(setup), "kv-block-manager");
    }

    private KvAnswer answer(ActorRef<KvBlockManager.Command> memory, KvAsk ask) {
        memory.tell(new KvBlockManager.Ask(null, ask, replica.getRef()));
        kit.advance(Duration.ZERO);
        return replica.expectMessageClass(KvBlockManager.Answered.class).answer();
    }

    private void settle(ActorRef<KvBlockManager.Command> memory, int... handles) {
        var settlement = new Settlement.Builder();
        settlement.begin(1, 5);
        for (int handle : handles) {
            settlement.end(handle, 40, 41, 1);
        }
        memory.tell(new KvBlockManager.Settle(settlement.build(), 0));
        kit.advance(Duration.ZERO);
    }

    private static KvAsk admit(int handle) {
        return new KvAsk.Admit(AdmissionRequest.of(lookup(handle), 2048, 60).withReserveFullSequence(false));
    }

    private static PrefixLookup lookup(int handle) {
        var output = new OutputPlan(index -> index, OutputPlan.ENDLESS);
        return new PrefixLookup(handle, PROMPT, output.tokens(), PROMPT.length(), true);
    }

    private static void assertAdmitted(KvAnswer answer, int numCachedTokens, int numFreeBlocks) {
        assertThat(answer.numFreeBlocks()).isEqualTo(numFreeBlocks);
        assertThat(((KvAnswer.Admitted) answer).admission())
                .isInstanceOfSatisfying(Admission.Admitted.class, admitted -> {
                    assertThat(admitted.numCachedTokens()).isEqualTo(numCachedTokens);
                    assertThat(admitted.numScheduledTokens()).isEqualTo(40 - numCachedTokens);
                });
    }
}

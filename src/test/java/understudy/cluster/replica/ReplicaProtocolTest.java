package understudy.cluster.replica;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterFixture;
import understudy.cluster.KvBlockManager;
import understudy.cluster.ListWorkload;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.cluster.VirtualGpu;
import understudy.cluster.device.GpuModel;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.faults.Fault;
import understudy.kvcache.Admission;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.SegmentedTokens;
import understudy.testkit.VirtualTimeTestKit;

/** What a replica says to its memory and its device, and they to it; probes are in their places, or listen. */
final class ReplicaProtocolTest {
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();
    private final ClusterFixture cluster = new ClusterFixture();
    private final TestProbe<KvBlockManager.Command> memory =
            TestProbe.create(KvBlockManager.Command.class, kit.system());
    private final TestProbe<VirtualGpu.Command> device = TestProbe.create(VirtualGpu.Command.class, kit.system());
    private final TestProbe<RequestEvent> client = TestProbe.create(RequestEvent.class, kit.system());
    private final TestProbe<MetricsCollector.Command> metrics =
            TestProbe.create(MetricsCollector.Command.class, kit.system());

    @AfterEach
    void close() {
        kit.close();
    }

    /** One question for the admission, one batch, one settlement; nothing else is said. */
    @Test
    void request_isAdmittedExecutedSettledAndAnswered() {
        var replica = spawn(cluster.replicaSpec()
                .withMemory(setup -> inPlaceOfAnActor(memory))
                .withDevice((clock, index, group) -> inPlaceOfAnActor(device)));

        replica.tell(new Replica.AddRequest(ListWorkload.request(1, 0, 40, 1), client.getRef(), false));
        kit.advance(Duration.ZERO);

        var ask = memory.expectMessageClass(KvBlockManager.Ask.class);
        assertThat(ask.ask()).isInstanceOfSatisfying(KvAsk.Admit.class, admit -> {
            assertThat(admit.request().numTokens()).isEqualTo(40);
            assertThat(admit.request().maxTokensNow()).isEqualTo(2048);
        });
        device.expectNoMessage(Duration.ZERO);

        // 16 of the 40 tokens are cached, so 24 are left.
        ask.replyTo()
                .tell(new KvBlockManager.Answered(
                        new KvAnswer.Admitted(new Admission.Admitted(16, 24, PrefixCacheEvents.NONE), 6)));
        kit.advance(Duration.ZERO);
        var step = device.expectMessageClass(VirtualGpu.ExecuteStep.class);
        assertThat(step.batch().numChunks()).isEqualTo(1);
        assertThat(step.batch().chunkTokens(0)).isEqualTo(24);
        assertThat(step.batch().chunkContextTokens(0)).isEqualTo(16);
        client.expectNoMessage(Duration.ZERO);

        step.replyTo().tell(new VirtualGpu.StepDone(0, 7));
        kit.advance(Duration.ZERO);
        var finished = client.expectMessageClass(RequestEvent.Finished.class);
        assertThat(finished.numCachedTokens()).isEqualTo(16);
        assertThat(finished.numOutputTokens()).isEqualTo(1);
        var settle = memory.expectMessageClass(KvBlockManager.Settle.class);
        assertThat(settle.settlement().isEnded(0)).isTrue();
        assertThat(settle.atNanos()).isEqualTo(7);
        var happened = metrics.expectMessageClass(MetricsCollector.Happened.class);
        assertThat(((ClusterEvent.StepEnded) happened.event()).ended()).hasSize(1);
        memory.expectNoMessage(Duration.ZERO);
        device.expectNoMessage(Duration.ZERO);
        metrics.expectNoMessage(Duration.ZERO);
    }

    /** Two prompts of 40 tokens, two full blocks and a half: the second one computes the last 8 only, in the same forward. */
    @Test
    void samePrompts_runInOneForward_andComputeWhatTheyShareOnce() {
        var replica = spawn(cluster.replicaSpec()
                .withMemory(setup -> Behaviors.monitor(
                        KvBlockManager.Command.class, memory.getRef(), KvBlockManagerActor.create(setup)))
                .withDevice((clock, index, group) -> inPlaceOfAnActor(device)));
        var prompt = SegmentedTokens.EMPTY.append(7, 40);

        replica.tell(new Replica.AddRequest(ListWorkload.request(1, 0, prompt, 1), client.getRef(), false));
        replica.tell(new Replica.AddRequest(ListWorkload.request(2, 0, prompt, 1), client.getRef(), false));
        kit.advance(Duration.ZERO);

        assertThat(memory.expectMessageClass(KvBlockManager.Ask.class).ask()).isInstanceOf(KvAsk.Admit.class);
        assertThat(memory.expectMessageClass(KvBlockManager.Ask.class).ask()).isInstanceOf(KvAsk.Admit.class);
        var batch = device.expectMessageClass(VirtualGpu.ExecuteStep.class).batch();
        device.expectNoMessage(Duration.ZERO);
        assertThat(batch.numChunks()).isEqualTo(2);
        assertThat(batch.chunkTokens(0)).isEqualTo(40);
        assertThat(batch.chunkTokens(1)).isEqualTo(8);
        assertThat(batch.chunkContextTokens(1)).isEqualTo(32);
        assertThat(batch.numPrefillTokens()).isEqualTo(48);
    }

    /**
     * The first request, of 40 tokens, leaves two full blocks behind. The second one has 33 tokens and goes on to 45, for
     * which its three blocks are enough: it asks for none when the cache shrinks. Of 16 free blocks 15 go, the empty ones
     * first, so that one of the two is lost.
     */
    @Test
    void blocksLostToAResize_areToldAtTheEndOfTheStep() {
        cluster.numBlocks = 20;
        var router = kit.createInbox(Router.Command.class);
        var peers = ReplicaPeers.of(router.ref(), metrics.getRef(), ClusterFixture.router(true));
        var spec = cluster.replicaSpec().withDevice(GpuModel.of(batch -> 1_000));
        var replica = kit.spawn(RunningReplica.create(kit.clock(), 0, spec, peers), "replica");
        replica.tell(new Replica.AddRequest(ListWorkload.request(1, 0, 40, 1), client.getRef(), false));
        kit.advance(Duration.ofNanos(5_000));
        replica.tell(new Replica.AddRequest(ListWorkload.request(2, 0, 33, 12), client.getRef(), false));
        kit.advance(Duration.ofNanos(3_500));
        int numToldBefore = router.messages().size();

        var resize = new Fault.ShrinkKv(0, 5);
        replica.tell(
                new Replica.Order(resize, kit.createInbox(Replica.Done.class).ref()));
        kit.advance(Duration.ofNanos(100));
        assertThat(router.messages()).hasSize(numToldBefore);
        kit.advance(Duration.ofNanos(1_000));

        assertThat(router.messages()).hasSize(numToldBefore + 1);
        var told = (KvBlockManager.KvEvents) router.messages().get(numToldBefore);
        assertThat(told.events()).hasSize(1);
        var removed = (KvEvent.Removed) told.events().get(0);
        assertThat(removed.blockHashes().size()).isEqualTo(1);
    }

    private ActorRef<Replica.Command> spawn(ReplicaSpec spec) {
        var router = TestProbe.create(Router.Command.class, kit.system());
        var peers = ReplicaPeers.of(router.getRef(), metrics.getRef(), ClusterFixture.router(false));
        return kit.spawn(RunningReplica.create(kit.clock(), 0, spec, peers), "replica");
    }

    private static <T> Behavior<T> inPlaceOfAnActor(TestProbe<T> probe) {
        return Behaviors.receiveMessage(message -> {
            probe.getRef().tell(message);
            return Behaviors.same();
        });
    }
}

package understudy.cluster.router;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.time.Duration;
import java.util.List;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterFixture;
import understudy.cluster.KvBlockManager;
import understudy.cluster.ListWorkload;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.faults.CrashRetries;
import understudy.kvcache.KvEvent;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;
import understudy.routing.ReplicaTraits;
import understudy.routing.policy.LoadBalance;
import understudy.routing.policy.PrefixAware;
import understudy.testkit.VirtualTimeTestKit;

/**
 * A prefix-aware router whose three replicas are probes: what it has heard of their prefix tables decides, and nothing else.
 * Without it, the first replica with the fewest outstanding requests is chosen.
 */
final class RouterKvEventsTest {
    private static final int BLOCK_SIZE = 16;

    /** 160 tokens are 10 blocks. */
    private static final SegmentedTokens TOKENS = SegmentedTokens.EMPTY.append(7, 160);

    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();
    private final TestProbe<Replica.Command> first = probe();
    private final TestProbe<Replica.Command> second = probe();
    private final TestProbe<Replica.Command> third = probe();
    private final ClusterFixture cluster = new ClusterFixture();
    private long nextId;

    @AfterEach
    void close() {
        kit.close();
    }

    @Test
    void cachedPrefix_drawsARequest_untilItIsEvicted() {
        var router = router(Duration.ZERO);
        expectAt(first, router);

        router.tell(stored(2));
        expectAt(third, router);
        expectAt(third, router);

        router.tell(new KvBlockManager.KvEvents(2, List.of(new KvEvent.Removed(hashes()))));
        // One request is outstanding at the first replica, two at the third, none at the second.
        expectAt(second, router);
    }

    @Test
    void lateEvent_isMissedByTheRequestsBeforeIt() {
        var router = router(Duration.ofMillis(50));
        router.tell(stored(2));

        kit.advance(Duration.ofMillis(49));
        expectAt(first, router);
        kit.advance(Duration.ofMillis(2));
        expectAt(third, router);
    }

    @Test
    void crash_clearsWhatWasKnownOfTheReplica() {
        var router = router(Duration.ZERO);
        router.tell(stored(2));

        crash(router, 2, third);

        expectAt(first, router);
    }

    @Test
    void eventsOfAReplicaThatHasCrashedMeanwhile_areForgotten() {
        var router = router(Duration.ofMillis(50));
        router.tell(stored(2));
        kit.advance(Duration.ofMillis(10));

        crash(router, 2, third);
        kit.advance(Duration.ofMillis(100));

        expectAt(first, router);
    }

    private ActorRef<Router.Command> router(Duration kvEventDelay) {
        cluster.numReplicas = 3;
        cluster.wire = ClusterFixture.late(kvEventDelay);
        cluster.routing = PrefixAware.factory(new PrefixAware.Options(0, new LoadBalance(64, 1.5)));
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var router = kit.spawn(RouterActor.create(kit.clock(), cluster.spec(null), metrics.ref(), null), "router");
        router.tell(new Router.ReplicaUp(0, first.getRef(), ReplicaTraits.PLAIN));
        router.tell(new Router.ReplicaUp(1, second.getRef(), ReplicaTraits.PLAIN));
        router.tell(new Router.ReplicaUp(2, third.getRef(), ReplicaTraits.PLAIN));
        return router;
    }

    /** Sends the prompt once more; only one replica may get it. */
    private void expectAt(TestProbe<Replica.Command> chosen, ActorRef<Router.Command> router) {
        var client = kit.createInbox(RequestEvent.class);
        var request = ListWorkload.request(nextId++, 0, TOKENS, 3);
        router.tell(new Router.Submit(request, client.ref(), false));
        kit.advance(Duration.ZERO);

        assertThat(chosen.expectMessageClass(Replica.AddRequest.class).request())
                .isSameAs(request);
        List.of(first, second, third).forEach(replica -> replica.expectNoMessage(Duration.ZERO));
    }

    private void crash(ActorRef<Router.Command> router, int index, TestProbe<Replica.Command> replica) {
        router.tell(new Router.TakeDown(index, new Replica.Crash(CrashRetries.NONE)));
        router.tell(new Router.ReplicaUp(index, replica.getRef(), ReplicaTraits.PLAIN));
        replica.expectMessage(new Replica.Crash(CrashRetries.NONE));
    }

    private KvBlockManager.KvEvents stored(int replica) {
        var event = new KvEvent.Stored(hashes(), false, 0, new SyntheticTokens(0), 0);
        return new KvBlockManager.KvEvents(replica, List.of(event));
    }

    private LongList hashes() {
        return new LongImmutableList(new Prompt(TOKENS).blockHashes(cluster.hasher), 0, 160 / BLOCK_SIZE);
    }

    private TestProbe<Replica.Command> probe() {
        return TestProbe.create(Replica.Command.class, kit.system());
    }
}

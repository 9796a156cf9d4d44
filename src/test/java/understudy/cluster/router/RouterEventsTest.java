package understudy.cluster.router;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterFixture;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.routing.ReplicaTraits;
import understudy.routing.RoutingScores;
import understudy.testkit.VirtualTimeTestKit;

/** Events of the router. */
final class RouterEventsTest {
    private static final long MILLI = 1_000_000;

    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();
    private static final IntList BOTH = IntList.of(0, 1);

    private final VirtualTimeTestKit.Inbox<ClusterEvent> subscriber = kit.createInbox(ClusterEvent.class);
    private final VirtualTimeTestKit.Inbox<RequestEvent> client = kit.createInbox(RequestEvent.class);

    @AfterEach
    void close() {
        kit.close();
    }

    @Test
    void everyChoice_withTheScoresBeforeIt() {
        var router = spawn(Set.of(ClusterEvent.Detail.CHOICES));

        submit(router, 1);
        kit.advance(Duration.ofMillis(3));
        submit(router, 2);

        kit.advance(Duration.ZERO);

        // Round robin over two replicas; at 3 ms the first request is outstanding at replica 0.
        assertThat(subscriber.messages())
                .containsExactly(
                        new ClusterEvent.Routed(1, 0, 0, 20, BOTH, outstanding(0, 0)),
                        new ClusterEvent.Routed(2, 1, 3 * MILLI, 20, BOTH, outstanding(1, 0)));
    }

    /** A subscriber that reads no choices, as the autoscaler, gets replica and tokens alone. */
    @Test
    void choicesThatNobodyReads_areLeftOut() {
        var router = spawn(Set.of());

        submit(router, 1);
        kit.advance(Duration.ZERO);

        assertThat(subscriber.messages())
                .containsExactly(new ClusterEvent.Routed(1, 0, 0, 20, IntList.of(), RoutingScores.NONE));
    }

    private void submit(ActorRef<Router.Command> router, long id) {
        router.tell(new Router.Submit(request(id, 0, 20, 3), client.ref(), false));
    }

    private static RoutingScores outstanding(long... byReplica) {
        return new RoutingScores(
                "next in turn", List.of(new RoutingScores.Part("outstanding", LongList.of(byReplica))));
    }

    private ActorRef<Router.Command> spawn(Set<ClusterEvent.Detail> details) {
        var cluster = new ClusterFixture();
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var spec = cluster.spec(null);
        var replicas = kit.createInbox(Replica.Command.class);
        var spawned = kit.spawn(
                RouterActor.create(
                        kit.clock(), spec, metrics.ref(), new ClusterEvent.Subscriber(subscriber.ref(), details)),
                "router");
        spawned.tell(new Router.ReplicaUp(0, replicas.ref(), ReplicaTraits.PLAIN));
        spawned.tell(new Router.ReplicaUp(1, replicas.ref(), ReplicaTraits.PLAIN));
        return spawned;
    }
}

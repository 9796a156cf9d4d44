package understudy.cluster.router;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterFixture;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.Router;
import understudy.faults.ReplicaOrder;
import understudy.routing.ReplicaTraits;
import understudy.testkit.VirtualTimeTestKit;

/** Who gets an order, and when it is answered: of three replicas the last one has gone. */
final class RouterOrdersTest {
    private static final ReplicaOrder ORDER = new ReplicaOrder.ResetPrefixCache(false);

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final VirtualTimeTestKit.Inbox<Router.AllDone> answers = kit.createInbox(Router.AllDone.class);
    private final List<VirtualTimeTestKit.Inbox<Replica.Command>> replicas = Stream.generate(
                    () -> kit.createInbox(Replica.Command.class))
            .limit(3)
            .toList();
    private ActorRef<Router.Command> router;

    @BeforeEach
    void start() {
        var cluster = new ClusterFixture();
        cluster.numReplicas = 3;
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        router = kit.spawn(RouterActor.create(kit.clock(), cluster.spec(null), metrics.ref(), null), "router");
        for (int i = 0; i < 3; i++) {
            router.tell(new Router.ReplicaUp(i, replicas.get(i).ref(), ReplicaTraits.PLAIN));
        }
        router.tell(new Router.TakeDown(2, Replica.Leave.NOW));
        kit.settle();
    }

    private void order(OptionalInt replica) {
        router.tell(new Router.Order(replica, ORDER, answers.ref()));
        kit.settle();
    }

    private List<Replica.Order> ordersOf(int replica) {
        return replicas.get(replica).messages().stream()
                .filter(Replica.Order.class::isInstance)
                .map(Replica.Order.class::cast)
                .toList();
    }

    private void answer(int replica, boolean isDone) {
        ordersOf(replica).get(0).replyTo().tell(new Replica.Done(replica, isDone));
        kit.settle();
    }

    @Test
    void orderToAll_isAnsweredAfterTheLastReplicaThatIsUp() {
        order(OptionalInt.empty());
        answer(1, false);
        assertThat(answers.messages()).isEmpty();
        answer(0, true);

        assertThat(answers.messages()).containsExactly(new Router.AllDone(false));
        assertThat(ordersOf(2)).isEmpty();
    }

    @Test
    void orderToOne_goesToNoOther() {
        order(OptionalInt.of(1));
        answer(1, true);

        assertThat(answers.messages()).containsExactly(new Router.AllDone(true));
        assertThat(ordersOf(0)).isEmpty();
    }

    @Test
    void orderToAReplicaThatIsNotUp_isDone() {
        order(OptionalInt.of(2));
        order(OptionalInt.of(3));

        assertThat(answers.messages()).containsExactly(new Router.AllDone(true), new Router.AllDone(true));
    }
}

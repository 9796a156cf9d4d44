package understudy.cluster.router;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;

import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterFixture;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.faults.RequestFault;
import understudy.routing.ReplicaTraits;
import understudy.testkit.VirtualTimeTestKit;

/** What a replica hears of the API's work on a request that was done before it came. */
final class RouterHeadStartTest {
    private static final long MILLI = 1_000_000;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final VirtualTimeTestKit.Inbox<RequestEvent> client = kit.createInbox(RequestEvent.class);
    private final VirtualTimeTestKit.Inbox<Replica.Command> replica = kit.createInbox(Replica.Command.class);

    @Test
    void requestThatArrivedBefore_hasAHeadStart_butNotAtASecondReplica() {
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var router = kit.spawn(
                RouterActor.create(kit.clock(), new ClusterFixture().spec(null), metrics.ref(), null), "router");
        router.tell(new Router.ReplicaUp(0, replica.ref(), ReplicaTraits.PLAIN));
        kit.advance(Duration.ofMillis(3));

        router.tell(new Router.Submit(request(1, 0, 20, 3), client.ref(), false));
        router.tell(new Router.Reroute(new Replica.AddRequest(
                request(2, 0, 20, 3), client.ref(), false, false, 0, RequestFault.NONE, 3 * MILLI, null)));
        kit.advance(Duration.ZERO);

        // Both arrived at 0 ms; it is 3 ms now. The second one's API has begun anew.
        assertThat(replica.messages())
                .filteredOn(Replica.AddRequest.class::isInstance)
                .extracting(message -> ((Replica.AddRequest) message).headStartNanos())
                .containsExactly(3 * MILLI, 0L);
    }
}

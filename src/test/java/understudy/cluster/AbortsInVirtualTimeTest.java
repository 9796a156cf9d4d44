package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;

import it.unimi.dsi.fastutil.longs.LongLists;
import java.time.Duration;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.replica.RunningReplica;
import understudy.cluster.router.RouterActor;
import understudy.engine.FinishReason;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.faults.CrashRetries;
import understudy.faults.ReplicaOrder;
import understudy.prompt.Prompt;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.TokenSequence;
import understudy.routing.ReplicaTraits;
import understudy.testkit.VirtualTimeTestKit;

/** Aborts that come at an awkward moment: while a plan is being made, or while a replica crashes. A step takes 5 ms. */
final class AbortsInVirtualTimeTest {
    private static final long MILLI = 1_000_000;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final ClusterFixture cluster = new ClusterFixture();
    private final VirtualTimeTestKit.Inbox<MetricsCollector.Command> metrics =
            kit.createInbox(MetricsCollector.Command.class);
    private final VirtualTimeTestKit.Inbox<RequestEvent> client = kit.createInbox(RequestEvent.class);

    @Test
    void abortDuringAPlan_takesEffectAfterIt() {
        var router = kit.createInbox(Router.Command.class);
        var replica = replica(0, router.ref());
        var request = promptedBy(7, () -> replica.tell(new Replica.Abort(7)));
        replica.tell(new Replica.AddRequest(request, client.ref(), true));

        kit.advance(Duration.ofMillis(50));

        assertThat(client.messages()).singleElement().isInstanceOfSatisfying(RequestEvent.Finished.class, finished -> {
            assertThat(finished.reason()).isEqualTo(FinishReason.ABORT);
            assertThat(finished.numOutputTokens()).isZero();
        });
        // Had the abort come before the plan, there would be no step; now its prompt of 20 tokens is computed for
        // nothing.
        assertThat(steps()).singleElement().satisfies(step -> {
            assertThat(step.numTokens()).isEqualTo(20);
            assertThat(step.endNanos()).isEqualTo(5 * MILLI);
            assertThat(step.numSampled()).isZero();
        });
        assertThat(router.messages())
                .last()
                .isEqualTo(new Router.ReplicaProgress(0, 1, LongLists.EMPTY_LIST, LongLists.EMPTY_LIST, 0, 0));
    }

    @Test
    void abortDuringAPlanOfAReplicaThatCrashes_followsTheRequestToTheRouter() {
        var router = kit.createInbox(Router.Command.class);
        var replica = replica(0, router.ref());
        var request = promptedBy(7, () -> {
            replica.tell(new Replica.Abort(7));
            replica.tell(new Replica.Crash(ClusterFixture.REROUTE));
        });
        var submit = new Replica.AddRequest(request, client.ref(), true);
        replica.tell(submit);

        kit.advance(Duration.ofMillis(50));

        assertThat(router.messages()).containsSubsequence(new Router.Reroute(submit), new Router.Abort(7));
        assertThat(client.messages()).isEmpty();
    }

    @Test
    void resetDuringAPlanOfAReplicaThatCrashes_isAnswered() {
        var answers = kit.createInbox(Replica.Done.class);
        var replica = replica(0, kit.createInbox(Router.Command.class).ref());
        var request = promptedBy(7, () -> {
            replica.tell(new Replica.Order(new ReplicaOrder.ResetPrefixCache(false), answers.ref()));
            replica.tell(new Replica.Crash(CrashRetries.NONE));
        });
        replica.tell(new Replica.AddRequest(request, client.ref(), true));

        kit.advance(Duration.ofMillis(50));

        assertThat(answers.messages()).containsExactly(new Replica.Done(0, true));
    }

    @Test
    void abortThatOvertakesAReroutedRequest_reachesIt() {
        cluster.numReplicas = 2;
        var router = kit.spawn(RouterActor.create(kit.clock(), cluster.spec(null), metrics.ref(), null), "router");
        router.tell(new Router.ReplicaUp(0, replica(0, router), ReplicaTraits.PLAIN));
        router.tell(new Router.ReplicaUp(1, replica(1, router), ReplicaTraits.PLAIN));
        kit.settle();
        router.tell(new Router.Submit(request(7, 0, 20, 100), client.ref(), true));
        kit.advance(Duration.ofMillis(2));

        // The router tells the dead replica of the abort, then gets the request back from it.
        together(() -> {
            router.tell(new Router.TakeDown(0, new Replica.Crash(ClusterFixture.REROUTE)));
            router.tell(new Router.Abort(7));
        });
        kit.advance(Duration.ofSeconds(1));

        assertThat(client.messages().subList(0, 2))
                .containsExactly(new RequestEvent.Admitted(7, 0), new RequestEvent.Admitted(7, 1));
        assertThat(client.messages()).last().isInstanceOfSatisfying(RequestEvent.Finished.class, finished -> {
            assertThat(finished.reason()).isEqualTo(FinishReason.ABORT);
            assertThat(finished.numOutputTokens()).isZero();
        });
    }

    private List<ClusterEvent.StepEnded> steps() {
        return metrics.messages().stream()
                .map(message -> ((MetricsCollector.Happened) message).event())
                .filter(ClusterEvent.StepEnded.class::isInstance)
                .map(ClusterEvent.StepEnded.class::cast)
                .toList();
    }

    private ActorRef<Replica.Command> replica(int index, ActorRef<Router.Command> router) {
        var peers = ReplicaPeers.of(router, metrics.ref(), ClusterFixture.router(false));
        return kit.spawn(RunningReplica.create(kit.clock(), index, cluster.replicaSpec(), peers), "replica-" + index);
    }

    /** Sends several messages on the loop, so that nothing comes between them. */
    private void together(Runnable sends) {
        var sender = kit.spawn(
                Behaviors.<Runnable>receiveMessage(task -> {
                    task.run();
                    return Behaviors.stopped();
                }),
                "sender");
        sender.tell(sends);
    }

    /** A request of 20 prompt tokens; what {@code onRead} sends comes when the memory looks at them, which is during a plan. */
    private static Request promptedBy(long id, Runnable onRead) {
        var tokens = new TokenSequence() {
            private boolean isRead;

            @Override
            public int length() {
                return 20;
            }

            @Override
            public int tokenAt(int index) {
                if (!isRead) {
                    isRead = true;
                    onRead.run();
                }
                return index;
            }
        };
        var output = new OutputPlan(new SyntheticTokens(-1 - id), OutputPlan.ENDLESS);
        return Request.of(id, 0, new Prompt(tokens), 100, output);
    }
}

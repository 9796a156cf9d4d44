package understudy.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;

/** The cluster's front door: keeps a view of the replicas, chooses one for each request, and forwards it. */
public final class Router extends AbstractBehavior<Router.Command> {

    /** What the router understands. */
    public sealed interface Command permits Submit, AddReplica, ReplicaLoad, KvBlockManager.KvEvents, KvEventsArrived {}

    /**
     * A request from outside.
     *
     * @param replyTo hears what becomes of it
     * @param isStreaming whether {@code replyTo} wants to hear of every token, and not only of the end
     */
    public record Submit(Request request, ActorRef<? super RequestEvent> replyTo, boolean isStreaming)
            implements Command {}

    /** A replica has joined; it gets the next index, from 0. */
    public record AddReplica(ActorRef<Replica.Command> replica) implements Command {}

    /**
     * What a replica reports of itself when it has changed.
     *
     * @param numRunning requests in its running list
     * @param numWaiting requests in its waiting queues
     * @param numEnded requests that have ended since the start
     */
    public record ReplicaLoad(int replicaIndex, int numRunning, int numWaiting, long numEnded) implements Command {}

    private record KvEventsArrived(KvBlockManager.KvEvents events) implements Command {}

    private final RoutingPolicy policy;
    private final Duration kvEventDelay;
    private final ClusterView view = new ClusterView();
    private final List<ActorRef<Replica.Command>> replicas = new ArrayList<>();

    private Router(ActorContext<Command> context, RoutingPolicy policy, Duration kvEventDelay) {
        super(context);
        this.policy = policy;
        this.kvEventDelay = kvEventDelay;
    }

    /**
     * Creates a router without replicas.
     *
     * @param kvEventDelay how long KV events are under way, at least 0
     */
    public static Behavior<Command> create(RoutingPolicy policy, Duration kvEventDelay) {
        return Behaviors.setup(context -> new Router(context, policy, kvEventDelay));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(ReplicaLoad.class, this::onReplicaLoad)
                .onMessage(KvBlockManager.KvEvents.class, this::onKvEvents)
                .onMessage(KvEventsArrived.class, this::onKvEventsArrived)
                .onMessage(Submit.class, this::onSubmit)
                .onMessage(AddReplica.class, this::onAddReplica)
                .build();
    }

    private Behavior<Command> onSubmit(Submit submit) {
        int chosen = policy.choose(submit.request, view);
        view.onDispatched(chosen);
        if (submit.isStreaming) {
            submit.replyTo.tell(new RequestEvent.Admitted(submit.request.id(), chosen));
        }
        replicas.get(chosen).tell(new Replica.Submit(submit.request, submit.replyTo, submit.isStreaming));
        return this;
    }

    private Behavior<Command> onAddReplica(AddReplica added) {
        replicas.add(added.replica);
        view.addReplica();
        return this;
    }

    private Behavior<Command> onReplicaLoad(ReplicaLoad load) {
        view.onEnded(load.replicaIndex, load.numEnded);
        return this;
    }

    private Behavior<Command> onKvEvents(KvBlockManager.KvEvents events) {
        if (kvEventDelay.isZero()) {
            policy.onKvEvents(events.replicaIndex(), events.events());
        } else {
            getContext().scheduleOnce(kvEventDelay, getContext().getSelf(), new KvEventsArrived(events));
        }
        return this;
    }

    private Behavior<Command> onKvEventsArrived(KvEventsArrived arrived) {
        policy.onKvEvents(arrived.events.replicaIndex(), arrived.events.events());
        return this;
    }
}

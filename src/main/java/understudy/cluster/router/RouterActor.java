package understudy.cluster.router;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.japi.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.KvBlockManager;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.faults.FaultSampler;
import understudy.routing.Lanes;
import understudy.routing.admission.SlowReplicas;
import understudy.routing.policy.GuardedPolicy;
import understudy.runtime.Clock;

/** Router of a cluster: hands signals of replicas to the view, and requests to the dispatcher. */
public final class RouterActor extends AbstractBehavior<Router.Command> {
    private final Lanes lanes;
    private final ReplicaSignals signals;
    private final RequestGate gate;
    private final List<ActorRef<Replica.Command>> replicas = new ArrayList<>();
    private final BitSet up = new BitSet();
    private final RequestDispatcher dispatcher;
    private final AbortedReroutes abortedReroutes = new AbortedReroutes();
    private long numSubmitted;

    private RouterActor(
            ActorContext<Router.Command> context,
            Clock clock,
            ClusterSpec spec,
            ActorRef<MetricsCollector.Command> metrics,
            ClusterEvent.@Nullable Subscriber subscriber) {
        super(context);
        lanes = lanes(context, spec);
        var slowReplicas = new SlowReplicas(spec.admission().ejection());
        signals = new ReplicaSignals(clock, context.getSelf(), spec.router(), lanes, slowReplicas);
        gate = new RequestGate(clock, new FaultSampler(spec.faults().streams()), metrics, subscriber);
        var prefillEvents = context.messageAdapter(RequestEvent.class, Router.PrefillEvent::new);
        dispatcher = new RequestDispatcher(
                clock, context.getSelf(), spec, lanes, replicas, gate, slowReplicas, prefillEvents, subscriber);
    }

    private static Lanes lanes(ActorContext<Router.Command> context, ClusterSpec spec) {
        var memory = spec.replicas().get(0).kvCache();
        int numReplicas = spec.replicas().size();
        return spec.router().createLanes(memory.hasher(), numReplicas, memory.maxModelLen(), (name, policy) -> {
            String warning = "router.policy = {} failed; where it does, the least loaded replica gets the request";
            return new GuardedPolicy(policy, e -> context.getLog().warn(warning, name, e));
        });
    }

    /** Creates a router without replicas, for a cluster of this kind. */
    public static Behavior<Router.Command> create(
            Clock clock,
            ClusterSpec spec,
            ActorRef<MetricsCollector.Command> metrics,
            ClusterEvent.@Nullable Subscriber subscriber) {
        return Behaviors.setup(context -> new RouterActor(context, clock, spec, metrics, subscriber));
    }

    @Override
    public Receive<Router.Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Router.ReplicaProgress.class, signal(signals::onProgress))
                .onMessage(Router.LoadReported.class, signal(signals::onReported))
                .onMessage(Router.LoadArrived.class, signal(signals::onArrived))
                .onMessage(Router.ReplayArrived.class, signal(signals::onArrived))
                .onMessage(KvBlockManager.KvEvents.class, signal(signals::onEvents))
                .onMessage(Router.KvEventsArrived.class, signal(signals::onArrived))
                .onMessage(Router.Submit.class, this::onSubmit)
                .onMessage(Router.WaitExpired.class, plain(now -> dispatcher.onExpiryDue()))
                .onMessage(Router.PrefillEvent.class, signal(told -> dispatcher.onPrefillEvent(told.event())))
                .onMessage(Router.Abort.class, this::onAbort)
                .onMessage(Router.Order.class, plain(this::onOrder))
                .onMessage(Router.Reroute.class, this::onReroute)
                .onMessage(Router.ReplicaUp.class, this::onReplicaUp)
                .onMessage(Router.SetReady.class, this::onSetReady)
                .onMessage(Router.TakeDown.class, this::onTakeDown)
                .onMessage(Router.ReplicaGone.class, plain(gone -> abortedReroutes.end(gone.replicaIndex())))
                .onMessage(Router.SetFault.class, plain(set -> gate.set(set.fault())))
                .onMessage(Router.Close.class, this::onClose)
                .build();
    }

    private Behavior<Router.Command> onSubmit(Router.Submit submit) {
        numSubmitted++;
        dispatcher.submit(submit);
        return this;
    }

    private Behavior<Router.Command> onReroute(Router.Reroute reroute) {
        dispatcher.reroute(reroute.submit());
        long requestId = reroute.submit().request().id();
        return abortedReroutes.isAborted(requestId) ? onAbort(new Router.Abort(requestId)) : this;
    }

    /**
     * Aborts go to all replicas, because the router does not keep which has a request: aborts are rare, and requests
     * are not.
     */
    private Behavior<Router.Command> onAbort(Router.Abort abort) {
        if (dispatcher.abort(abort.requestId())) {
            return this;
        }
        abortedReroutes.onAbort(abort.requestId());
        replicas.forEach(replica -> replica.tell(new Replica.Abort(abort.requestId())));
        return this;
    }

    private void onOrder(Router.Order order) {
        int[] told = up.stream()
                .filter(index -> order.replica().orElse(index) == index)
                .toArray();
        var answers = getContext().spawnAnonymous(OrderAnswers.create(told.length, order.replyTo()));
        for (int index : told) {
            replicas.get(index).tell(new Replica.Order(order.order(), answers));
        }
    }

    private Behavior<Router.Command> onReplicaUp(Router.ReplicaUp started) {
        while (replicas.size() <= started.replicaIndex()) {
            lanes.add(started.traits());
            replicas.add(getContext().getSystem().deadLetters());
        }
        replicas.set(started.replicaIndex(), started.replica());
        lanes.of(started.replicaIndex()).view().setReady(started.replicaIndex(), true);
        up.set(started.replicaIndex());
        signals.onUp(started.replicaIndex());
        dispatcher.routeWaiting();
        return this;
    }

    private Behavior<Router.Command> onSetReady(Router.SetReady set) {
        lanes.of(set.replicaIndex()).view().setReady(set.replicaIndex(), set.isReady());
        dispatcher.routeWaiting();
        return this;
    }

    private Behavior<Router.Command> onTakeDown(Router.TakeDown down) {
        int index = down.replicaIndex();
        lanes.of(index).view().setReady(index, false);
        up.clear(index);
        gate.clear(index);
        signals.onDown(index);
        if (down.lastMessage() instanceof Replica.Crash crash && crash.retries().isAnyAllowed()) {
            abortedReroutes.begin(index);
        }
        replicas.get(index).tell(down.lastMessage());
        dispatcher.routeWaiting();
        return this;
    }

    private Behavior<Router.Command> onClose(Router.Close close) {
        close.replyTo().tell(new Router.Closed(numSubmitted, dispatcher.numWaiting()));
        return this;
    }

    /** Handles a signal of a replica, after which it may take more requests. */
    private <M> Function<M, Behavior<Router.Command>> signal(Consumer<M> handler) {
        return plain(message -> {
            handler.accept(message);
            dispatcher.routeWaiting();
        });
    }

    private <M> Function<M, Behavior<Router.Command>> plain(Consumer<M> handler) {
        return message -> {
            handler.accept(message);
            return this;
        };
    }
}

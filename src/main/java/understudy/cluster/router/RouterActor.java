package understudy.cluster.router;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
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

/**
 * Router of a cluster: hands signals of replicas to the view, and requests to the dispatcher.
 *
 * <p>Messages are told apart by type tests, those first that come with every request and step.
 */
public final class RouterActor extends ExtensibleBehavior<Router.Command> {
    private final ActorContext<Router.Command> context;
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
        this.context = context;
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
    public Behavior<Router.Command> receive(TypedActorContext<Router.Command> ignored, Router.Command command) {
        if (command instanceof Router.Submit submit) {
            numSubmitted++;
            dispatcher.submit(submit);
        } else if (onSignal(command)) {
            dispatcher.routeWaiting();
        } else {
            onRare(command);
        }
        return this;
    }

    /** Takes a signal of a replica, after which it may take more requests; returns whether it was one. */
    private boolean onSignal(Router.Command command) {
        if (command instanceof Router.ReplicaProgress progress) {
            signals.onProgress(progress);
        } else if (command instanceof KvBlockManager.KvEvents events) {
            signals.onEvents(events);
        } else if (command instanceof Router.LoadReported reported) {
            signals.onReported(reported);
        } else if (command instanceof Router.LoadArrived arrived) {
            signals.onArrived(arrived);
        } else if (command instanceof Router.KvEventsArrived arrived) {
            signals.onArrived(arrived);
        } else if (command instanceof Router.ReplayArrived arrived) {
            signals.onArrived(arrived);
        } else if (command instanceof Router.PrefillEvent told) {
            dispatcher.onPrefillEvent(told.event());
        } else {
            return false;
        }
        return true;
    }

    private void onRare(Router.Command command) {
        if (command instanceof Router.WaitExpired) {
            dispatcher.onExpiryDue();
        } else if (command instanceof Router.Abort abort) {
            abort(abort.requestId());
        } else if (command instanceof Router.Order order) {
            onOrder(order);
        } else if (command instanceof Router.Reroute reroute) {
            onReroute(reroute);
        } else if (command instanceof Router.ReplicaUp started) {
            onReplicaUp(started);
        } else if (command instanceof Router.SetReady set) {
            onSetReady(set);
        } else if (command instanceof Router.TakeDown down) {
            onTakeDown(down);
        } else if (command instanceof Router.ReplicaGone gone) {
            abortedReroutes.end(gone.replicaIndex());
        } else if (command instanceof Router.SetFault set) {
            gate.set(set.fault());
        } else if (command instanceof Router.Close close) {
            close.replyTo().tell(new Router.Closed(numSubmitted, dispatcher.numWaiting()));
        }
    }

    @Override
    public Behavior<Router.Command> receiveSignal(TypedActorContext<Router.Command> ignored, Signal signal) {
        return Behaviors.unhandled();
    }

    private void onReroute(Router.Reroute reroute) {
        dispatcher.reroute(reroute.submit());
        long requestId = reroute.submit().request().id();
        if (abortedReroutes.isAborted(requestId)) {
            abort(requestId);
        }
    }

    /**
     * Aborts go to all replicas, because the router does not keep which has a request: aborts are rare, and requests
     * are not.
     */
    private void abort(long requestId) {
        if (!dispatcher.abort(requestId)) {
            abortedReroutes.onAbort(requestId);
            replicas.forEach(replica -> replica.tell(new Replica.Abort(requestId)));
        }
    }

    private void onOrder(Router.Order order) {
        int[] told = up.stream()
                .filter(index -> order.replica().orElse(index) == index)
                .toArray();
        var answers = context.spawnAnonymous(OrderAnswers.create(told.length, order.replyTo()));
        for (int index : told) {
            replicas.get(index).tell(new Replica.Order(order.order(), answers));
        }
    }

    private void onReplicaUp(Router.ReplicaUp started) {
        while (replicas.size() <= started.replicaIndex()) {
            lanes.add(started.traits());
            replicas.add(context.getSystem().deadLetters());
        }
        replicas.set(started.replicaIndex(), started.replica());
        lanes.of(started.replicaIndex()).view().setReady(started.replicaIndex(), true);
        up.set(started.replicaIndex());
        signals.onUp(started.replicaIndex());
        dispatcher.routeWaiting();
    }

    private void onSetReady(Router.SetReady set) {
        lanes.of(set.replicaIndex()).view().setReady(set.replicaIndex(), set.isReady());
        dispatcher.routeWaiting();
    }

    private void onTakeDown(Router.TakeDown down) {
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
    }
}

package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.japi.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.cluster.orders.OrderAnswers;
import understudy.engine.Request;
import understudy.faults.Fault;
import understudy.faults.FaultSampler;
import understudy.faults.ReplicaOrder;
import understudy.faults.RequestFault;
import understudy.routing.Lanes;
import understudy.routing.LoadReport;
import understudy.routing.ReplicaTraits;
import understudy.routing.Signal;
import understudy.routing.admission.SlowReplicas;
import understudy.routing.policy.GuardedPolicy;
import understudy.runtime.Clock;

/** Router of a cluster: keeps a view of the replicas, chooses one for each request, and forwards it. */
public final class Router extends AbstractBehavior<Router.Command> {

    /** Messages of the router. */
    public sealed interface Command
            permits Submit,
                    Abort,
                    Order,
                    Reroute,
                    ReplicaUp,
                    SetReady,
                    TakeDown,
                    ReplicaGone,
                    SetFault,
                    Close,
                    ReplicaProgress,
                    LoadReported,
                    LoadArrived,
                    WaitExpired,
                    PrefillEvent,
                    ReplayArrived,
                    KvBlockManager.KvEvents,
                    KvEventsArrived {}

    /**
     * A request from outside.
     *
     * @param replyTo is told its events
     * @param isStreaming whether {@code replyTo} wants to hear of every token, and not only of the end
     * @param replica the one that is to serve it, or empty for the one that the policy chooses
     * @param fault what is to go wrong with it, besides what its replica suffers from
     */
    public record Submit(
            Request request,
            ActorRef<? super RequestEvent> replyTo,
            boolean isStreaming,
            OptionalInt replica,
            RequestFault fault)
            implements Command {

        /** Submits a request with which all is to go well, and leaves the choice of a replica to the router. */
        public Submit(Request request, ActorRef<? super RequestEvent> replyTo, boolean isStreaming) {
            this(request, replyTo, isStreaming, OptionalInt.empty(), RequestFault.NONE);
        }
    }

    /** Aborts a request, wherever it is; its sender is still told of its end. Nothing happens if it has ended. */
    public record Abort(long requestId) implements Command {}

    /** Has a replica, or with an empty one all, carry out an order; those that are not up need not. */
    public record Order(OptionalInt replica, ReplicaOrder order, ActorRef<? super OrderAnswers.AllDone> replyTo)
            implements Command {}

    /** A request, or what is left of one, comes back from a replica that has crashed. */
    public record Reroute(Replica.AddRequest submit) implements Command {}

    /** A replica takes requests from now on: a new one, or the successor of one that has stopped. */
    public record ReplicaUp(int replicaIndex, ActorRef<Replica.Command> replica, ReplicaTraits traits)
            implements Command {}

    /** A replica that is up gets requests from now on, or no more. */
    public record SetReady(int replicaIndex, boolean isReady) implements Command {}

    /** A replica goes down, and gets this as its last message. */
    public record TakeDown(int replicaIndex, Replica.Command lastMessage) implements Command {}

    /** A replica that was taken down has ended, and sends no request back any more. */
    public record ReplicaGone(int replicaIndex) implements Command {}

    /** Requests suffer from a fault from now on. */
    public record SetFault(Fault.OfRequests fault) implements Command {}

    /** The run is over. */
    public record Close(ActorRef<? super Closed> replyTo) implements Command {}

    /** The answer to {@link Close}: how many requests have come, and how many of them wait here. */
    public record Closed(long numSubmitted, int numHeld) implements Cluster.Command {}

    /**
     * What a router sees of the answers that it forwards.
     *
     * @param numEnded requests of the replica that have ended since the start of the run
     * @param firstTokens requests that have got their first token; none unless {@link Signal#PROGRESS} is wanted
     * @param ended requests that have ended; likewise
     * @param decodeNanos the time from the first to the last token of these, summed; likewise
     * @param decodeTokens their tokens after the first ones; likewise
     */
    public record ReplicaProgress(
            int replicaIndex, long numEnded, LongList firstTokens, LongList ended, long decodeNanos, long decodeTokens)
            implements Command {}

    /** A replica reports on itself. */
    public record LoadReported(int replicaIndex, LoadReport report) implements Command {}

    /** A request that waits here has waited too long. */
    enum WaitExpired implements Command {
        NOW
    }

    /** Something has become of a prompt that one replica computes for another. */
    record PrefillEvent(RequestEvent event) implements Command {}

    record LoadArrived(LoadReported report, int numDowns) implements Command {}

    record KvEventsArrived(KvBlockManager.KvEvents events, int numDowns) implements Command {}

    record ReplayArrived(int replicaIndex, int numDowns) implements Command {}

    private final Lanes lanes;
    private final ReplicaSignals signals;
    private final RequestGate gate;
    private final List<ActorRef<Replica.Command>> replicas = new ArrayList<>();
    private final BitSet up = new BitSet();
    private final RequestDispatcher dispatcher;
    private final RequestGate.AbortedReroutes abortedReroutes = new RequestGate.AbortedReroutes();
    private long numSubmitted;

    private Router(
            ActorContext<Command> context,
            Clock clock,
            ClusterSpec spec,
            ActorRef<MetricsCollector.Command> metrics,
            ClusterEvent.@Nullable Subscriber subscriber) {
        super(context);
        lanes = lanes(context, spec);
        var slowReplicas = new SlowReplicas(spec.admission().ejection());
        signals = new ReplicaSignals(clock, context.getSelf(), spec.router(), lanes, slowReplicas);
        gate = new RequestGate(clock, new FaultSampler(spec.faults().streams()), metrics, subscriber);
        var prefillEvents = context.messageAdapter(RequestEvent.class, PrefillEvent::new);
        dispatcher = new RequestDispatcher(
                clock, context.getSelf(), spec, lanes, replicas, gate, slowReplicas, prefillEvents, subscriber);
    }

    private static Lanes lanes(ActorContext<Command> context, ClusterSpec spec) {
        var memory = spec.replicas().get(0).kvCache();
        int numReplicas = spec.replicas().size();
        return spec.router().createLanes(memory.hasher(), numReplicas, memory.maxModelLen(), (name, policy) -> {
            String warning = "router.policy = {} failed; where it does, the least loaded replica gets the request";
            return new GuardedPolicy(policy, e -> context.getLog().warn(warning, name, e));
        });
    }

    /** Creates a router without replicas, for a cluster of this kind. */
    public static Behavior<Command> create(
            Clock clock,
            ClusterSpec spec,
            ActorRef<MetricsCollector.Command> metrics,
            ClusterEvent.@Nullable Subscriber subscriber) {
        return Behaviors.setup(context -> new Router(context, clock, spec, metrics, subscriber));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(ReplicaProgress.class, signal(signals::onProgress))
                .onMessage(LoadReported.class, signal(signals::onReported))
                .onMessage(LoadArrived.class, signal(signals::onArrived))
                .onMessage(ReplayArrived.class, signal(signals::onArrived))
                .onMessage(KvBlockManager.KvEvents.class, signal(signals::onEvents))
                .onMessage(KvEventsArrived.class, signal(signals::onArrived))
                .onMessage(Submit.class, this::onSubmit)
                .onMessage(WaitExpired.class, plain(now -> dispatcher.onExpiryDue()))
                .onMessage(PrefillEvent.class, signal(told -> dispatcher.onPrefillEvent(told.event)))
                .onMessage(Abort.class, this::onAbort)
                .onMessage(Order.class, plain(this::onOrder))
                .onMessage(Reroute.class, this::onReroute)
                .onMessage(ReplicaUp.class, this::onReplicaUp)
                .onMessage(SetReady.class, this::onSetReady)
                .onMessage(TakeDown.class, this::onTakeDown)
                .onMessage(ReplicaGone.class, plain(gone -> abortedReroutes.end(gone.replicaIndex)))
                .onMessage(SetFault.class, plain(set -> gate.set(set.fault)))
                .onMessage(Close.class, this::onClose)
                .build();
    }

    private Behavior<Command> onSubmit(Submit submit) {
        numSubmitted++;
        dispatcher.submit(submit);
        return this;
    }

    private Behavior<Command> onReroute(Reroute reroute) {
        dispatcher.reroute(reroute.submit);
        long requestId = reroute.submit.request().id();
        return abortedReroutes.isAborted(requestId) ? onAbort(new Abort(requestId)) : this;
    }

    /**
     * Aborts go to all replicas, because the router does not keep which has a request: aborts are rare, and requests
     * are not.
     */
    private Behavior<Command> onAbort(Abort abort) {
        if (dispatcher.abort(abort.requestId)) {
            return this;
        }
        abortedReroutes.onAbort(abort.requestId);
        replicas.forEach(replica -> replica.tell(new Replica.Abort(abort.requestId)));
        return this;
    }

    private void onOrder(Order order) {
        int[] told = up.stream()
                .filter(index -> order.replica.orElse(index) == index)
                .toArray();
        var answers = getContext().spawnAnonymous(OrderAnswers.create(told.length, order.replyTo));
        for (int index : told) {
            replicas.get(index).tell(new Replica.Order(order.order, answers));
        }
    }

    private Behavior<Command> onReplicaUp(ReplicaUp started) {
        while (replicas.size() <= started.replicaIndex) {
            lanes.add(started.traits);
            replicas.add(getContext().getSystem().deadLetters());
        }
        replicas.set(started.replicaIndex, started.replica);
        lanes.of(started.replicaIndex).view().setReady(started.replicaIndex, true);
        up.set(started.replicaIndex);
        signals.onUp(started.replicaIndex);
        dispatcher.routeWaiting();
        return this;
    }

    private Behavior<Command> onSetReady(SetReady set) {
        lanes.of(set.replicaIndex).view().setReady(set.replicaIndex, set.isReady);
        dispatcher.routeWaiting();
        return this;
    }

    private Behavior<Command> onTakeDown(TakeDown down) {
        int index = down.replicaIndex;
        lanes.of(index).view().setReady(index, false);
        up.clear(index);
        gate.clear(index);
        signals.onDown(index);
        if (down.lastMessage instanceof Replica.Crash crash && crash.retries().isAnyAllowed()) {
            abortedReroutes.begin(index);
        }
        replicas.get(index).tell(down.lastMessage);
        dispatcher.routeWaiting();
        return this;
    }

    private Behavior<Command> onClose(Close close) {
        close.replyTo.tell(new Closed(numSubmitted, dispatcher.numWaiting()));
        return this;
    }

    /** Handles a signal of a replica, after which it may take more requests. */
    private <M> Function<M, Behavior<Command>> signal(Consumer<M> handler) {
        return plain(message -> {
            handler.accept(message);
            dispatcher.routeWaiting();
        });
    }

    private <M> Function<M, Behavior<Command>> plain(Consumer<M> handler) {
        return message -> {
            handler.accept(message);
            return this;
        };
    }
}

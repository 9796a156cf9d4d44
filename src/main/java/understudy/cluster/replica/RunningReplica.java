package understudy.cluster.replica;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;
import org.jspecify.annotations.Nullable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.VirtualGpu;
import understudy.engine.EngineCore;
import understudy.engine.Request;
import understudy.report.ReplicaCounters;
import understudy.report.RunRecord;
import understudy.runtime.Clock;

/** Serving replica: takes requests, plans steps with its memory, and has its device execute them. */
public final class RunningReplica extends ExtensibleBehavior<Replica.Command> {
    private final ActorContext<Replica.Command> context;
    private final int replicaIndex;
    private final ReplicaPeers peers;
    private final ReplicaSpec spec;
    private final Clock clock;
    private final ReplicaParts parts;
    private final EngineCore engine;
    private final ClientTable clients;
    private final RequestAborter aborter;
    private final PlanTicks ticks;
    private final StepLoop steps;
    private final ReplicaOrders orders;
    private final ReplicaCounters counters;
    private final ReplicaEvents events;
    private final DeferredCommands deferred;
    private @Nullable ActorRef<? super Replica.Recorded> recordReceiver;
    private boolean awaitsTransfers;

    private RunningReplica(
            ActorContext<Replica.Command> context,
            StashBuffer<Replica.Command> stash,
            ReplicaParts parts,
            ReplicaSpec spec,
            ReplicaPeers peers) {
        this.context = context;
        this.parts = parts;
        this.spec = spec;
        this.peers = peers;
        clock = parts.clock();
        engine = parts.engine();
        clients = parts.clients();
        counters = parts.counters();
        events = parts.events();
        replicaIndex = counters.replicaIndex();
        deferred = new DeferredCommands(stash);
        aborter = new RequestAborter(parts);
        ticks = new PlanTicks(spec, clock, parts.self());
        steps = new StepLoop(parts, ticks, aborter);
        orders = new ReplicaOrders(parts, spec, steps, aborter);
    }

    /** Creates an idle replica with its memory and its device; if one of them fails, so does the replica. */
    public static Behavior<Replica.Command> create(
            Clock clock, int replicaIndex, ReplicaSpec spec, ReplicaPeers peers) {
        return create(clock, new ReplicaCounters(replicaIndex, spec.traits().group()), spec, peers);
    }

    /** Creates the successor of a replica that has stopped, which goes on with its counts. */
    public static Behavior<Replica.Command> create(
            Clock clock, RunRecord.ReplicaRecord predecessor, ReplicaSpec spec, ReplicaPeers peers) {
        return create(clock, new ReplicaCounters(predecessor), spec, peers);
    }

    private static Behavior<Replica.Command> create(
            Clock clock, ReplicaCounters counters, ReplicaSpec spec, ReplicaPeers peers) {
        return Behaviors.setup(context -> Behaviors.withStash(
                DeferredCommands.CAPACITY,
                stash -> new RunningReplica(
                        context, stash, ReplicaParts.start(context, clock, counters, spec, peers), spec, peers)));
    }

    /** Messages of every step are told apart by type tests, and come first. */
    @Override
    public Behavior<Replica.Command> receive(TypedActorContext<Replica.Command> ignored, Replica.Command command) {
        if (command instanceof VirtualGpu.StepDone done) {
            return onStepDone(done);
        } else if (command instanceof KvBlockManager.Answered answered) {
            return onAnswered(answered);
        } else if (command instanceof Replica.PlanStep) {
            return onPlanStep();
        } else if (command instanceof Replica.AddRequest add) {
            return onAddRequest(add);
        } else if (command instanceof KvBlockManager.KvArrived arrived) {
            return onKvArrived(arrived);
        }
        return receiveOther(command);
    }

    private Behavior<Replica.Command> receiveOther(Replica.Command command) {
        if (command instanceof Replica.Enqueue enqueue) {
            return onEnqueue(enqueue);
        } else if (command instanceof Replica.TakeTurn take) {
            return steps.onTurn(take.turn()) ? deferred.doneBy(this) : this;
        } else if (command instanceof Replica.ReportLoad) {
            parts.loadReporter().onDue();
            return this;
        } else if (command instanceof Replica.ForMemory word) {
            parts.kvBlockManager().tell(word.command());
            return this;
        } else if (command instanceof Replica.Abort abort) {
            return onAbort(abort);
        } else if (command instanceof Replica.Withdraw withdraw) {
            return onWithdraw(withdraw);
        } else if (command instanceof Replica.Order order) {
            return onOrder(order);
        } else if (command instanceof Replica.CallEnded) {
            return orders.onCallEnded() ? deferred.doneBy(this) : this;
        } else if (command instanceof Replica.Crash crash) {
            return onCrash(crash);
        } else if (command instanceof Replica.GiveUpLost) {
            return onGiveUpLost();
        } else if (command instanceof Replica.Leave) {
            return onLeave();
        } else if (command instanceof Replica.GetRecord get) {
            return onGetRecord(get);
        } else if (command instanceof KvBlockManager.Audited audited) {
            return onAudited(audited);
        }
        return Behaviors.unhandled();
    }

    @Override
    public Behavior<Replica.Command> receiveSignal(TypedActorContext<Replica.Command> ignored, Signal signal) {
        if (signal instanceof ChildFailed failed) {
            return onChildFailed(failed);
        }
        if (signal instanceof PostStop) {
            stopTimers();
        }
        return Behaviors.unhandled();
    }

    private Behavior<Replica.Command> onAddRequest(Replica.AddRequest add) {
        var request = engine.fit(add.request());
        counters.onRequest();
        parts.expectKvOf(add);
        var refusal = engine.refusal(request);
        if (refusal.isPresent()) {
            parts.forgetKvOf(add);
            events.requestEnded(clients.reject(add, refusal.get(), clock.nowNanos()));
            events.loadChanged();
            return this;
        }
        clients.add(add);
        long delayNanos =
                parts.api().nanos(add, request.prompt().length()) + add.fault().delayNanos();
        if (delayNanos == 0) {
            enqueue(request);
        } else {
            parts.api().enqueueAfter(delayNanos, request);
        }
        return this;
    }

    private Behavior<Replica.Command> onEnqueue(Replica.Enqueue enqueue) {
        if (parts.api().enters(enqueue.request().id())) {
            enqueue(enqueue.request());
        }
        return this;
    }

    private void enqueue(Request request) {
        engine.add(request, clock.nowNanos());
        steps.planSoon();
    }

    private Behavior<Replica.Command> onPlanStep() {
        return steps.onTick() ? deferred.doneBy(this) : this;
    }

    private Behavior<Replica.Command> onAnswered(KvBlockManager.Answered answered) {
        return steps.onAnswered(answered.answer()) ? deferred.doneBy(this) : this;
    }

    private Behavior<Replica.Command> onKvArrived(KvBlockManager.KvArrived arrived) {
        boolean isFailure = arrived.failed() != null && spec.failsOnLoadFailure();
        if (isFailure && isDeferred(arrived)) {
            return this;
        }
        steps.onKvArrived(arrived, isFailure);
        return this;
    }

    private Behavior<Replica.Command> onStepDone(VirtualGpu.StepDone done) {
        if (isDeferred(done)) {
            orders.onStepHeldBack();
            return this;
        }
        counters.onStepDone(done.endNanos() - done.startNanos());
        boolean isPlanned = steps.onStepDone(done);
        orders.onStepApplied();
        return isPlanned ? deferred.doneBy(this) : this;
    }

    private Behavior<Replica.Command> onAbort(Replica.Abort abort) {
        if (!isDeferred(abort) && aborter.abort(abort.requestId(), clock.nowNanos())) {
            steps.onRequestsGone();
        }
        return this;
    }

    private Behavior<Replica.Command> onWithdraw(Replica.Withdraw withdraw) {
        if (!isDeferred(withdraw) && aborter.withdraw(withdraw.requestId(), peers.router())) {
            steps.onRequestsGone();
        }
        return this;
    }

    private Behavior<Replica.Command> onGiveUpLost() {
        if (aborter.failLost(clock.nowNanos())) {
            steps.onRequestsGone();
        }
        return this;
    }

    private Behavior<Replica.Command> onOrder(Replica.Order order) {
        if (!orders.carryOut(order)) {
            deferred.add(order);
        }
        return this;
    }

    private boolean isDeferred(Replica.Command command) {
        boolean isBusy = engine.isPlanning() || orders.areCalling();
        if (isBusy) {
            deferred.add(command);
        }
        return isBusy;
    }

    private Behavior<Replica.Command> onCrash(Replica.Crash crash) {
        steps.giveUpSleep();
        aborter.failAll(crash.retries(), peers.router(), clock.nowNanos());
        deferred.passAbortsOn(peers.router());
        return deferred.doneBy(leave());
    }

    private Behavior<Replica.Command> onLeave() {
        steps.wakeUp();
        return isDone() ? leave() : leaving();
    }

    /** Returns whether there is nothing more to do; asks, once all requests have ended, for the end of all transfers. */
    private boolean isDone() {
        if (clients.size() == 0 && spec.transfers() != null && !awaitsTransfers) {
            awaitsTransfers = true;
            parts.kvBlockManager().tell(new KvExchange.AwaitEnd(parts.self()));
        }
        return clients.size() == 0 && spec.transfers() == null;
    }

    /**
     * A replica that leaves works as ever until its last request has ended, and no other replica waits for its memory.
     */
    private Behavior<Replica.Command> leaving() {
        return Behaviors.receive(Replica.Command.class)
                .onMessage(KvExchange.Over.class, over -> leave())
                .onAnyMessage(message -> {
                    var next = receive(context, message);
                    if (next != this) {
                        return next;
                    }
                    return isDone() ? leave() : Behaviors.same();
                })
                .onSignal(ChildFailed.class, this::onChildFailed)
                .build();
    }

    private Behavior<Replica.Command> leave() {
        orders.giveUp();
        stopTimers();
        events.tellRouter();
        parts.kvBlockManager().tell(new KvBlockManager.Audit(parts.self()));
        counters.onEngineGone(engine.engine().ownFigures());
        return ReplicaShutdown.create(counters, events, peers.owner());
    }

    private void stopTimers() {
        ticks.stop();
        parts.api().stop();
        parts.loadReporter().stop();
        orders.stop();
    }

    private Behavior<Replica.Command> onGetRecord(Replica.GetRecord getRecord) {
        recordReceiver = getRecord.replyTo();
        parts.kvBlockManager().tell(new KvBlockManager.Audit(parts.self()));
        return this;
    }

    private Behavior<Replica.Command> onAudited(KvBlockManager.Audited audited) {
        if (recordReceiver != null) {
            counters.onPeakKvUsage(audited.peakUsage());
            var own = engine.engine().ownFigures().plus(audited.ownFigures());
            var value = counters.record(audited.audit(), audited.stats(), audited.traffic(), own);
            recordReceiver.tell(new Replica.Recorded(replicaIndex, value));
        }
        return this;
    }

    private Behavior<Replica.Command> onChildFailed(ChildFailed failed) {
        throw new IllegalStateException(
                "replica " + replicaIndex + " lost " + failed.ref().path().name(), failed.cause());
    }
}

package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongLists;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import understudy.faults.Fault;
import understudy.faults.ReplicaState;
import understudy.report.RunLog;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.runtime.Clock;
import understudy.workload.Workload;
import understudy.workload.trace.TraceException;

/** The guardian: starts all other actors, and collects what they know when the run is over. */
public final class Cluster extends AbstractBehavior<Cluster.Command> {

    /** What the guardian understands. */
    public sealed interface Command
            permits Start,
                    Stop,
                    Inject,
                    InjectLater,
                    GetStatus,
                    GetReport,
                    GetBlockHashes,
                    FaultDue,
                    StartElapsed,
                    LoadGenerator.Stopped,
                    Router.Closed,
                    MetricsCollector.Collected,
                    Replica.Gone,
                    Replica.ReplicaRecord {}

    /** Builds the replicas, and begins to serve the workload; to be sent once. */
    public record Start(ClusterSpec spec) implements Command {}

    /** Breaks the run off, also one that has not started yet; what has happened until now is still reported. */
    public enum Stop implements Command {
        NOW
    }

    /** Lets something go wrong now, or does what an operator wants done. */
    public record Inject(Fault fault, ActorRef<? super Injected> replyTo) implements Command {}

    /** Lets something go wrong after a while; what cannot happen then is left out. */
    public record InjectLater(Duration delay, Fault fault) implements Command {}

    /** The answer to {@link Inject}: why it could not be done, or empty if it was. */
    public record Injected(Optional<String> refusal) {}

    /** Asks how the replicas are. */
    public record GetStatus(ActorRef<? super Status> replyTo) implements Command {}

    /** The state of each replica, by index, at a virtual time. */
    public record Status(long atNanos, List<ReplicaState> replicas) {}

    /** Asks for the figures of the run so far, as a {@link RunReport}; without records there are none of requests. */
    public record GetReport(ActorRef<? super RunReport> replyTo) implements Command {}

    /** Asks which content a replica has cached; one that is not there has none. */
    public record GetBlockHashes(int replicaIndex, ActorRef<? super KvBlockManager.BlockHashes> replyTo)
            implements Command {}

    private record FaultDue(Fault fault) implements Command {}

    /** The time that a replica takes to start is over; {@code start} counts its starts. */
    record StartElapsed(int replicaIndex, int start) implements Command {}

    /** Hears, on the loop thread, how the run ended; exactly one of the two is called, once. */
    public interface Observer {

        /** The cluster takes requests. */
        default void onStarted(ActorRef<Router.Command> router) {}

        /** The run is over, or was broken off. */
        void onEnded(RunRecord run);

        /** An actor failed, because of its input or of a defect. */
        void onFailed(Throwable cause);
    }

    /** What is reported of the load while it goes on. */
    private static final LoadGenerator.Stopped SO_FAR = new LoadGenerator.Stopped(0, 0, 0);

    private final Clock clock;
    private final Progress progress;
    private final Observer observer;
    private @Nullable ActorRef<Router.Command> router;
    private @Nullable Roster roster;
    private @Nullable ActorRef<LoadGenerator.Command> loadGenerator;
    private @Nullable ActorRef<MetricsCollector.Command> collector;
    private final List<ActorRef<? super RunReport>> waitingForReport = new ArrayList<>();
    private @Nullable RunLog log;
    private int numLogsAwaited;
    private boolean isPartial;
    private boolean isOver;
    private boolean stopsAtOnce;
    private boolean isReported;
    private LoadGenerator.@Nullable Stopped load;
    private LoadGenerator.@Nullable Stopped stoppedLoad;
    private long endNanos;

    private Cluster(ActorContext<Command> context, Clock clock, Progress progress, Observer observer) {
        super(context);
        this.clock = clock;
        this.progress = progress;
        this.observer = observer;
    }

    /** Creates a guardian that waits for {@link Start}. */
    public static Behavior<Command> create(Clock clock, Progress progress, Observer observer) {
        return Behaviors.setup(context -> new Cluster(context, clock, progress, observer));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Start.class, this::onStart)
                .onMessage(Stop.class, this::onStop)
                .onMessage(LoadGenerator.Stopped.class, this::onLoadStopped)
                .onMessage(Router.Closed.class, this::onRouterClosed)
                .onMessage(Inject.class, this::onInject)
                .onMessage(InjectLater.class, this::onInjectLater)
                .onMessage(GetStatus.class, this::onGetStatus)
                .onMessage(GetReport.class, this::onGetReport)
                .onMessage(GetBlockHashes.class, this::onGetBlockHashes)
                .onMessage(FaultDue.class, this::onFaultDue)
                .onMessage(StartElapsed.class, this::onStartElapsed)
                .onMessage(Replica.Gone.class, this::onGone)
                .onMessage(MetricsCollector.Collected.class, this::onCollected)
                .onMessage(Replica.ReplicaRecord.class, this::onReplicaRecord)
                .onSignal(ChildFailed.class, this::onChildFailed)
                .onSignal(Terminated.class, this::onChildEnded)
                .build();
    }

    private Behavior<Command> onStart(Start start) {
        var spec = start.spec;
        collector = child(MetricsCollector.create(spec, progress), "metrics");
        router = child(Router.create(clock, spec, collector), "router");
        boolean routesByKvEvents = spec.routing().usesKvEvents();
        var self = getContext().getSelf();
        var peers = new ReplicaPeers(router, collector, routesByKvEvents, null, spec.subscriber(), self);
        roster = new Roster(getContext(), clock, spec, peers);
        for (var timed : spec.faults().faults()) {
            onInjectLater(new InjectLater(Duration.ofNanos(timed.atNanos() - clock.nowNanos()), timed.fault()));
        }
        if (spec.workload() != null) {
            startLoad(spec.workload(), router);
        }
        observer.onStarted(router);
        return stopsAtOnce ? onStop(Stop.NOW) : this;
    }

    private void startLoad(Workload workload, ActorRef<Router.Command> to) {
        var generator = LoadGenerator.create(clock, workload, to, getContext().getSelf());
        // A bad trace is the user's business, not a defect: it is reported in one line, without a stack trace.
        var quietly = SupervisorStrategy.stop().withLoggingEnabled(false);
        loadGenerator =
                child(Behaviors.supervise(generator).onFailure(TraceException.class, quietly), "load-generator");
    }

    /** Starts an actor whose failure ends the run. */
    private <T> ActorRef<T> child(Behavior<T> behavior, String name) {
        var child = getContext().spawn(behavior, name);
        getContext().watch(child);
        return child;
    }

    private Behavior<Command> onStop(Stop now) {
        if (isOver) {
            return this;
        }
        if (router == null) {
            stopsAtOnce = true;
            return this;
        }
        isPartial = true;
        if (loadGenerator != null) {
            loadGenerator.tell(LoadGenerator.Stop.NOW);
        } else {
            router.tell(new Router.Close(getContext().getSelf()));
        }
        return this;
    }

    private Behavior<Command> onLoadStopped(LoadGenerator.Stopped stopped) {
        if (!isPartial || router == null) {
            return end(stopped);
        }
        // The router may still have requests to forward; when it answers, the replicas have them.
        stoppedLoad = stopped;
        router.tell(new Router.Close(getContext().getSelf()));
        return this;
    }

    private Behavior<Command> onRouterClosed(Router.Closed closed) {
        var ofRun = stoppedLoad;
        return end(ofRun != null ? ofRun : new LoadGenerator.Stopped(closed.numSubmitted(), closed.numSubmitted(), 0));
    }

    private Behavior<Command> end(LoadGenerator.Stopped ofRun) {
        if (isOver || collector == null || roster == null) {
            return this;
        }
        isOver = true;
        load = ofRun;
        endNanos = clock.nowNanos();
        askForRecords(roster, collector);
        return this;
    }

    private void askForRecords(Roster from, ActorRef<MetricsCollector.Command> logFrom) {
        from.askForRecords();
        numLogsAwaited++;
        logFrom.tell(new MetricsCollector.Collect(getContext().getSelf()));
    }

    private Behavior<Command> onGetReport(GetReport get) {
        if (roster != null && collector != null) {
            waitingForReport.add(get.replyTo);
            askForRecords(roster, collector);
        }
        return this;
    }

    private Behavior<Command> onInject(Inject inject) {
        var refusal = roster == null ? Optional.of("the cluster has not started") : roster.inject(inject.fault);
        inject.replyTo.tell(new Injected(refusal));
        return this;
    }

    private Behavior<Command> onInjectLater(InjectLater later) {
        getContext().scheduleOnce(later.delay, getContext().getSelf(), new FaultDue(later.fault));
        return this;
    }

    private Behavior<Command> onFaultDue(FaultDue due) {
        if (roster != null) {
            roster.inject(due.fault)
                    .ifPresent(why -> getContext().getLog().warn("a planned fault was left out: {}", why));
        }
        return this;
    }

    private Behavior<Command> onGetStatus(GetStatus get) {
        get.replyTo.tell(new Status(clock.nowNanos(), roster == null ? List.of() : roster.states()));
        return this;
    }

    private Behavior<Command> onGetBlockHashes(GetBlockHashes get) {
        var replica = roster == null ? null : roster.find(get.replicaIndex);
        if (replica == null) {
            get.replyTo.tell(new KvBlockManager.BlockHashes(LongLists.EMPTY_LIST));
        } else {
            replica.tell(new Replica.GetBlockHashes(get.replyTo));
        }
        return this;
    }

    private Behavior<Command> onStartElapsed(StartElapsed elapsed) {
        if (roster != null && !isOver) {
            roster.onStartElapsed(elapsed);
        }
        return this;
    }

    private Behavior<Command> onGone(Replica.Gone gone) {
        if (roster != null) {
            roster.onGone(gone);
        }
        return endIfComplete();
    }

    private Behavior<Command> onCollected(MetricsCollector.Collected collected) {
        log = collected.log();
        numLogsAwaited--;
        return endIfComplete();
    }

    private Behavior<Command> onReplicaRecord(Replica.ReplicaRecord replica) {
        if (roster != null) {
            roster.onRecord(replica);
        }
        return endIfComplete();
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        observer.onFailed(failed.cause());
        return Behaviors.stopped();
    }

    /** Replicas come and go; no other actor of a run ends by itself, so something has gone wrong. */
    private Behavior<Command> onChildEnded(Terminated ended) {
        String name = ended.getRef().path().name();
        if (name.startsWith(Roster.REPLICA_NAME)) {
            return this;
        }
        observer.onFailed(new IllegalStateException(name + " has ended in the middle of the run"));
        return Behaviors.stopped();
    }

    private Behavior<Command> endIfComplete() {
        if (log == null || numLogsAwaited > 0 || roster == null || !roster.hasAllRecords()) {
            return this;
        }
        if (!waitingForReport.isEmpty()) {
            var report = RunReport.of(record(log, roster, SO_FAR, clock.nowNanos(), true));
            waitingForReport.forEach(waiting -> waiting.tell(report));
            waitingForReport.clear();
        }
        if (load != null && !isReported) {
            isReported = true;
            observer.onEnded(record(log, roster, load, endNanos, isPartial));
        }
        return this;
    }

    private static RunRecord record(
            RunLog log, Roster roster, LoadGenerator.Stopped load, long atNanos, boolean isPartial) {
        return new RunRecord(
                log, roster.records(), load.numPlanned(), load.numSent(), load.numAbandoned(), atNanos, isPartial);
    }
}

package understudy.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import understudy.report.RunLog;
import understudy.report.RunRecord;
import understudy.runtime.Clock;
import understudy.workload.TraceException;

/** The guardian: starts all other actors, and collects what they know when the run is over. */
public final class Cluster extends AbstractBehavior<Cluster.Command> {

    /** What the guardian understands. */
    public sealed interface Command
            permits Start, Stop, LoadGenerator.Stopped, MetricsCollector.Collected, Replica.ReplicaRecord {}

    /** Begins to serve the workload. */
    public enum Start implements Command {
        NOW
    }

    /** Breaks the run off; what has happened until now is still reported. */
    public enum Stop implements Command {
        NOW
    }

    /** Hears, on the loop thread, how the run ended; exactly one of the two is called, once. */
    public interface Observer {

        /** The run is over, or was broken off. */
        void onEnded(RunRecord run);

        /** An actor failed, because of its input or of a defect. */
        void onFailed(Throwable cause);
    }

    private final Clock clock;
    private final ClusterSpec spec;
    private final Observer observer;
    private final ActorRef<Router.Command> router;
    private final ActorRef<MetricsCollector.Command> metrics;
    private final List<ActorRef<Replica.Command>> replicas = new ArrayList<>();
    private final List<RunRecord.ReplicaRecord> replicaRecords = new ArrayList<>();
    private @Nullable ActorRef<LoadGenerator.Command> loadGenerator;
    private @Nullable RunLog log;
    private boolean isPartial;
    private boolean isOver;
    private long numSent;
    private long endNanos;

    private Cluster(
            ActorContext<Command> context, Clock clock, ClusterSpec spec, Progress progress, Observer observer) {
        super(context);
        this.clock = clock;
        this.spec = spec;
        this.observer = observer;
        router = context.spawn(Router.create(spec.routing(), spec.kvEventDelay()), "router");
        metrics = context.spawn(MetricsCollector.create(spec.keepsTokenTimes(), progress), "metrics");
        context.watch(router);
        context.watch(metrics);
        spec.replicas().forEach(this::addReplica);
    }

    /** Creates a cluster that waits for {@link Start}. */
    public static Behavior<Command> create(Clock clock, ClusterSpec spec, Progress progress, Observer observer) {
        return Behaviors.setup(context -> new Cluster(context, clock, spec, progress, observer));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Start.class, this::onStart)
                .onMessage(Stop.class, this::onStop)
                .onMessage(LoadGenerator.Stopped.class, this::onLoadStopped)
                .onMessage(MetricsCollector.Collected.class, this::onCollected)
                .onMessage(Replica.ReplicaRecord.class, this::onReplicaRecord)
                .onSignal(ChildFailed.class, this::onChildFailed)
                .build();
    }

    private void addReplica(ReplicaSpec replicaSpec) {
        int index = replicas.size();
        var peers = new Replica.Peers(router, metrics, spec.routing().usesKvEvents());
        var replica = getContext().spawn(Replica.create(clock, index, replicaSpec, peers), "replica-" + index);
        getContext().watch(replica);
        replicas.add(replica);
        router.tell(new Router.AddReplica(replica));
    }

    private Behavior<Command> onStart(Start now) {
        var generator = LoadGenerator.create(
                clock, spec.workload(), router, getContext().getSelf());
        // A bad trace is the user's business, not a defect: it is reported in one line, without a stack trace.
        var quiet = SupervisorStrategy.stop().withLoggingEnabled(false);
        loadGenerator = getContext()
                .spawn(Behaviors.supervise(generator).onFailure(TraceException.class, quiet), "load-generator");
        getContext().watch(loadGenerator);
        return this;
    }

    private Behavior<Command> onStop(Stop now) {
        if (loadGenerator != null && !isOver) {
            isPartial = true;
            loadGenerator.tell(LoadGenerator.Stop.NOW);
        }
        return this;
    }

    private Behavior<Command> onLoadStopped(LoadGenerator.Stopped stopped) {
        if (isOver) {
            return this;
        }
        isOver = true;
        numSent = stopped.numSent();
        endNanos = clock.nowNanos();
        var self = getContext().getSelf();
        replicas.forEach(replica -> replica.tell(new Replica.GetRecord(self)));
        metrics.tell(new MetricsCollector.Collect(self));
        return this;
    }

    private Behavior<Command> onCollected(MetricsCollector.Collected collected) {
        log = collected.log();
        return endIfComplete();
    }

    private Behavior<Command> onReplicaRecord(Replica.ReplicaRecord replica) {
        replicaRecords.add(replica.value());
        return endIfComplete();
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        observer.onFailed(failed.cause());
        return Behaviors.stopped();
    }

    private Behavior<Command> endIfComplete() {
        if (log != null && replicaRecords.size() == replicas.size()) {
            replicaRecords.sort(Comparator.comparingInt(r -> r.stats().replicaIndex()));
            observer.onEnded(new RunRecord(log, replicaRecords, numSent, endNanos, isPartial));
        }
        return this;
    }
}

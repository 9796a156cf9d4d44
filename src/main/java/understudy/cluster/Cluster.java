package understudy.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
import understudy.report.RunLog;
import understudy.report.RunRecord;
import understudy.runtime.Clock;
import understudy.workload.TraceException;

/** The guardian: starts all other actors, and collects what they know when the run is over. */
public final class Cluster extends AbstractBehavior<Cluster.Command> {

    /** What the guardian understands. */
    public sealed interface Command
            permits Start, Stop, LoadGenerator.Stopped, MetricsCollector.Collected, Replica.ReplicaRecord {}

    /** Builds the replicas, and begins to serve the workload; to be sent once. */
    public record Start(ClusterSpec spec) implements Command {}

    /** Breaks the run off, also one that has not started yet; what has happened until now is still reported. */
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
    private final Progress progress;
    private final Observer observer;
    private final List<ActorRef<Replica.Command>> replicas = new ArrayList<>();
    private final List<RunRecord.ReplicaRecord> replicaRecords = new ArrayList<>();
    private @Nullable ActorRef<LoadGenerator.Command> loadGenerator;
    private @Nullable ActorRef<MetricsCollector.Command> collector;
    private @Nullable RunLog log;
    private boolean isPartial;
    private boolean isOver;
    private boolean stopsAtOnce;
    private LoadGenerator.@Nullable Stopped load;
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
                .onMessage(MetricsCollector.Collected.class, this::onCollected)
                .onMessage(Replica.ReplicaRecord.class, this::onReplicaRecord)
                .onSignal(ChildFailed.class, this::onChildFailed)
                .onSignal(Terminated.class, this::onChildEnded)
                .build();
    }

    private Behavior<Command> onStart(Start start) {
        var spec = start.spec;
        var router = child(Router.create(spec.routing(), spec.kvEventDelay()), "router");
        var metrics = child(MetricsCollector.create(spec.keepsTokenTimes(), progress), "metrics");
        var peers = new Replica.Peers(router, metrics, spec.routing().usesKvEvents(), null, spec.kvEventFeed());
        for (var replicaSpec : spec.replicas()) {
            int index = replicas.size();
            var replica = child(Replica.create(clock, index, replicaSpec, peers), "replica-" + index);
            replicas.add(replica);
            router.tell(new Router.AddReplica(replica));
            if (spec.kvEventFeed() != null) {
                spec.kvEventFeed().tell(new KvEventFeed.Started(index));
            }
        }
        var generator = LoadGenerator.create(
                clock, spec.workload(), router, getContext().getSelf());
        // A bad trace is the user's business, not a defect: it is reported in one line, without a stack trace.
        var quietly = SupervisorStrategy.stop().withLoggingEnabled(false);
        loadGenerator =
                child(Behaviors.supervise(generator).onFailure(TraceException.class, quietly), "load-generator");
        collector = metrics;
        return stopsAtOnce ? onStop(Stop.NOW) : this;
    }

    /** Starts an actor whose failure ends the run. */
    private <T> ActorRef<T> child(Behavior<T> behavior, String name) {
        var child = getContext().spawn(behavior, name);
        getContext().watch(child);
        return child;
    }

    private Behavior<Command> onStop(Stop now) {
        if (loadGenerator == null) {
            stopsAtOnce = true;
        } else if (!isOver) {
            isPartial = true;
            loadGenerator.tell(LoadGenerator.Stop.NOW);
        }
        return this;
    }

    private Behavior<Command> onLoadStopped(LoadGenerator.Stopped stopped) {
        if (isOver || collector == null) {
            return this;
        }
        isOver = true;
        load = stopped;
        endNanos = clock.nowNanos();
        var self = getContext().getSelf();
        replicas.forEach(replica -> replica.tell(new Replica.GetRecord(self)));
        collector.tell(new MetricsCollector.Collect(self));
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

    /** No actor of a run ends by itself, so it has been stopped by something that went wrong. */
    private Behavior<Command> onChildEnded(Terminated ended) {
        observer.onFailed(
                new IllegalStateException(ended.getRef().path().name() + " has ended in the middle of the run"));
        return Behaviors.stopped();
    }

    private Behavior<Command> endIfComplete() {
        if (log != null && load != null && replicaRecords.size() == replicas.size()) {
            replicaRecords.sort(Comparator.comparingInt(r -> r.stats().replicaIndex()));
            observer.onEnded(new RunRecord(
                    log, replicaRecords, load.numPlanned(), load.numSent(), load.numAbandoned(), endNanos, isPartial));
        }
        return this;
    }
}

package understudy.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.faults.Fault;
import understudy.faults.Fleet;
import understudy.faults.ReplicaState;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.PrefixCacheStats;
import understudy.report.ReplicaCounters;
import understudy.report.RunRecord;
import understudy.runtime.Clock;

/** The replicas of a cluster: starts them, does to them what faults and operators ask for, and collects their records. */
final class Roster {
    /** How the names of replicas begin. */
    static final String REPLICA_NAME = "replica-";

    private final ActorContext<Cluster.Command> context;
    private final Clock clock;
    private final ClusterSpec spec;
    private final ReplicaPeers peers;
    private final Fleet fleet;
    private final List<Entry> entries = new ArrayList<>();

    /** A replica's index, its actor while it lives, and what its predecessors and it have left. */
    private static final class Entry {
        int numStarts;

        @Nullable ActorRef<Replica.Command> replica;

        ReplicaCounters counters;
        int numRecordsAwaited;
        RunRecord.@Nullable ReplicaRecord latestRecord;

        Entry(int index) {
            counters = new ReplicaCounters(index);
        }
    }

    Roster(ActorContext<Cluster.Command> context, Clock clock, ClusterSpec spec, ReplicaPeers peers) {
        this.context = context;
        this.clock = clock;
        this.spec = spec;
        this.peers = peers;
        fleet = new Fleet(spec.replicas().size());
        for (int i = 0; i < spec.replicas().size(); i++) {
            entries.add(new Entry(i));
            start(i);
        }
    }

    /** Returns the state of each replica, by index. */
    List<ReplicaState> states() {
        return fleet.states();
    }

    /** Returns the actor of a replica, or null if it is not there. */
    @Nullable ActorRef<Replica.Command> find(int index) {
        return index >= 0 && index < entries.size() ? entries.get(index).replica : null;
    }

    /** Lets a fault happen, or returns why it cannot. */
    Optional<String> inject(Fault fault) {
        var refusal = fleet.refusal(fault);
        if (refusal.isPresent()) {
            return refusal;
        }
        if (fault instanceof Fault.ShrinkKv shrink
                && !spec.replica(shrink.replica()).kvCache().isResizable()) {
            return Optional.of("only a KV cache that shares single blocks by content can be resized");
        }
        fleet.apply(fault);
        tellStates();
        if (fault instanceof Fault.Add) {
            entries.add(new Entry(entries.size()));
            startLater(entries.size() - 1);
        } else if (fault instanceof Fault.Restart restart) {
            startLater(restart.replica());
        } else if (fault instanceof Fault.Crash crash) {
            takeDown(crash.replica(), new Replica.Crash(spec.faults().reroutesOnCrash()));
        } else if (fault instanceof Fault.Remove remove) {
            takeDown(remove.replica(), Replica.Leave.NOW);
        } else if (fault instanceof Fault.Drain drain) {
            peers.router().tell(new Router.SetReady(drain.replica(), false));
        } else if (fault instanceof Fault.Resume resume) {
            peers.router().tell(new Router.SetReady(resume.replica(), true));
        } else if (fault instanceof Fault.SlowGpu slow) {
            living(slow.replica()).tell(new Replica.SlowGpu(slow.factor()));
        } else if (fault instanceof Fault.ShrinkKv shrink) {
            living(shrink.replica()).tell(new Replica.ResizeKv(shrink.numGpuBlocks()));
        } else if (fault instanceof Fault.OfRequests ofRequests) {
            peers.router().tell(new Router.SetFault(ofRequests));
        }
        return Optional.empty();
    }

    /** Starts a replica whose time has come, unless it has crashed meanwhile. */
    void onStartElapsed(Cluster.StartElapsed elapsed) {
        int index = elapsed.replicaIndex();
        if (entries.get(index).numStarts == elapsed.start() && fleet.state(index) == ReplicaState.STARTING) {
            fleet.onStarted(index);
            start(index);
            tellStates();
        }
    }

    void onGone(Replica.Gone gone) {
        var entry = entries.get(gone.replicaIndex());
        entry.replica = null;
        entry.counters = gone.counters();
        entry.numRecordsAwaited = 0;
        peers.router().tell(new Router.ReplicaGone(gone.replicaIndex()));
    }

    /** Asks everybody for their record as of now; answers to earlier questions do not count. */
    void askForRecords() {
        for (var entry : entries) {
            if (entry.replica != null) {
                entry.numRecordsAwaited++;
                entry.replica.tell(new Replica.GetRecord(context.getSelf()));
            }
        }
    }

    void onRecord(Replica.ReplicaRecord replica) {
        var entry = entries.get(replica.replicaIndex());
        entry.numRecordsAwaited--;
        entry.latestRecord = replica.value();
    }

    boolean hasAllRecords() {
        return entries.stream().allMatch(entry -> entry.numRecordsAwaited == 0);
    }

    /** Returns the records of all replicas, by index; those that are not there have only what they counted. */
    List<RunRecord.ReplicaRecord> records() {
        return entries.stream().map(Roster::recordOf).toList();
    }

    private static RunRecord.ReplicaRecord recordOf(Entry entry) {
        if (entry.replica != null && entry.latestRecord != null) {
            return entry.latestRecord;
        }
        return entry.counters.record(KvCacheAudit.NOTHING, PrefixCacheStats.NONE);
    }

    private void tellStates() {
        var subscriber = peers.subscriber();
        if (subscriber != null) {
            subscriber.tell(new ClusterEvent.ReplicasChanged(clock.nowNanos(), states()));
        }
    }

    /** Even without a delay a replica starts after all messages of the instant, the last one of its predecessor included. */
    private void startLater(int index) {
        var elapsed = new Cluster.StartElapsed(index, ++entries.get(index).numStarts);
        context.scheduleOnce(Duration.ofNanos(spec.faults().startupNanos()), context.getSelf(), elapsed);
    }

    private void start(int index) {
        var entry = entries.get(index);
        String name = REPLICA_NAME + index + (entry.numStarts == 0 ? "" : "-" + entry.numStarts);
        var replica = context.spawn(Replica.create(clock, entry.counters, spec.replica(index), peers), name);
        context.watch(replica);
        entry.replica = replica;
        peers.router().tell(new Router.ReplicaUp(index, replica));
        var subscriber = peers.subscriber();
        if (subscriber != null) {
            subscriber.tell(new ClusterEvent.KvCacheStarted(index));
        }
    }

    private void takeDown(int index, Replica.Command lastMessage) {
        if (entries.get(index).replica != null) {
            peers.router().tell(new Router.TakeDown(index, lastMessage));
        }
    }

    private ActorRef<Replica.Command> living(int index) {
        return Objects.requireNonNull(entries.get(index).replica, () -> "replica " + index + " is not there");
    }
}

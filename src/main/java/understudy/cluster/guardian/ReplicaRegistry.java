package understudy.cluster.guardian;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.Router;
import understudy.cluster.link.Link;
import understudy.faults.ClusterChange;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaState;
import understudy.faults.ReplicaStates;
import understudy.report.FleetLog;
import understudy.report.FleetStats;
import understudy.report.ReplicaCounters;
import understudy.report.RunRecord;
import understudy.runtime.Clock;
import understudy.transfer.KvTransferSpec;

/**
 * The replicas of a cluster: starts them, does to them what faults and operators ask for, and collects their records.
 */
final class ReplicaRegistry implements ClusterChange.Target {
    private final ActorContext<Cluster.Command> context;
    private final Clock clock;
    private final ClusterSpec spec;
    private final ReplicaPeers peers;
    private final ReplicaStates fleet;
    private final List<Entry> entries = new ArrayList<>();
    private final FleetLog fleetLog = new FleetLog();

    /** A replica: its actor while it lives, and the latest record of it and its predecessors. */
    private static final class Entry {
        final ReplicaSpec spec;
        int numStarts;

        @Nullable ActorRef<Replica.Command> replica;

        RunRecord.ReplicaRecord latestRecord;
        int numRecordsAwaited;

        Entry(int index, ReplicaSpec spec) {
            this.spec = spec;
            latestRecord = new ReplicaCounters(index, spec.traits().group()).lastRecord();
        }
    }

    ReplicaRegistry(ActorContext<Cluster.Command> context, Clock clock, ClusterSpec spec, ReplicaPeers peers) {
        this.context = context;
        this.clock = clock;
        this.spec = spec;
        this.peers = peers;
        fleet = new ReplicaStates(spec.replicas().size());
        for (int i = 0; i < spec.replicas().size(); i++) {
            entries.add(new Entry(i, spec.replicas().get(i)));
            start(i);
        }
        count();
    }

    /** Returns the state of each replica, by index. */
    List<ReplicaState> states() {
        return fleet.states();
    }

    /** Tells all replicas that run. */
    void tellAll(Replica.Command command) {
        for (var entry : entries) {
            if (entry.replica != null) {
                entry.replica.tell(command);
            }
        }
    }

    /** Returns the actor of a replica, or null if it is not there. */
    @Nullable ActorRef<Replica.Command> find(int index) {
        return index >= 0 && index < entries.size() ? entries.get(index).replica : null;
    }

    /** Changes the cluster, or returns why that cannot be. */
    Optional<String> change(ClusterChange change) {
        var refusal = fleet.refusal(change);
        if (refusal.isPresent()) {
            return refusal;
        }
        if (change instanceof Fault.ShrinkKv shrink
                && !entries.get(shrink.replica()).spec.kvCache().isResizable()) {
            return Optional.of("only a KV cache that shares single blocks by content can be resized");
        }
        if (needsTransfers(change)) {
            return Optional.of("no KV is moved there; see kv-cache.tiers, and the roles of cluster.groups");
        }
        if (change instanceof FleetChange.Add add && spec.kind(add.group()).isEmpty()) {
            return Optional.of("there is no group " + add.group());
        }
        fleet.apply(change);
        tellStates();
        change.applyTo(this);
        return Optional.empty();
    }

    private boolean needsTransfers(ClusterChange change) {
        if (change instanceof Fault.OfLinks ofLinks && ofLinks.link() == Fault.LinkKind.NETWORK) {
            return peers.network() == null;
        }
        boolean isOfHost = change instanceof Fault.OfLinks || change instanceof Fault.LoseKv;
        return isOfHost && entries.stream().noneMatch(entry -> entry.spec.transfers() != null);
    }

    @Override
    public void add(String group) {
        var kind = spec.kind(group).orElseThrow();
        entries.add(new Entry(entries.size(), kind));
        if (peers.network() != null && kind.transfers() != null) {
            peers.network().tell(new Link.AddPorts(kind.transfers().nic()));
        }
        startLater(entries.size() - 1, spec.joinNanos());
    }

    @Override
    public void restart(int replica) {
        startLater(replica, spec.faults().startupNanos());
    }

    @Override
    public void setReady(int replica, boolean isReady) {
        peers.router().tell(new Router.SetReady(replica, isReady));
    }

    @Override
    public void remove(int replica) {
        takeDown(replica, Replica.Leave.NOW);
        if (entries.get(replica).replica == null) {
            peers.tellSubscriber(new ClusterEvent.KvCacheEnded(replica));
        }
    }

    @Override
    public void crash(int replica) {
        takeDown(replica, new Replica.Crash(spec.faults().retries()));
    }

    @Override
    public void order(int replica, ReplicaOrder order) {
        var actor = entries.get(replica).replica;
        if (actor != null) {
            actor.tell(new Replica.Order(order, context.getSystem().ignoreRef()));
        }
    }

    @Override
    public void setFault(Fault.OfRequests fault) {
        peers.router().tell(new Router.SetFault(fault));
    }

    @Override
    public void setFault(Fault.OfLinks fault) {
        fault.replica()
                .ifPresentOrElse(
                        replica -> setFault(fault, replica),
                        () -> IntStream.range(0, entries.size()).forEach(replica -> setFault(fault, replica)));
    }

    @Override
    public void setFault(Fault.MalformStreams fault) {
        peers.tellSubscriber(new ClusterEvent.StreamsMalformed(fault));
    }

    private void setFault(Fault.OfLinks fault, int replica) {
        if (fault.link() == Fault.LinkKind.HOST) {
            order(replica, fault);
        } else if (peers.network() != null) {
            Link.set(peers.network(), fault, KvTransferSpec.portOut(replica), KvTransferSpec.portIn(replica));
        }
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
        count();
        entry.latestRecord = gone.value();
        entry.numRecordsAwaited = 0;
        peers.router().tell(new Router.ReplicaGone(gone.replicaIndex()));
        if (fleet.state(gone.replicaIndex()) == ReplicaState.REMOVED) {
            peers.tellSubscriber(new ClusterEvent.KvCacheEnded(gone.replicaIndex()));
        }
        if (peers.network() != null) {
            peers.network().tell(new Link.FailPort(KvTransferSpec.portOut(gone.replicaIndex())));
        }
    }

    /** Asks all replicas for their record as of now; answers to earlier questions do not count. */
    void askForRecords() {
        for (var entry : entries) {
            if (entry.replica != null) {
                entry.numRecordsAwaited++;
                entry.replica.tell(new Replica.GetRecord(context.getSelf()));
            }
        }
    }

    void onRecord(Replica.Recorded replica) {
        var entry = entries.get(replica.replicaIndex());
        entry.numRecordsAwaited--;
        entry.latestRecord = replica.value();
    }

    boolean hasAllRecords() {
        return entries.stream().allMatch(entry -> entry.numRecordsAwaited == 0);
    }

    /** Returns the latest records of all replicas, by index. */
    List<RunRecord.ReplicaRecord> records() {
        return entries.stream().map(entry -> entry.latestRecord).toList();
    }

    /** Returns how many replicas there were when. */
    List<FleetStats.Point> history() {
        return fleetLog.history();
    }

    /** Returns the figures of all replicas until now; empty unless the scenario asks for them. */
    Optional<FleetStats> fleetStats(long nowNanos) {
        return spec.scaling()
                .map(scaling -> fleetLog.stats(nowNanos, scaling.gpusPerReplica(), scaling.gpuHourPrice()));
    }

    private void count() {
        int numReady = Collections.frequency(states(), ReplicaState.READY);
        int numStarting = Collections.frequency(states(), ReplicaState.STARTING);
        int numRunning =
                (int) IntStream.range(0, fleet.size()).filter(this::hasProcess).count();
        fleetLog.add(new FleetStats.Point(clock.nowNanos(), numReady, numStarting), numRunning);
    }

    /** Returns whether a replica costs anything: from its start on, when it has no actor yet, until that has stopped. */
    private boolean hasProcess(int index) {
        return fleet.state(index) == ReplicaState.STARTING || find(index) != null;
    }

    private void tellStates() {
        count();
        peers.tellSubscriber(new ClusterEvent.ReplicasChanged(clock.nowNanos(), states()));
    }

    /**
     * Even without a delay a replica starts after all messages of the instant, the last one of its predecessor
     * included.
     */
    private void startLater(int index, long startupNanos) {
        var elapsed = new Cluster.StartElapsed(index, ++entries.get(index).numStarts);
        context.scheduleOnce(Duration.ofNanos(startupNanos), context.getSelf(), elapsed);
    }

    private void start(int index) {
        var entry = entries.get(index);
        String name = Replica.NAME + index + (entry.numStarts == 0 ? "" : "-" + entry.numStarts);
        var replica = context.spawn(spec.actors().replica().create(clock, entry.latestRecord, entry.spec, peers), name);
        context.watch(replica);
        entry.replica = replica;
        peers.router().tell(new Router.ReplicaUp(index, replica, entry.spec.traits()));
        peers.tellSubscriber(new ClusterEvent.KvCacheStarted(index));
    }

    private void takeDown(int index, Replica.Command lastMessage) {
        if (entries.get(index).replica != null) {
            peers.router().tell(new Router.TakeDown(index, lastMessage));
        }
    }
}

package understudy.cluster.guardian;

import it.unimi.dsi.fastutil.ints.IntLists;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.BehaviorBuilder;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.LoadGenerator;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeersBuilder;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.Router;
import understudy.cluster.link.KvStore;
import understudy.cluster.link.KvStoreSpec;
import understudy.cluster.link.KvTier;
import understudy.cluster.link.Link;
import understudy.cluster.lockstep.DataParallelGroup;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.runtime.Clock;
import understudy.scaling.ScalingRule;
import understudy.scaling.ScalingSpec;
import understudy.workload.Workload;
import understudy.workload.files.TraceException;

/**
 * The guardian from the start of a cluster on. It is in one of three phases, each a behaviour: running, stopping
 * (interrupted; the router may still have requests to forward), and over.
 */
final class RunningCluster {
    private final ActorContext<Cluster.Command> context;
    private final ActorRef<Cluster.Command> self;
    private final Clock clock;
    private final Cluster.Observer observer;
    private final ActorRef<Router.Command> router;
    private final ReplicaRegistry registry;
    private final RunRecords records;
    private final @Nullable KvStore sharedStore;
    private final @Nullable ActorRef<LoadGenerator.Command> loadGenerator;

    private RunningCluster(
            ActorContext<Cluster.Command> context, Clock clock, Cluster.Start start, Cluster.Observer observer) {
        this.context = context;
        self = context.getSelf();
        this.clock = clock;
        this.observer = observer;
        var spec = start.spec();
        var collector = child(spec.actors().metrics().create(spec, observer::onProgress), "metrics");
        var subscriber = subscriber(start);
        router = child(spec.actors().router().create(clock, spec, collector, subscriber), "router");
        sharedStore = sharedStore(spec);
        var peers = ReplicaPeersBuilder.builder()
                .router(router)
                .metrics(collector)
                .routerSpec(spec.router())
                .subscriber(subscriber)
                .owner(self)
                .network(network(start))
                .sharedStore(sharedStore)
                .keepsRecords(spec.keepsRecords())
                .sideChannel(start.sideChannel())
                .dataParallelGroups(dataParallelGroups(spec.replicas()))
                .build();
        registry = new ReplicaRegistry(context, clock, spec, peers);
        records = new RunRecords(registry, collector, clock, self, observer);
        for (var timed : spec.faults().changes()) {
            changeLater(new Cluster.InjectLater(Duration.ofNanos(timed.atNanos() - clock.nowNanos()), timed.change()));
        }
        loadGenerator = spec.workload() == null ? null : startLoad(spec, spec.workload());
        observer.onStarted(router);
    }

    /** Starts all actors of a cluster, and returns what its guardian does from now on. */
    static Behavior<Cluster.Command> start(
            ActorContext<Cluster.Command> context, Clock clock, Cluster.Start start, Cluster.Observer observer) {
        return new RunningCluster(context, clock, start, observer).running();
    }

    /**
     * Returns the subscribers of all events: the autoscaler if there is one, and the one from outside; null if none.
     */
    private ClusterEvent.@Nullable Subscriber subscriber(Cluster.Start start) {
        return start.spec()
                .scaling()
                .flatMap(scaling -> scaling.rule().map(rule -> autoscaler(start, scaling, rule.get())))
                .orElse(start.subscriber());
    }

    private ClusterEvent.Subscriber autoscaler(Cluster.Start start, ScalingSpec scaling, ScalingRule rule) {
        var spec = start.spec();
        var behavior = spec.actors()
                .autoscaler()
                .create(clock, scaling, spec.replicas().size(), self);
        Set<ClusterEvent.Detail> details = rule.readsKvUsage() ? Set.of(ClusterEvent.Detail.KV_CACHES) : Set.of();
        return ClusterEvent.Subscriber.before(start.subscriber(), child(behavior, "autoscaler"), details);
    }

    private @Nullable KvStore sharedStore(ClusterSpec spec) {
        var random = spec.router().streams().stream("store");
        return spec.replicas().stream()
                .flatMap(replica -> replica.stores().stream())
                .filter(KvStoreSpec::isShared)
                .findFirst()
                .map(store -> KvStore.start(context, clock, store, "store", random))
                .orElse(null);
    }

    /** Starts the network of the replicas, if they have anything to say to each other, or to other processes. */
    private @Nullable ActorRef<Link.Command> network(Cluster.Start start) {
        var spec = start.spec();
        var transfers = spec.replicas().get(0).transfers();
        boolean isUsed = spec.router().disaggregation() != null
                || spec.router().minPeerFetchTokens() > 0
                || start.sideChannel() != null;
        if (transfers == null || !isUsed) {
            return null;
        }
        var nics = spec.replicas().stream()
                .map(replica -> Objects.requireNonNull(replica.transfers()).nic())
                .toList();
        var random = spec.router().streams().stream("network");
        return child(Link.create(clock, transfers.network(nics), random), "network");
    }

    /** Starts the groups of replicas that step together, each of as many in a row as it has ranks. */
    private Map<Integer, ActorRef<DataParallelGroup.Command>> dataParallelGroups(List<ReplicaSpec> replicas) {
        var groups = new HashMap<Integer, ActorRef<DataParallelGroup.Command>>();
        for (int index = 0; index < replicas.size(); index++) {
            var dataParallel = replicas.get(index).device().dataParallel().orElse(null);
            if (dataParallel != null && !groups.containsKey(index)) {
                var group = child(
                        DataParallelGroup.create(
                                clock,
                                dataParallel.latency(),
                                replicas.get(index).engine().rankRules()),
                        "dp-group-" + index);
                for (int rank = 0; rank < dataParallel.size(); rank++) {
                    groups.put(index + rank, group);
                }
            }
        }
        return Map.copyOf(groups);
    }

    private ActorRef<LoadGenerator.Command> startLoad(ClusterSpec spec, Workload.Source workload) {
        var generator = spec.actors().load().create(clock, workload, router, self);
        // A bad trace is the user's business, not a defect: it is reported in one line, without a stack trace.
        var quietly = SupervisorStrategy.stop().withLoggingEnabled(false);
        return child(Behaviors.supervise(generator).onFailure(TraceException.class, quietly), "load-generator");
    }

    /** Starts an actor whose failure ends the run. */
    private <T> ActorRef<T> child(Behavior<T> behavior, String name) {
        var child = context.spawn(behavior, name);
        context.watch(child);
        return child;
    }

    private Behavior<Cluster.Command> running() {
        return always().onMessage(Cluster.Stop.class, now -> stop())
                .onMessage(LoadGenerator.Stopped.class, load -> end(load, 0, false))
                .onMessage(Cluster.StartElapsed.class, this::onStartElapsed)
                .onAnyMessage(other -> Behaviors.same())
                .build();
    }

    private Behavior<Cluster.Command> stop() {
        if (loadGenerator != null) {
            loadGenerator.tell(LoadGenerator.Stop.NOW);
        } else {
            router.tell(new Router.Close(self));
        }
        return stopping(null);
    }

    /** When the router answers, the replicas have all requests that were sent. */
    private Behavior<Cluster.Command> stopping(LoadGenerator.@Nullable Stopped load) {
        return always().onMessage(LoadGenerator.Stopped.class, stopped -> {
                    router.tell(new Router.Close(self));
                    return stopping(stopped);
                })
                .onMessage(Router.Closed.class, closed -> {
                    long numSubmitted = closed.numSubmitted();
                    var sent = load != null ? load : new LoadGenerator.Stopped(numSubmitted, numSubmitted, 0);
                    return end(sent, closed.numHeld(), true);
                })
                .onMessage(Cluster.StartElapsed.class, this::onStartElapsed)
                .onAnyMessage(other -> Behaviors.same())
                .build();
    }

    private Behavior<Cluster.Command> end(LoadGenerator.Stopped load, long numHeld, boolean isPartial) {
        records.end(load, numHeld, isPartial);
        return always().onAnyMessage(other -> Behaviors.same()).build();
    }

    /** Adds the handlers of every phase. */
    private BehaviorBuilder<Cluster.Command> always() {
        return Behaviors.receive(Cluster.Command.class)
                .onMessage(Cluster.Start.class, again -> {
                    throw new IllegalStateException("the cluster has been started before");
                })
                .onMessage(Cluster.Inject.class, this::onInject)
                .onMessage(Cluster.Stalled.class, now -> {
                    registry.tellAll(Replica.GiveUpLost.NOW);
                    return Behaviors.same();
                })
                .onMessage(Cluster.InjectLater.class, later -> {
                    changeLater(later);
                    return Behaviors.same();
                })
                .onMessage(Cluster.ChangeDue.class, this::onChangeDue)
                .onMessage(Cluster.GetStatus.class, this::onGetStatus)
                .onMessage(Cluster.GetBlockHashes.class, this::onGetBlockHashes)
                .onMessage(Cluster.AskKept.class, this::onAskKept)
                .onMessage(Cluster.GetReport.class, get -> {
                    records.report(get.replyTo());
                    return Behaviors.same();
                })
                .onMessage(Replica.Gone.class, gone -> {
                    registry.onGone(gone);
                    records.onReplicaRecord();
                    return Behaviors.same();
                })
                .onMessage(Replica.Recorded.class, replica -> {
                    registry.onRecord(replica);
                    records.onReplicaRecord();
                    return Behaviors.same();
                })
                .onMessage(MetricsCollector.Collected.class, collected -> {
                    records.onCollected(collected);
                    return Behaviors.same();
                })
                .onMessage(Replica.EngineDied.class, died -> {
                    observer.onFailed(new KvOutOfMemoryException(
                            "the engine of replica " + died.replicaIndex() + " has died: " + died.words()));
                    return Behaviors.stopped();
                })
                .onSignal(ChildFailed.class, this::onChildFailed)
                .onSignal(Terminated.class, this::onChildEnded);
    }

    private Behavior<Cluster.Command> onInject(Cluster.Inject inject) {
        inject.replyTo().tell(new Cluster.Injected(registry.change(inject.change())));
        return Behaviors.same();
    }

    private void changeLater(Cluster.InjectLater later) {
        context.scheduleOnce(later.delay(), self, new Cluster.ChangeDue(later.change()));
    }

    private Behavior<Cluster.Command> onChangeDue(Cluster.ChangeDue due) {
        registry.change(due.change()).ifPresent(why -> context.getLog().warn("a planned fault was left out: {}", why));
        return Behaviors.same();
    }

    private Behavior<Cluster.Command> onGetStatus(Cluster.GetStatus get) {
        get.replyTo().tell(new Cluster.Status(clock.nowNanos(), registry.states()));
        return Behaviors.same();
    }

    private Behavior<Cluster.Command> onGetBlockHashes(Cluster.GetBlockHashes get) {
        var absent = new KvBlockManager.BlockHashes(LongLists.EMPTY_LIST);
        return ask(
                get.replicaIndex(),
                new Replica.ForMemory(new KvBlockManager.GetBlockHashes(get.replyTo())),
                get.replyTo(),
                absent);
    }

    /** Asks a replica, or answers for one that is absent. */
    private <A> Behavior<Cluster.Command> ask(
            int replicaIndex, Replica.Command question, ActorRef<? super A> replyTo, A absent) {
        var replica = registry.find(replicaIndex);
        if (replica == null) {
            replyTo.tell(absent);
        } else {
            replica.tell(question);
        }
        return Behaviors.same();
    }

    private Behavior<Cluster.Command> onAskKept(Cluster.AskKept ask) {
        var question = new Replica.ForMemory(new KvExchange.AskedOutside(ask));
        var absent = new Cluster.Kept(ask.requestId(), IntLists.EMPTY_LIST);
        return ask(ask.replicaIndex(), question, ask.replyTo(), absent);
    }

    private Behavior<Cluster.Command> onStartElapsed(Cluster.StartElapsed elapsed) {
        registry.onStartElapsed(elapsed);
        return Behaviors.same();
    }

    private Behavior<Cluster.Command> onChildFailed(ChildFailed failed) {
        observer.onFailed(failed.cause());
        return Behaviors.stopped();
    }

    /** Only replicas may end during a run; the end of any other actor is a defect. */
    private Behavior<Cluster.Command> onChildEnded(Terminated ended) {
        String name = ended.getRef().path().name();
        if (name.startsWith(Replica.NAME)) {
            auditStoreWithout(Replica.indexOf(name));
            return Behaviors.same();
        }
        observer.onFailed(new IllegalStateException(name + " has ended in the middle of the run"));
        return Behaviors.stopped();
    }

    /** Has the store of all replicas checked for leftovers of a replica that has stopped. */
    private void auditStoreWithout(int replica) {
        if (sharedStore != null && registry.find(replica) == null) {
            sharedStore
                    .tier()
                    .tell(new KvTier.Audit(
                            replica, LongList.of(), context.getSystem().ignoreRef()));
        }
    }
}

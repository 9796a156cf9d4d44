package understudy.cluster.replica;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.VirtualGpu;
import understudy.engine.EngineCore;
import understudy.engine.EngineRequest;
import understudy.report.ReplicaCounters;
import understudy.runtime.Clock;

/**
 * Parts of a replica.
 *
 * @param self the replica's actor
 * @param kvBlockManager the actor of its memory
 * @param gpu the actor of its device
 * @param ranks where it agrees on its turns with the ranks that it steps together with, or null if it plans for itself
 * @param api entry of requests
 * @param engine decides which requests run
 * @param clients senders that wait for answers, by request
 * @param events tells the observers outside the replica
 * @param loadReporter tells the router, every so often
 */
@RecordBuilder
record ReplicaParts(
        Clock clock,
        ActorRef<Replica.Command> self,
        ActorRef<KvBlockManager.Command> kvBlockManager,
        ActorRef<VirtualGpu.Command> gpu,
        @Nullable RankTurns ranks,
        ApiEntry api,
        EngineCore engine,
        ClientTable clients,
        ReplicaCounters counters,
        ReplicaEvents events,
        LoadReporter loadReporter) {

    /** Starts memory and device, whose failures are the replica's. */
    static ReplicaParts start(
            ActorContext<Replica.Command> context,
            Clock clock,
            ReplicaCounters counters,
            ReplicaSpec spec,
            ReplicaPeers peers) {
        int index = counters.replicaIndex();
        var memory = spec.memory()
                .create(new KvBlockManager.Setup(
                        clock, spec, index, counters.prefixCacheOfPredecessors(), peers, context.getSelf()));
        var kvBlockManager = context.spawn(memory, "kv-block-manager");
        var group = peers.dataParallelGroups().get(index);
        var gpu = context.spawn(spec.device().create(clock, index, group), "gpu");
        context.watch(kvBlockManager);
        context.watch(gpu);
        var engine = new EngineCore(spec.engine());
        var loadReporter = new LoadReporter(peers, engine.engine().load(), kvBlockManager, context.getSelf(), clock);
        return ReplicaPartsBuilder.builder()
                .clock(clock)
                .self(context.getSelf())
                .kvBlockManager(kvBlockManager)
                .gpu(gpu)
                .ranks(
                        group == null || spec.engine().rankRules().agreement() == null
                                ? null
                                : new RankTurns(context, index, group))
                .api(new ApiEntry(spec.apiDelay(), clock, context.getSelf()))
                .engine(engine)
                .clients(new ClientTable(index, counters, spec.keepsTokenTimes()))
                .counters(counters)
                .events(new ReplicaEvents(counters, engine.engine().load(), kvBlockManager, peers, loadReporter))
                .loadReporter(loadReporter)
                .build();
    }

    /** Tells the memory that another replica holds the KV of a request, if one does. */
    void expectKvOf(Replica.AddRequest add) {
        if (add.isKvElsewhere()) {
            kvBlockManager.tell(add.expectation());
        }
    }

    /** Tells the memory that a request which was expected will never be served. */
    void forgetKvOf(Replica.AddRequest add) {
        if (add.isKvElsewhere()) {
            kvBlockManager.tell(new KvExchange.Unserved(add.request().id()));
        }
    }

    /** Frees the blocks of a request that has ended. */
    void free(EngineRequest request) {
        kvBlockManager.tell(new KvBlockManager.Free(
                request.handle(),
                request.lastStep(),
                request.id(),
                request.request().kvTransfer()));
        events.memoryTouched();
    }

    /** Tells the asker that an order has been carried out. */
    void answer(Replica.Order order) {
        order.replyTo().tell(new Replica.Done(counters.replicaIndex(), true));
    }
}

package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.RequestBook;
import understudy.kvcache.KvBlockCounts;
import understudy.report.ReplicaCounters;

/** Tells the router how busy a replica is, and whoever listens how it serves; the latter costs nothing when nobody does. */
final class EngineStatsReporter {
    private final ReplicaCounters counters;
    private final RequestBook requests;
    private final ActorRef<KvBlockManager.Command> kvCache;
    private final ActorRef<Router.Command> router;
    private final @Nullable ActorRef<? super EngineStats> listener;
    private Router.ReplicaLoad reportedLoad;
    private final LongArrayList ttftNanos = new LongArrayList();
    private int numGenerationTokens;
    private long numPromptTokens;
    private long numCachedTokens;

    EngineStatsReporter(
            ReplicaCounters counters,
            RequestBook requests,
            ActorRef<KvBlockManager.Command> kvCache,
            ReplicaPeers peers) {
        this.counters = counters;
        this.requests = requests;
        this.kvCache = kvCache;
        router = peers.router();
        listener = peers.listeners().engineStats();
        reportedLoad = new Router.ReplicaLoad(counters.replicaIndex(), 0, 0, 0);
    }

    void onSampled(List<EngineRequest> sampled, long atNanos) {
        if (listener == null) {
            return;
        }
        numGenerationTokens += sampled.size();
        for (var request : sampled) {
            if (request.numOutputTokens() == 1) {
                ttftNanos.add(atNanos - request.request().arrivalNanos());
                numPromptTokens += request.numPromptTokens();
                numCachedTokens += request.numCachedTokens();
            }
        }
    }

    /** Tells how many requests there are, if that has changed. */
    void reportLoad() {
        if (tellLoad()) {
            report();
        }
    }

    /** Tells how many requests there are, if that has changed, and in any case what a step has brought. */
    void reportStep() {
        tellLoad();
        report();
    }

    /** Called several times a step, so that nothing is made unless it is told. */
    private boolean tellLoad() {
        boolean isKnown = requests.numRunning() == reportedLoad.numRunning()
                && requests.numWaiting() == reportedLoad.numWaiting()
                && counters.numEnded() == reportedLoad.numEnded();
        if (!isKnown) {
            reportedLoad = new Router.ReplicaLoad(
                    counters.replicaIndex(), requests.numRunning(), requests.numWaiting(), counters.numEnded());
            router.tell(reportedLoad);
        }
        return !isKnown;
    }

    /** Tells the router that there will be no more requests. */
    void reportNoLoad() {
        router.tell(new Router.ReplicaLoad(counters.replicaIndex(), 0, 0, counters.numEnded()));
    }

    /** Tells of the queues, and of what the steps have brought since the last time. */
    private void report() {
        if (listener != null) {
            listener.tell(new EngineStats.SchedulerStats(
                    counters.replicaIndex(),
                    requests.numRunning(),
                    requests.numWaiting(),
                    counters.numRequests(),
                    counters.numPreemptions(),
                    takeIteration()));
        }
    }

    /** Has the memory tell of itself. */
    void reportCache() {
        if (listener != null) {
            kvCache.tell(new KvBlockManager.PublishStats(
                    listener, counters.replicaIndex(), counters.prefixCacheOfPredecessors()));
        }
    }

    /** Tells that the replica has nothing any more, once its counters know what its memory had to say. */
    void reportGone() {
        if (listener != null) {
            int index = counters.replicaIndex();
            listener.tell(new EngineStats.SchedulerStats(
                    index, 0, 0, counters.numRequests(), counters.numPreemptions(), takeIteration()));
            listener.tell(
                    new EngineStats.CacheStats(index, 0, KvBlockCounts.NONE, counters.prefixCacheOfPredecessors()));
        }
    }

    private EngineStats.IterationStats takeIteration() {
        if (numGenerationTokens == 0) {
            return EngineStats.IterationStats.NONE;
        }
        var taken = new EngineStats.IterationStats(
                numGenerationTokens, new LongImmutableList(ttftNanos), numPromptTokens, numCachedTokens);
        ttftNanos.clear();
        numGenerationTokens = 0;
        numPromptTokens = 0;
        numCachedTokens = 0;
        return taken;
    }
}

package understudy.api.live;

import java.util.Locale;
import understudy.cluster.ClusterEvent;
import understudy.faults.ReplicaState;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.PrefixCacheStats;

/** Latest known state of a replica. */
final class LiveReplica {
    private final KvBlockCounts empty;
    private ReplicaState state = ReplicaState.STARTING;
    private int numRunning;
    private int numWaiting;
    private int numTokensOfStep;
    private long numPreemptions;
    private KvBlockCounts blocks = KvBlockCounts.NONE;
    private PrefixCacheStats prefixCache = PrefixCacheStats.NONE;

    /** Creates a replica of which nothing is known but how many usable blocks it has when it is there. */
    LiveReplica(int numBlocks) {
        empty = new KvBlockCounts(numBlocks, 0, 0);
    }

    void onLoad(ClusterEvent.EngineLoad load) {
        numRunning = load.numRunning();
        numWaiting = load.numWaiting();
        numPreemptions = load.numPreemptions();
        if (numRunning == 0) {
            numTokensOfStep = 0;
        }
    }

    void onKvCache(ClusterEvent.KvCacheState kvCache) {
        blocks = kvCache.blocks();
        prefixCache = kvCache.prefixCache();
    }

    void onStep(int numTokens) {
        numTokensOfStep = numTokens;
    }

    /** A stopped replica has neither requests nor memory; one that has started has reported nothing yet. */
    void onState(ReplicaState next) {
        state = next;
        if (next == ReplicaState.READY || next == ReplicaState.DRAINING) {
            blocks = blocks.equals(KvBlockCounts.NONE) ? empty : blocks;
        } else {
            numRunning = 0;
            numWaiting = 0;
            numTokensOfStep = 0;
            blocks = KvBlockCounts.NONE;
        }
    }

    int numRunning() {
        return numRunning;
    }

    int numWaiting() {
        return numWaiting;
    }

    long numPreemptions() {
        return numPreemptions;
    }

    KvBlockCounts blocks() {
        return blocks;
    }

    PrefixCacheStats prefixCache() {
        return prefixCache;
    }

    /** Card of a replica on the page. */
    record Card(String state, int running, int waiting, int tokensPerStep, KvBlocks kv) {}

    record KvBlocks(int total, int used, int cached, int free) {}

    Card card() {
        int numFree = blocks.numBlocks() - blocks.numUsed() - blocks.numCached();
        var kv = new KvBlocks(blocks.numBlocks(), blocks.numUsed(), blocks.numCached(), numFree);
        return new Card(state.name().toLowerCase(Locale.ROOT), numRunning, numWaiting, numTokensOfStep, kv);
    }
}

package understudy.api.live;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ReplicaSpec;
import understudy.faults.ReplicaState;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.PrefixCacheStats;
import understudy.report.transfers.KvTraffic;
import understudy.routing.Role;

/** Latest known state of a replica. */
public final class LiveReplica {
    private final @Nullable String role;
    private final KvBlockCounts empty;
    private ReplicaState state = ReplicaState.STARTING;
    private int numRunning;
    private int numWaiting;
    private int numTokensOfStep;
    private long numPreemptions;
    private KvBlockCounts blocks = KvBlockCounts.NONE;
    private PrefixCacheStats prefixCache = PrefixCacheStats.NONE;

    private List<Tier> tiers = List.of();
    private long numMovedBytes;
    private double gigabytesPerSecond;

    /** Creates a replica of which nothing is known but what it is like when it is there. */
    LiveReplica(Kind kind) {
        role = kind.role;
        empty = new KvBlockCounts(kind.numBlocks, 0, 0);
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
        if (kvCache.traffic() != null) {
            onTraffic(kvCache.traffic());
        }
    }

    private void onTraffic(KvTraffic traffic) {
        var transfers = traffic.transfers();
        numMovedBytes += transfers.loads().totalBytes()
                + transfers.stores().totalBytes()
                + transfers.reads().totalBytes();
        tiers = traffic.tiers().stream()
                .map(tier -> new Tier(tier.tier().label(), tier.stats().numUsed(), tier.numBlocks()))
                .toList();
    }

    /** Ends an interval of so many virtual seconds. */
    void sample(double seconds) {
        gigabytesPerSecond = numMovedBytes / 1e9 / seconds;
        numMovedBytes = 0;
    }

    void onStep(int numTokens) {
        numTokensOfStep = numTokens;
    }

    /** A stopped replica has neither requests nor memory; one that has started has reported nothing yet. */
    void onState(ReplicaState next) {
        state = next;
        if (next.isUp()) {
            blocks = blocks.equals(KvBlockCounts.NONE) ? empty : blocks;
        } else {
            numRunning = 0;
            numWaiting = 0;
            numTokensOfStep = 0;
            blocks = KvBlockCounts.NONE;
            tiers = List.of();
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

    /**
     * Kind of a replica.
     *
     * @param role {@code prefill} or {@code decode}; null if it does everything
     * @param numBlocks its usable blocks
     */
    public record Kind(@Nullable String role, int numBlocks) {
        /** Returns the kind of replicas like this. */
        public static Kind of(ReplicaSpec spec) {
            var role = spec.traits().role();
            int numBlocks = spec.kvCache().numGpuBlocks() - 1;
            return new Kind(role == Role.BOTH ? null : role.name().toLowerCase(Locale.ROOT), numBlocks);
        }
    }

    /** Card of a replica on the page; figures that a replica does not have are left out. */
    record Card(
            String state,
            int running,
            int waiting,
            int tokensPerStep,
            KvBlocks kv,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String role,

            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Tier> tiers,
            @JsonInclude(JsonInclude.Include.NON_DEFAULT) double transferGbPerSecond) {}

    /** Slower memory, in its blocks. */
    record Tier(String name, int used, int total) {}

    record KvBlocks(int total, int used, int cached, int free) {}

    Card card() {
        int numFree = blocks.numBlocks() - blocks.numUsed() - blocks.numCached();
        var kv = new KvBlocks(blocks.numBlocks(), blocks.numUsed(), blocks.numCached(), numFree);
        return new Card(
                state.name().toLowerCase(Locale.ROOT),
                numRunning,
                numWaiting,
                numTokensOfStep,
                kv,
                role,
                tiers,
                gigabytesPerSecond);
    }
}

package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.jspecify.annotations.Nullable;
import understudy.figure.OwnFigure;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.Settlement;
import understudy.kvcache.connector.KvTransferParams;
import understudy.report.transfers.KvTraffic;
import understudy.routing.LoadReport;
import understudy.runtime.Clock;

/**
 * Block manager of one replica: owns its KV memory, grants or refuses blocks, finds cached prefixes. It never decides
 * who runs.
 */
public final class KvBlockManager {

    /** Messages of the block manager. */
    public sealed interface Command
            permits Ask,
                    Free,
                    Resize,
                    Settle,
                    TellState,
                    ReportLoad,
                    GetBlockHashes,
                    ResetPrefixCache,
                    Audit,
                    KvExchange.Command {}

    /**
     * Puts a question of the scheduler; it is answered by {@link Answered} if the scheduler waits for that.
     *
     * @param before settlement to apply first, or null for none
     */
    public record Ask(@Nullable Settle before, KvAsk ask, ActorRef<? super Answered> replyTo) implements Command {}

    /** Drops all blocks of a request that has ended before its time; see {@link KvCache#free}. */
    public record Free(
            int handle,
            long lastStep,
            long requestId,
            @Nullable KvTransferParams transferParams) implements Command {}

    /**
     * KV for these requests has come, or will not come; or blocks are free again.
     *
     * @param failed load that has failed, or null if none has
     */
    public record KvArrived(LongList requestIds, @Nullable FailedLoad failed) implements Replica.Command {}

    /** Blocks of a request that could not be loaded, and all that it holds. */
    public record FailedLoad(long requestId, IntList invalid, IntList table, String reason) {
        /** Reason of a load that has failed, where there is nothing more to say. */
        public static final String NOT_LOADED = "the KV cache of the prompt could not be loaded";
    }

    /** Changes how many blocks there are, the null block included; see {@link KvCache#resize}. */
    public record Resize(int numGpuBlocks) implements Command {}

    /**
     * Caches blocks that a step has completed, frees requests that ended with it, and tells router and subscriber what
     * has changed.
     *
     * @param settlement changes of the memory that follow from the step, or null for none
     * @param atNanos the end of the step
     */
    public record Settle(@Nullable Settlement settlement, long atNanos) implements Command {}

    /** Tells the subscriber the state of the memory, at this virtual time. */
    public record TellState(long atNanos) implements Command {}

    /** Reports to the router, with the state of the memory; see {@link LoadReport}. */
    public record ReportLoad(LoadReport ofQueues) implements Command {}

    /** Asks for the hashes of all cached blocks. */
    public record GetBlockHashes(ActorRef<? super BlockHashes> replyTo) implements Command {}

    /**
     * Drops all cached content, at this virtual time; refused while any block is in use. A null sender gets no answer.
     */
    public record ResetPrefixCache(@Nullable ActorRef<? super Replica.Done> replyTo, long atNanos) implements Command {}

    /** Recounts everything. */
    public record Audit(ActorRef<? super Audited> replyTo) implements Command {}

    /** The answer to {@link Ask}. */
    public record Answered(KvAnswer answer) implements Replica.Command {}

    /** The changes of one step of a replica, in order; never empty. */
    public record KvEvents(int replicaIndex, List<KvEvent> events) implements Router.Command {}

    /** The hash of every cached block, in no particular order; content held twice is there twice. */
    public record BlockHashes(LongList hashes) {}

    /**
     * The result of a recount.
     *
     * @param stats the lookups so far
     * @param peakUsage the largest share of blocks that were in use after a question, 0 to 1
     * @param traffic with other memories; null without a connector
     * @param ownFigures what only memories of its family have counted
     */
    public record Audited(
            KvCacheAudit audit,
            PrefixCacheStats stats,
            double peakUsage,
            @Nullable KvTraffic traffic,
            List<OwnFigure> ownFigures)
            implements Replica.Command {}

    /**
     * Parameters of a new memory.
     *
     * @param before lookups in earlier memories of the same replica
     * @param replica the replica that it belongs to
     */
    public record Setup(
            Clock clock,
            ReplicaSpec spec,
            int replicaIndex,
            PrefixCacheStats before,
            ReplicaPeers peers,
            ActorRef<Replica.Command> replica) {}

    /** Makes the empty memory of a replica. A value: it makes any number of them. */
    @FunctionalInterface
    public interface Factory {
        Behavior<Command> create(Setup setup);
    }

    private KvBlockManager() {}
}

package understudy.kvcache;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.figure.OwnFigure;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.PushWord;

/** KV memory of a replica: grants or refuses blocks, and finds cached prefixes. It never decides which requests run. */
public interface KvCache {

    /** Answers a question of a scheduler. */
    default KvAnswer answer(KvAsk ask) {
        if (ask instanceof KvAsk.Reserve reserve) {
            return reserved(reserve);
        }
        if (ask instanceof KvAsk.Admit admit) {
            return new KvAnswer.Admitted(admit(admit.request()), numFreeBlocks());
        }
        if (ask instanceof KvAsk.Match match) {
            return new KvAnswer.Matched(new IntImmutableList(match(match.lookups())), numFreeBlocks());
        }
        if (ask instanceof KvAsk.EndPlan end) {
            endPlan(end);
            return new KvAnswer.PlanEnded(numFreeBlocks());
        }
        if (ask instanceof KvAsk.OfFamily ofFamily) {
            return answer(ofFamily);
        }
        var release = (KvAsk.Release) ask;
        release(release.handle(), release.lastStep());
        return new KvAnswer.Released(numFreeBlocks());
    }

    /**
     * Answers a question that only engines of the memory's own family ask.
     *
     * @throws UnsupportedOperationException if the memory is of another one
     */
    default KvAnswer answer(KvAsk.OfFamily ask) {
        throw new UnsupportedOperationException("a question for the memory of another family of engines: " + ask);
    }

    private KvAnswer.Reserved reserved(KvAsk.Reserve ask) {
        int numGranted = reserve(ask.reservation());
        if (ask.isSure() && numGranted < ask.reservation().size()) {
            throw new IllegalStateException("blocks that were sure to be granted were refused: " + numGranted + " of "
                    + ask.reservation().size() + " requests may go on");
        }
        return new KvAnswer.Reserved(numGranted, numFreeBlocks());
    }

    /**
     * Looks up, attaches and allocates for a waiting request (vLLM {@code get_computed_blocks}, {@code
     * allocate_slots}).
     */
    Admission admit(AdmissionRequest request);

    /**
     * Returns how many leading tokens of each request are cached (vLLM {@code get_computed_blocks}). Changes nothing.
     */
    int[] match(List<PrefixLookup> lookups);

    /**
     * Allocates for running requests, in order, up to the first one for which there are too few free blocks (vLLM
     * {@code allocate_slots}, once for all of them).
     *
     * @return how many requests were granted; nothing was changed for the others
     */
    int reserve(Reservation reservation);

    /**
     * Starts the transfers that a planned step brings with it.
     *
     * @throws UnsupportedOperationException unless the memory has a connector
     */
    default void endPlan(KvAsk.EndPlan end) {
        throw new UnsupportedOperationException("only a memory with a connector is told of plans");
    }

    /** Returns the transfers of this memory, or null if it has no KV but its own. */
    default @Nullable ConnectedBlocks connected() {
        return null;
    }

    /** Returns what the engine has said since the last call about KV that is pushed, in order; see {@link PushWord}. */
    default List<PushWord> takePushWords() {
        return List.of();
    }

    /** Returns the pages that go to a storage behind the host and come from there, or null if there is none. */
    default @Nullable StoredPages stored() {
        return null;
    }

    /** Returns the tokens of admitted requests that were looked for elsewhere, and found there, since the start. */
    default PrefixCacheStats externalStats() {
        return PrefixCacheStats.NONE;
    }

    /**
     * Caches blocks that a step's result has completed, and frees requests that ended (vLLM {@code cache_blocks},
     * {@code free}).
     */
    void settle(Settlement settlement);

    /**
     * Drops all blocks of a preempted request, which keeps its handle (vLLM {@code free}).
     *
     * @param lastStep number of the step in which it was scheduled last
     */
    void release(int handle, long lastStep);

    /**
     * Drops all blocks of a request that has ended (vLLM {@code free}); its handle may be used again. Unknown handles
     * are fine.
     *
     * @param lastStep number of the step in which it was scheduled last
     */
    void free(int handle, long lastStep);

    /**
     * Frees the blocks of a request that has ended before its answer was complete; it may never have asked for any.
     *
     * @param params KV transfer parameters that a router sent along, or null if none
     * @param lastStep number of the step in which it was scheduled last
     */
    default void abort(long requestId, @Nullable KvTransferParams params, int handle, long lastStep) {
        free(handle, lastStep);
    }

    /** Forgets all cached content; refused, with false, while any block is in use. */
    boolean resetPrefixCache();

    /**
     * Changes how many blocks there are; those in use go when they are released.
     *
     * @param numGpuBlocks the null block included; at least 2, more than there were at first is as many as at first
     * @throws UnsupportedOperationException unless {@link KvCacheSpec#isResizable()}
     */
    default void resize(int numGpuBlocks) {
        throw new UnsupportedOperationException("only a memory of single blocks can be resized");
    }

    /**
     * Returns the changes of the prefix table since the last call, in order; none unless events are recorded, or where
     * nothing is found by content.
     */
    default List<KvEvent> drainEvents() {
        return List.of();
    }

    /**
     * Returns how many blocks running requests are sure to be granted, one for each that they need; 0 unless the memory
     * gives such a promise. Only another grant, or a resize, makes it less.
     */
    default int numFreeBlocks() {
        return 0;
    }

    /** Returns the share of usable blocks that requests hold, 0 to 1; blocks that are only cached count as free. */
    double usage();

    /** Returns how many blocks are used and cached, in constant time. */
    KvBlockCounts blockCounts();

    /** Returns the lookups of admitted requests since the start. */
    PrefixCacheStats stats();

    /** Returns how long the answers since the last call have taken, as the memory has waited for copies; 0 for most. */
    default long takeWaitNanos() {
        return 0;
    }

    /** Returns what the memory has counted that only the memories of its family of engines have. */
    default List<OwnFigure> ownFigures() {
        return List.of();
    }

    /** Returns counts and levels of such a kind that change in steps, as they are now. */
    default List<OwnFigure> levels() {
        return List.of();
    }

    /** Returns the content of the memory now, with the block tables of some requests. */
    KvSnapshot snapshot(IntList handles);

    /** Returns the free blocks, next to be given out first; none if there is no such order. */
    default int[] freeOrder() {
        return new int[0];
    }

    /** Returns the hash of every block that carries one, in no particular order; content held twice is there twice. */
    default long[] blockHashes() {
        return new long[0];
    }

    /** Recounts everything from scratch; see {@link KvCacheAudit}. */
    KvCacheAudit audit();
}

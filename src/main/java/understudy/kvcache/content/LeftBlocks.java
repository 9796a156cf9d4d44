package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.Long2ObjectRBTreeMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Blocks that requests have left behind: for a transfer that is not over, or because a step in flight still writes to
 * them.
 */
final class LeftBlocks {
    private final BlockPool pool;
    private final boolean defersFrees;
    private final ArrayDeque<Table> deferred = new ArrayDeque<>();
    private final Long2ObjectRBTreeMap<Table> held = new Long2ObjectRBTreeMap<>();
    private final LongArrayList heldForOthers = new LongArrayList();
    private long numStepsDone;
    private long newestStep;

    LeftBlocks(BlockPool pool, boolean defersFrees) {
        this.pool = pool;
        this.defersFrees = defersFrees;
    }

    /** Block ids, the number of the step in which they were scheduled last, and that of the step they wait for. */
    private static final class Table {
        final int[] blocks;
        final long lastStep;
        final long awaitedStep;

        Table(int[] blocks, long lastStep, long awaitedStep) {
            this.blocks = blocks;
            this.lastStep = lastStep;
            this.awaitedStep = awaitedStep;
        }
    }

    /** Records that a step computes tokens, and is in flight now. */
    void onStepPlanned(long step) {
        newestStep = step;
    }

    /**
     * Frees blocks, or, while a step in flight computes with them, defers that until the newest step in flight is over,
     * even if their request has no tokens in that one (vLLM {@code _free_request_blocks} of a consumer).
     */
    void free(int[] blocks, long lastStep) {
        if (blocks.length == 0) {
            return;
        }
        if (defersFrees && lastStep > numStepsDone) {
            deferred.add(new Table(blocks, lastStep, Math.max(lastStep, newestStep)));
        } else {
            pool.release(blocks, blocks.length, lastStep);
        }
    }

    /** Frees the blocks that were to stay until this step is over. */
    void onStepDone(long step) {
        numStepsDone = step;
        while (!deferred.isEmpty() && deferred.element().awaitedStep <= step) {
            var table = deferred.remove();
            pool.release(table.blocks, table.blocks.length, table.lastStep);
        }
    }

    /**
     * Keeps the blocks of a request that has ended, for other replicas or for a load that is not over; no longer those
     * of an earlier life of it.
     */
    void hold(long requestId, int[] blocks, long lastStep, boolean isForOthers) {
        release(requestId);
        if (isForOthers) {
            heldForOthers.add(requestId);
        }
        held.put(requestId, new Table(blocks, lastStep, lastStep));
    }

    /** Frees the blocks that are kept of a request, if any. */
    void release(long requestId) {
        var table = held.remove(requestId);
        if (table != null) {
            free(table.blocks, table.lastStep);
        }
    }

    /** Returns the requests whose blocks are kept for other replicas since the last call. */
    long[] takeHeldForOthers() {
        long[] taken = heldForOthers.toLongArray();
        heldForOthers.clear();
        return taken;
    }

    boolean isHeld(long requestId) {
        return held.containsKey(requestId);
    }

    /** Returns the blocks that are kept of a request; none if it is unknown. */
    int[] blocksOf(long requestId) {
        var table = held.get(requestId);
        return table == null ? new int[0] : table.blocks.clone();
    }

    long[] heldRequests() {
        return held.keySet().toLongArray();
    }

    int numDeferredBlocks() {
        return deferred.stream().mapToInt(table -> table.blocks.length).sum();
    }

    List<int[]> tables() {
        var all = new ArrayList<int[]>();
        deferred.forEach(table -> all.add(table.blocks));
        held.values().forEach(table -> all.add(table.blocks));
        return all;
    }
}

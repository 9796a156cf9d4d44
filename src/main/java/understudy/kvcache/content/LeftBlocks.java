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

    /** The last step with work that is known. */
    private long newestStep;

    LeftBlocks(BlockPool pool, boolean defersFrees) {
        this.pool = pool;
        this.defersFrees = defersFrees;
    }

    /** Block ids, the number of the step in which they were scheduled last, and of the one after which they are free. */
    private static final class Table {
        final int[] blocks;
        final long lastStep;
        final long fence;

        Table(int[] blocks, long lastStep, long fence) {
            this.blocks = blocks;
            this.lastStep = lastStep;
            this.fence = fence;
        }
    }

    /**
     * Frees blocks, or, while their last step is in flight, defers that until the newest step is over that is scheduled
     * (vLLM {@code Scheduler._free_blocks} of a consumer).
     */
    void free(int[] blocks, long lastStep) {
        if (blocks.length == 0) {
            return;
        }
        if (defersFrees && lastStep > numStepsDone) {
            deferred.add(new Table(blocks, lastStep, newestStep));
        } else {
            pool.release(blocks, blocks.length, lastStep);
        }
    }

    /** Records a step with work for the device. */
    void onStepPlanned(long step) {
        newestStep = step;
    }

    /** Frees what has waited for a step, which is over. */
    void onStepDone(long step) {
        numStepsDone = step;
        while (!deferred.isEmpty() && deferred.element().fence <= step) {
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
        held.put(requestId, new Table(blocks, lastStep, 0));
    }

    /** Frees what is kept of a request, if anything. */
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

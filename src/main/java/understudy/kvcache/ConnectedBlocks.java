package understudy.kvcache;

import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.TransferJob;

/** Blocks of a memory that transfers read and write. */
public interface ConnectedBlocks {

    /** Returns the jobs that were begun since the last call, in order; they move bytes from now on. */
    List<TransferJob> takeJobs();

    /** Returns which jobs have to be over before the step that was planned last runs. */
    long[] jobsToFlush();

    /**
     * Records the end of a job.
     *
     * @return whether a request that is still here waits for it
     */
    boolean onJobEnded(TransferJob job, boolean isFailed);

    /**
     * Records that the KV of a request has come, or will not come; if the request has ended meanwhile, its blocks are
     * freed.
     *
     * @return whether the request is still here
     */
    boolean onArrived(long requestId);

    /**
     * Frees what a request holds that has ended before its answer was complete, which may never have asked for anything.
     *
     * @param lastStep number of the step in which it was scheduled last
     */
    void abort(long requestId, @Nullable KvTransferParams params, int handle, long lastStep);

    /** Frees the blocks that a request has left behind for a transfer which is over; unknown requests are fine. */
    void release(long requestId);

    /** Returns the requests that have left blocks behind for other replicas since the last call. */
    long[] takeHeld();

    /** Returns whether blocks of an ended request are here for another replica. */
    boolean isHeld(long requestId);

    /** Returns the requests that have left blocks behind for a transfer, in ascending order. */
    long[] held();

    /** Returns how many blocks are to be freed when the steps in flight are over. */
    int numDeferredBlocks();

    /** Returns the block ids of a request that left its blocks behind, or of one that loads; empty if unknown. */
    int[] blocksOf(long requestId);

    /** Loses, of what slower memories hold and no transfer uses, what has such a hash. */
    void lose(LongPredicate isLost);

    /** Makes blocks unfindable, whose content has turned out to be wrong. */
    void forget(int[] blocks);
}

package understudy.kvcache;

import java.util.List;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.TransferJob;

/** Blocks of a memory that transfers read and write. */
public interface ConnectedBlocks {

    /** Returns the jobs that were begun since the last call, in order; they move bytes from now on. */
    List<TransferJob> takeJobs();

    /** Returns the connector, to ask it what has nothing to do with blocks. */
    KvConnector connector();

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

    /** Makes blocks unfindable, whose content has turned out to be wrong. */
    void forget(int[] blocks);
}

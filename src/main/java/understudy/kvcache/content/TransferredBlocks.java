package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.TransferJob;

/** Blocks of a memory as its transfers see them. */
final class TransferredBlocks implements ConnectedBlocks {
    private final KvConnector connector;
    private final BlockPool pool;
    private final LeftBlocks left;
    private final Long2ObjectOpenHashMap<ConnectedSequence> sequences;
    private final List<TransferJob> begun = new ArrayList<>();

    /** @param sequences the requests that have not ended, by their numbers; the memory's own */
    TransferredBlocks(
            KvConnector connector,
            BlockPool pool,
            LeftBlocks left,
            Long2ObjectOpenHashMap<ConnectedSequence> sequences) {
        this.connector = connector;
        this.pool = pool;
        this.left = left;
        this.sequences = sequences;
    }

    void begin(List<TransferJob> jobs) {
        begun.addAll(jobs);
    }

    @Override
    public KvConnector connector() {
        return connector;
    }

    @Override
    public List<TransferJob> takeJobs() {
        var taken = List.copyOf(begun);
        begun.clear();
        return taken;
    }

    @Override
    public boolean onJobEnded(TransferJob job, boolean isFailed) {
        begun.addAll(connector.onJobEnded(job.job(), isFailed));
        return job.kind().isAwaited() && onArrived(job.requestId());
    }

    @Override
    public boolean onArrived(long requestId) {
        var sequence = sequences.get(requestId);
        if (sequence == null) {
            left.release(requestId);
            return false;
        }
        sequence.setLoading(false);
        return true;
    }

    @Override
    public void release(long requestId) {
        left.release(requestId);
    }

    @Override
    public long[] takeHeld() {
        return left.takeHeldForOthers();
    }

    @Override
    public boolean isHeld(long requestId) {
        return left.isHeld(requestId);
    }

    @Override
    public long[] held() {
        return left.heldRequests();
    }

    @Override
    public int numDeferredBlocks() {
        return left.numDeferredBlocks();
    }

    @Override
    public int[] blocksOf(long requestId) {
        var sequence = sequences.get(requestId);
        return sequence == null ? left.blocksOf(requestId) : sequence.blockTable();
    }

    @Override
    public void forget(int[] blocks) {
        for (int block : blocks) {
            pool.forget(block);
        }
    }
}

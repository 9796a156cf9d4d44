package understudy.cluster;

import understudy.kvcache.connector.TransferJob;
import understudy.transfer.TransferEnded;
import understudy.transfer.TransferLog;

/** Counts of a replica's transfers since they were last told. */
final class TransferCounters {
    private final TransferLog loads = new TransferLog();
    private final TransferLog stores = new TransferLog();
    private final TransferLog reads = new TransferLog();
    private long numExpired;

    void add(TransferJob job, TransferEnded ended, int descriptorsPerBlock) {
        var log = switch (job.kind()) {
            case LOAD -> loads;
            case STORE -> stores;
            case READ, NOTIFY -> reads;
        };
        log.add(ended, job.gpuBlocks().size() * descriptorsPerBlock);
    }

    /** The other replica did not have what was to be read. */
    void onReadRefused() {
        reads.addFailed();
    }

    /** Leases of so many requests have ended before anybody read their blocks. */
    void onExpired(int numRequests) {
        numExpired += numRequests;
    }

    /** Returns the counts, which begin anew. */
    ClusterEvent.Transfers take() {
        var taken = new ClusterEvent.Transfers(loads.take(), stores.take(), reads.take(), numExpired);
        numExpired = 0;
        return taken;
    }
}

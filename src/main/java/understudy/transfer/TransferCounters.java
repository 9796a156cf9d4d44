package understudy.transfer;

/** Counts of a replica's transfers since they were last told. */
public final class TransferCounters {
    private final TransferLog loads = new TransferLog();
    private final TransferLog stores = new TransferLog();
    private final TransferLog reads = new TransferLog();
    private final TransferLog promotions = new TransferLog();
    private final TransferLog cascades = new TransferLog();
    private long numExpired;

    /** Returns the transfers from slower memories. */
    public TransferLog loads() {
        return loads;
    }

    /** Returns the transfers to slower memories. */
    public TransferLog stores() {
        return stores;
    }

    /** Returns the transfers from other replicas. */
    public TransferLog reads() {
        return reads;
    }

    /** Returns the transfers from slower memories to the host's. */
    public TransferLog promotions() {
        return promotions;
    }

    /** Returns the transfers from the host's memory to slower ones. */
    public TransferLog cascades() {
        return cascades;
    }

    /** Adds leases that have ended before another replica had read the blocks. */
    public void addExpired(int numRequests) {
        numExpired += numRequests;
    }

    /** Returns the counts, which begin anew. */
    public TransferCounts take() {
        var taken = new TransferCounts(loads.take(), stores.take(), reads.take(), numExpired);
        numExpired = 0;
        return taken;
    }
}

package understudy.transfer;

/** Counts of a replica's transfers since they were last told. */
public final class TransferCounters {
    private final TransferLog loads = new TransferLog();
    private final TransferLog stores = new TransferLog();
    private final TransferLog reads = new TransferLog();
    private long numExpired;
    private long numStale;

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

    /** Adds leases that have ended before another replica had read the blocks. */
    public void addExpired(int numRequests) {
        numExpired += numRequests;
    }

    /** Adds a read of blocks that the other replica had given up. */
    public void addStale() {
        numStale++;
    }

    /** Returns the counts, which begin anew. */
    public TransferCounts take() {
        var taken = new TransferCounts(loads.take(), stores.take(), reads.take(), numExpired, numStale);
        numExpired = 0;
        numStale = 0;
        return taken;
    }
}

package understudy.transfer;

/** Counts of a replica's transfers: since they were last told, and since the start. */
public final class TransferCounters {
    private final TransferLog loads;
    private final TransferLog stores;
    private final TransferLog reads;
    private final TransferLog promotions;
    private final TransferLog cascades;
    private long numExpired;
    private long numExpiredTaken;
    private long numStale;
    private long numStaleTaken;

    /** @param keepsAll whether each transfer is kept for {@link #all} */
    public TransferCounters(boolean keepsAll) {
        loads = new TransferLog(keepsAll);
        stores = new TransferLog(keepsAll);
        reads = new TransferLog(keepsAll);
        promotions = new TransferLog(keepsAll);
        cascades = new TransferLog(keepsAll);
    }

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

    /** Adds a read of blocks that the other replica had given up. */
    public void addStale() {
        numStale++;
    }

    /** Returns the counts since the last call; for one reader. */
    public TransferCounts take() {
        var taken = new TransferCounts(
                loads.take(),
                stores.take(),
                reads.take(),
                promotions.take(),
                cascades.take(),
                numExpired - numExpiredTaken,
                numStale - numStaleTaken);
        numExpiredTaken = numExpired;
        numStaleTaken = numStale;
        return taken;
    }

    /** Returns the counts since the start. */
    public TransferCounts all() {
        return new TransferCounts(
                loads.all(), stores.all(), reads.all(), promotions.all(), cascades.all(), numExpired, numStale);
    }
}

package understudy.transfer;

/**
 * Transfers of a replica over some time.
 *
 * @param loads from slower memories
 * @param stores to slower memories
 * @param reads from other replicas
 * @param numExpired leases that have ended before another replica had read the blocks
 * @param numStale reads of blocks that the other replica had given up, whose requests go on with wrong KV
 */
public record TransferCounts(
        TransferFigures loads, TransferFigures stores, TransferFigures reads, long numExpired, long numStale) {
    /** No transfers. */
    public static final TransferCounts NONE =
            new TransferCounts(TransferFigures.NONE, TransferFigures.NONE, TransferFigures.NONE, 0, 0);
}

package understudy.transfer;

/**
 * Transfers of a replica over some time.
 *
 * @param loads from slower memories
 * @param stores to slower memories
 * @param reads from other replicas
 * @param promotions from slower memories to the host's
 * @param cascades from the host's memory to slower ones
 * @param numExpired leases that have ended before another replica had read the blocks
 * @param numStale reads of blocks that the other replica had given up, and that were taken for the prompt's KV
 */
public record TransferCounts(
        TransferFigures loads,
        TransferFigures stores,
        TransferFigures reads,
        TransferFigures promotions,
        TransferFigures cascades,
        long numExpired,
        long numStale) {
    /** No transfers. */
    public static final TransferCounts NONE = new TransferCounts(
            TransferFigures.NONE,
            TransferFigures.NONE,
            TransferFigures.NONE,
            TransferFigures.NONE,
            TransferFigures.NONE,
            0,
            0);

    /** Returns these and those that came later. */
    public TransferCounts plus(TransferCounts later) {
        return new TransferCounts(
                loads.plus(later.loads),
                stores.plus(later.stores),
                reads.plus(later.reads),
                promotions.plus(later.promotions),
                cascades.plus(later.cascades),
                numExpired + later.numExpired,
                numStale + later.numStale);
    }
}

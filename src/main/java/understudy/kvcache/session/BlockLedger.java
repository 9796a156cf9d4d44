package understudy.kvcache.session;

import java.util.List;
import understudy.kvcache.KvCacheAudit;

/** Accounting of blocks when prefixes are found by session; the session cache has a simplified and a detailed model. */
interface BlockLedger {

    /** Creates a ledger of {@code numBlocks} free blocks. */
    static BlockLedger create(SessionMode mode, int numBlocks, int blockSize) {
        return mode == SessionMode.DETAILED
                ? new DetailedLedger(numBlocks, blockSize)
                : new SimplifiedLedger(numBlocks, blockSize);
    }

    /** Returns the blocks without a holder. */
    int numFree();

    /** Returns the blocks that requests do not need: free ones, and those that are only cached. */
    int numAvailable();

    /** Returns the holding of a request without a cached prefix: no blocks yet. */
    BlockHolding open();

    /** Recounts everything from what requests and cached prefixes hold. */
    KvCacheAudit audit(List<BlockHolding> requests, List<BlockHolding> cached);
}

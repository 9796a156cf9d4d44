package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntOpenHashSet;

/**
 * A recount of a tier from its blocks.
 *
 * @param numBlocks blocks of the tier
 * @param numFree blocks never used, and different ones that were freed
 * @param numIdle blocks with a chunk that no transfer uses
 * @param numPending blocks being written
 * @param numInRead blocks being loaded from
 * @param numBad blocks freed while in use, and blocks in use that their key does not lead to
 * @param isSound whether the running counts and the lists of the eviction policy say the same
 */
public record TierAudit(
        int numBlocks, int numFree, int numIdle, int numPending, int numInRead, int numBad, boolean isSound) {

    static TierAudit of(TierBlocks blocks, TierOrder order) {
        int numIdle = 0;
        int numPending = 0;
        int numInRead = 0;
        int numBad = (int) blocks.freed().intStream().filter(blocks::isUsed).count();
        for (int block = 0; block < blocks.numEverUsed(); block++) {
            if (blocks.isUsed(block)) {
                numIdle += blocks.isIdle(block) ? 1 : 0;
                numPending += blocks.isPending(block) ? 1 : 0;
                numInRead += blocks.isInRead(block) ? 1 : 0;
                numBad += blocks.find(blocks.keyOf(block)) == block ? 0 : 1;
            }
        }
        int numFree = blocks.capacity() - blocks.numEverUsed() + new IntOpenHashSet(blocks.freed()).size();
        boolean isSound = numIdle == blocks.numIdle()
                && numPending == blocks.numPending()
                && numInRead == blocks.numInRead()
                && order.isSound();
        return new TierAudit(blocks.capacity(), numFree, numIdle, numPending, numInRead, numBad, isSound);
    }

    /** Returns whether every block is free, idle, being written or being loaded from, and every count is true. */
    public boolean isConserved() {
        return numFree + numIdle + numPending + numInRead == numBlocks && numBad == 0 && isSound;
    }
}

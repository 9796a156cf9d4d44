package understudy.kvcache.content;

import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.eviction.PrefixTable;

/**
 * Remembers why the request at the head of the waiting queue was refused, so that asking again in every step costs
 * nothing while the answer cannot have changed.
 *
 * <p>A refusal means: blocks needed &gt; free blocks + hit blocks in use. As long as the first block that was missed is
 * still missing, the right side grows only by blocks that lost their last reference since: every other event either
 * leaves it alone or makes it smaller. So the refusal holds until enough blocks were released.
 */
final class RememberedRefusal {
    private static final int NOBODY = -1;

    private int handle = NOBODY;
    private int numTokens;
    private long numReleasedThatMayHelp;
    private boolean couldHitMore;
    private long missedHash;
    private int missedHome;

    void remember(
            AdmissionRequest request,
            BlockPool pool,
            int numBlocksNeeded,
            int numHitsInUse,
            boolean couldHitMoreBlocks,
            long firstMissedHash,
            int firstMissedHome) {
        handle = request.lookup().handle();
        numTokens = request.numTokens();
        numReleasedThatMayHelp = pool.numReleased() + numBlocksNeeded - pool.numFree() - numHitsInUse;
        couldHitMore = couldHitMoreBlocks;
        missedHash = firstMissedHash;
        missedHome = firstMissedHome;
    }

    /** Forgets a request that has ended, whose handle may come back for another one. */
    void forget(int endedHandle) {
        if (endedHandle == handle) {
            handle = NOBODY;
        }
    }

    /** Returns whether a full check would refuse the request again. */
    boolean stillHolds(AdmissionRequest request, BlockPool pool) {
        return request.lookup().handle() == handle
                && request.numTokens() == numTokens
                && pool.numReleased() < numReleasedThatMayHelp
                && !(couldHitMore && pool.prefixTable().lookup(missedHash, missedHome) != PrefixTable.NULL_BLOCK);
    }
}

package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import understudy.kvcache.Reservation;

/**
 * The running requests of a plan that need something from the KV cache, and where they stand in the running list and in
 * the plan, so that a refusal can take the plan back to there.
 */
final class ReservationDraft {
    private final Reservation.Builder reservation = new Reservation.Builder();
    private final IntArrayList runningIndexes = new IntArrayList();
    private final IntArrayList planIndexes = new IntArrayList();
    private int numBlocks;

    /** Adds a request that takes {@code numNewBlocks} blocks more than it has. */
    void add(EngineRequest request, int numComputedAfter, int numNewBlocks, int runningIndex, int planIndex) {
        numBlocks += numNewBlocks;
        reservation.add(request.handle(), numComputedAfter, request.numTokens());
        runningIndexes.add(runningIndex);
        planIndexes.add(planIndex);
    }

    Reservation build() {
        return reservation.build();
    }

    /** Returns the blocks that all requests together need. */
    int numBlocks() {
        return numBlocks;
    }

    int size() {
        return reservation.size();
    }

    int runningIndex(int entry) {
        return runningIndexes.getInt(entry);
    }

    int planIndex(int entry) {
        return planIndexes.getInt(entry);
    }

    void clear() {
        reservation.clear();
        runningIndexes.clear();
        planIndexes.clear();
        numBlocks = 0;
    }
}

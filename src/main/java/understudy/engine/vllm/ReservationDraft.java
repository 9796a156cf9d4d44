package understudy.engine.vllm;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import understudy.kvcache.Reservation;

/**
 * The running requests of a plan that need something from the KV cache, and where they stand in the running list and in
 * the plan, so that a refusal can take the plan back to there. Members of the cohort come first; where they stand is
 * asked of them after a refusal only.
 */
final class ReservationDraft {
    private static final int MEMBER = -1;

    private final Reservation.Builder reservation = new Reservation.Builder();
    private final ObjectArrayList<VllmRequest> requests = new ObjectArrayList<>();
    private final IntArrayList runningIndexes = new IntArrayList();
    private final IntArrayList planIndexes = new IntArrayList();
    private int numBlocks;

    /** Adds a request that takes {@code numNewBlocks} blocks more than it has. */
    void add(
            VllmRequest request,
            int numSlots,
            int numTokensToCache,
            int numNewBlocks,
            int runningIndex,
            int planIndex) {
        numBlocks += numNewBlocks;
        int numExecuted = Math.max(0, request.numComputedTokens - request.numInFlightTokens);
        reservation.add(request.handle(), numSlots, numTokensToCache, numExecuted);
        requests.add(request);
        runningIndexes.add(runningIndex);
        planIndexes.add(planIndex);
    }

    /** Adds a member of the cohort, before all other requests. */
    void addMember(VllmRequest request, int numComputedAfter, int numNewBlocks) {
        int numTokensToCache = Math.min(numComputedAfter, request.numTokens());
        add(request, numComputedAfter, numTokensToCache, numNewBlocks, MEMBER, MEMBER);
    }

    Reservation build(long step) {
        return reservation.build(step);
    }

    /** Returns the blocks that all requests together need. */
    int numBlocks() {
        return numBlocks;
    }

    /** Has the first requests take over what they were granted; a cohort sees to its members. */
    void grantFirst(int count, int blockSize) {
        for (int i = 0; i < count; i++) {
            var request = requests.get(i);
            if (request.cohortMember == null) {
                request.onBlocksGranted(reservation.numSlots(i), reservation.numTokensToCache(i), blockSize);
            }
        }
    }

    int size() {
        return reservation.size();
    }

    /** Returns the index of a request in the running list. */
    int runningIndex(int entry, RunningList running) {
        int index = runningIndexes.getInt(entry);
        return index == MEMBER ? running.indexOf(requests.get(entry)) : index;
    }

    /** Returns the index of a request in a plan that lists all of them. */
    int planIndex(int entry, VllmPlan plan) {
        int index = planIndexes.getInt(entry);
        return index == MEMBER ? plan.indexOf(requests.get(entry)) : index;
    }

    void clear() {
        reservation.clear();
        requests.clear();
        runningIndexes.clear();
        planIndexes.clear();
        numBlocks = 0;
    }
}

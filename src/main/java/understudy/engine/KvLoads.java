package understudy.engine;

import java.util.LinkedHashSet;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.LoadState;

/**
 * Requests whose KV is on its way, and prefills in flight for whose blocks a new load has to leave room (vLLM's {@code
 * WAITING_FOR_REMOTE_KVS} and {@code _inflight_prefill_reserved_blocks}). Does nothing in a replica that has no KV but
 * its own.
 */
final class KvLoads {
    /** How many plans in a row may admit nobody although KV has come. */
    private static final int MAX_STUCK_PLANS = 100;

    /** How often preemptions may leave nothing to compute before any request has ended. */
    private static final int MAX_ROUNDS = 8;

    private final boolean isOn;
    private final int blockSize;
    private final int maxModelLen;
    private final LinkedHashSet<EngineRequest> prefillsInFlight = new LinkedHashSet<>();
    private boolean haveEnded;
    private int numRounds;
    private int numStuckPlans;

    KvLoads(KvCacheConfig kvCache) {
        isOn = kvCache.connector() != null;
        blockSize = kvCache.blockSize();
        maxModelLen = kvCache.maxModelLen();
    }

    boolean areOn() {
        return isOn;
    }

    /** Records that a request has got its first blocks, and will need more. */
    void beginPrefill(EngineRequest request) {
        if (isOn) {
            prefillsInFlight.add(request);
        }
    }

    /** Records that a request needs no more blocks for its prompt, or has lost all. */
    void endPrefill(EngineRequest request) {
        if (isOn) {
            prefillsInFlight.remove(request);
        }
    }

    /** Records the end of a request, of which the memory's transfers learn with the next plan. */
    void onEnded(EngineRequest request) {
        endPrefill(request);
        haveEnded = isOn;
        numRounds = 0;
    }

    /** Records that a request has preempted itself, behind so many tokens in the plan. */
    void onSelfPreempted(int numScheduledTokens) {
        numRounds += isOn && numScheduledTokens == 0 ? 1 : 0;
    }

    /**
     * Returns whether requests have preempted each other, and the last one itself, so often that no other is to be admitted
     * before one has ended. Where blocks are free only when steps in flight are over, those of the others come too late;
     * vLLM then admits all anew, and may go on so for ever.
     */
    boolean areThrashing() {
        return numRounds > MAX_ROUNDS;
    }

    /** Returns whether requests have ended since the last plan was begun. */
    boolean haveEnded() {
        return haveEnded;
    }

    void beginPlan() {
        haveEnded = false;
    }

    /** Returns whether a request has to wait for its KV; it waits no longer from the first time on that it need not. */
    boolean isParked(EngineRequest request) {
        if (request.status != RequestStatus.WAITING_FOR_REMOTE_KVS) {
            return false;
        }
        if (request.hasKvArrived) {
            request.onKvArrived();
        }
        return request.status == RequestStatus.WAITING_FOR_REMOTE_KVS;
    }

    /** Returns whether the KV of a waiting request has come, which has not been admitted since. */
    boolean isLoaded(EngineRequest request) {
        boolean isParked = request.status == RequestStatus.WAITING_FOR_REMOTE_KVS;
        return isParked ? request.hasKvArrived : request.numComputedTokens > 0;
    }

    /** Records one more plan that admits nobody although there is KV, and returns whether there were too many. */
    boolean areStuck() {
        numStuckPlans = Math.min(numStuckPlans + 1, MAX_STUCK_PLANS + 1);
        return numStuckPlans > MAX_STUCK_PLANS;
    }

    /** Returns whether it is worth while to plan once more, although nothing has changed. */
    boolean mayGetUnstuck() {
        return numStuckPlans > 0 && numStuckPlans <= MAX_STUCK_PLANS;
    }

    /** Records a plan with work for the device. */
    void onWork() {
        numStuckPlans = 0;
    }

    /**
     * Returns what the memory has to know of KV from elsewhere to admit a request. While nothing runs, those whose load has
     * failed get no room: in vLLM they take it from each other, and wait for ever.
     */
    LoadState stateOf(EngineRequest request, boolean isIdle) {
        if (!isOn) {
            return LoadState.NONE;
        }
        return new LoadState(
                request.id(), request.request().kvTransfer(), request.numComputedTokens, numReservedBlocks(isIdle));
    }

    private int numReservedBlocks(boolean isIdle) {
        int sum = 0;
        for (var request : prefillsInFlight) {
            int numTokens = isIdle && request.numSlots == 0 ? 0 : Math.min(request.numTokens(), maxModelLen);
            sum += Math.max(0, EngineRequest.roundUp(numTokens, blockSize) - request.numSlots) / blockSize;
        }
        return sum;
    }
}

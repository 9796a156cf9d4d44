package understudy.engine.vllm;

import java.util.LinkedHashSet;
import understudy.engine.vllm.queue.WaitingQueues;
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
    private final boolean readsPlans;
    private final boolean dropsInFlight;
    private final int blockSize;
    private final int maxModelLen;
    private final LinkedHashSet<VllmRequest> prefillsInFlight = new LinkedHashSet<>();

    /** Whether a request has ended since the last plan. */
    private boolean hasEnded;

    private int numRounds;
    private int numStuckPlans;

    KvLoads(KvCacheConfig kvCache) {
        var connector = kvCache.connector();
        isOn = connector != null;
        readsPlans = connector != null && connector.readsPlans();
        dropsInFlight = connector != null && connector.requiresKvDelivery();
        blockSize = kvCache.blockSize();
        maxModelLen = kvCache.maxModelLen();
    }

    boolean areOn() {
        return isOn;
    }

    /** Returns whether the memory reads who is scheduled, and who has ended. */
    boolean readPlans() {
        return readsPlans;
    }

    /** Returns whether a request has ended of which the memory makes something with the next plan only. */
    boolean hasUnreadEnd() {
        return isOn && hasEnded;
    }

    /** Records that the memory is told of a plan. */
    void onPlanned() {
        hasEnded = false;
    }

    /** Records that a request has ended. */
    void end(VllmRequest request) {
        endPrefill(request);
        hasEnded = true;
        numRounds = 0;
    }

    /** Records that a request has got its first blocks, and will need more. */
    void beginPrefill(VllmRequest request) {
        if (isOn) {
            prefillsInFlight.add(request);
        }
    }

    /** Records that a request needs no more blocks for its prompt, or has lost all. */
    void endPrefill(VllmRequest request) {
        if (isOn) {
            prefillsInFlight.remove(request);
        }
    }

    /** Returns whether a request has to wait for its KV; it waits no longer from the first time on that it need not. */
    boolean isParked(VllmRequest request) {
        if (request.status != VllmRequest.Status.WAITING_FOR_REMOTE_KVS) {
            return false;
        }
        if (request.hasKvArrived) {
            request.onKvArrived();
        }
        return request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS;
    }

    /** Records that a request has lost its blocks; a producer also drops what it has in flight. */
    void onPreempted(VllmRequest victim) {
        if (dropsInFlight) {
            victim.onReset();
        }
        endPrefill(victim);
    }

    /** Records that a request has preempted itself, behind so many tokens in the plan. */
    void onSelfPreempted(int numScheduledTokens) {
        numRounds += isOn && numScheduledTokens == 0 ? 1 : 0;
    }

    /**
     * Returns how many requests may run: one only if requests have preempted each other, and the last one itself, too often
     * since one has ended. Where blocks are free only when steps in flight are over, those of the others come too late; vLLM
     * then admits all anew, and may go on so for ever.
     */
    int maxRunning(int maxNumSeqs) {
        return areThrashing() ? 1 : maxNumSeqs;
    }

    private boolean areThrashing() {
        return numRounds > MAX_ROUNDS;
    }

    /**
     * Returns whether a request must not go first any more, since others hold the blocks that it needs, but for it; those
     * whose KV is on its way hold them, too.
     */
    boolean hasToLetPass(VllmRequest head, WaitingQueues<VllmRequest> waiting) {
        return areThrashing() && !hasBlocks(head) && waiting.hasSkipped(KvLoads::hasBlocks);
    }

    private static boolean hasBlocks(VllmRequest request) {
        return request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS || request.numComputedTokens > 0;
    }

    /**
     * Returns whether nothing runs, and requests whose KV has come hold the blocks that a refused one needs, plan after
     * plan. vLLM lets them wait behind it for ever.
     *
     * @param numActive requests that run, and steps in flight
     */
    boolean areStuck(WaitingQueues<VllmRequest> waiting, int numActive) {
        return isOn && numActive == 0 && isAnyLoaded(waiting) && areStuck();
    }

    private boolean isAnyLoaded(WaitingQueues<VllmRequest> waiting) {
        return waiting.skipped().stream().anyMatch(this::isLoaded);
    }

    /** Returns whether the KV of a waiting request has come, which has not been admitted since. */
    private boolean isLoaded(VllmRequest request) {
        boolean isParked = request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS;
        return isParked ? request.hasKvArrived : request.numComputedTokens > 0;
    }

    /** Records one more plan that admits nobody although there is KV, and returns whether there were too many. */
    private boolean areStuck() {
        numStuckPlans += wereStuck() ? 0 : 1;
        return wereStuck();
    }

    /** Returns whether there were too many such plans since the last one with work for the device. */
    boolean wereStuck() {
        return numStuckPlans > MAX_STUCK_PLANS;
    }

    /**
     * Returns whether it is worth while to plan once more, although nothing has changed; to be asked once for each plan.
     * After too many there is a last one, in which the first request, too, is asked for with what is allowed then.
     */
    boolean mayGetUnstuck() {
        if (numStuckPlans == MAX_STUCK_PLANS + 1) {
            numStuckPlans++;
            return true;
        }
        return numStuckPlans > 0 && numStuckPlans <= MAX_STUCK_PLANS;
    }

    /** Records a plan with work for the device. */
    void onWork() {
        numStuckPlans = 0;
    }

    /**
     * Returns what the memory has to know of KV from elsewhere to admit a request. While nothing runs, those whose load has
     * failed get no room: in vLLM they take it from each other, and wait for ever.
     *
     * @param numActive requests that run, and steps in flight
     */
    LoadState stateOf(VllmRequest request, int numActive) {
        if (!isOn) {
            return LoadState.NONE;
        }
        return new LoadState(
                request.id(),
                request.request().kvTransfer(),
                request.numComputedTokens,
                numReservedBlocks(numActive == 0));
    }

    private int numReservedBlocks(boolean isIdle) {
        int sum = 0;
        for (var request : prefillsInFlight) {
            int numTokens = isIdle && request.numSlots == 0 ? 0 : Math.min(request.numTokens(), maxModelLen);
            sum += Math.max(0, VllmRequest.roundUp(numTokens, blockSize) - request.numSlots) / blockSize;
        }
        return sum;
    }
}

package understudy.engine.vllm;

import java.util.LinkedHashSet;
import understudy.engine.vllm.queue.WaitingQueues;
import understudy.kvcache.Admission;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.KvAsk;
import understudy.kvcache.LoadState;

/**
 * Requests whose KV is on its way, and prefills in flight for whose blocks a new load has to leave room (vLLM's {@code
 * WAITING_FOR_REMOTE_KVS} and {@code _inflight_prefill_reserved_blocks}). Does nothing in a replica that has no KV but
 * its own.
 */
final class KvLoads implements StepRule {
    /** How many plans in a row may admit no request although KV has come. */
    private static final int MAX_STUCK_PLANS = 100;

    /** How often preemptions may leave nothing to compute before any request has ended. */
    private static final int MAX_ROUNDS = 8;

    private final boolean isOn;
    private final boolean readsPlans;
    private final boolean dropsInFlight;
    private final int blockSize;
    private final int maxModelLen;
    private final LinkedHashSet<VllmRequest> prefillsInFlight = new LinkedHashSet<>();

    /** Whether the KV that a request waits for has come, or will not come. */
    private final Column hasArrived = new Column();

    /** Whether a request has ended since the last plan. */
    private boolean hasEnded;

    private int numRounds;
    private int numStuckPlans;

    KvLoads(BlockCacheSpec kvCache) {
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

    /** The memory may read which requests are scheduled, and which have ended. */
    @Override
    public boolean seesEach() {
        return readsPlans;
    }

    /** Returns whether a request has ended of which the memory makes something with the next plan only. */
    boolean hasUnreadEnd() {
        return isOn && hasEnded;
    }

    @Override
    public KvAsk endAsk(VllmPlan plan) {
        hasEnded = false;
        return plan.endAsk(readsPlans);
    }

    @Override
    public void onEnded(VllmRequest request) {
        prefillsInFlight.remove(request);
        hasArrived.set(request, 0);
        hasEnded = true;
        numRounds = 0;
    }

    /** A request that has got its first blocks may need more. */
    @Override
    public void onAdmitted(VllmRequest head, Admission.Admitted admitted) {
        if (head.numComputedTokens + admitted.numScheduledTokens() < head.numTokens()) {
            prefillsInFlight.add(head);
        }
    }

    @Override
    public void onLoading(VllmRequest head) {
        hasArrived.set(head, 0);
        prefillsInFlight.add(head);
    }

    /** A request needs no more blocks for a prompt that is computed. */
    @Override
    public void onSettled(VllmPlan plan, int index, boolean isPartial) {
        if (!isPartial) {
            prefillsInFlight.remove(plan.request(index));
        }
    }

    /** Ends the wait of a request for its KV, with the next plan; does nothing if it waits no more. */
    void onKvArrived(VllmRequest request) {
        if (request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS) {
            hasArrived.set(request, 1);
        }
    }

    @Override
    public boolean mayAdmit(VllmRequest head, WaitingQueues<VllmRequest> waiting) {
        return !isParked(head) && !hasToLetPass(head, waiting);
    }

    /** Returns whether a request has to wait for its KV; it waits no longer from the first time on that it need not. */
    private boolean isParked(VllmRequest request) {
        if (request.status != VllmRequest.Status.WAITING_FOR_REMOTE_KVS) {
            return false;
        }
        if (hasArrived.get(request) > 0) {
            hasArrived.set(request, 0);
            request.onKvArrived();
        }
        return request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS;
    }

    /** A producer also drops the tokens that a preempted request has in flight. */
    @Override
    public void onPreempted(VllmRequest victim) {
        if (dropsInFlight) {
            victim.onReset();
        }
        prefillsInFlight.remove(victim);
    }

    @Override
    public void onSelfPreempted(int numScheduledTokens) {
        numRounds += numScheduledTokens == 0 ? 1 : 0;
    }

    /**
     * Returns how many requests may run: one only if requests have preempted each other, and the last one itself, too
     * often since one has ended. If blocks become free only when steps in flight are over, the blocks of preempted
     * requests come too late; vLLM then admits all anew, and may go on so for ever.
     */
    @Override
    public int maxRunning(int maxNumSeqs) {
        return areThrashing() ? 1 : maxNumSeqs;
    }

    private boolean areThrashing() {
        return numRounds > MAX_ROUNDS;
    }

    /**
     * Returns whether a request must not go first any more, since others hold the blocks that it needs, but for it; those
     * whose KV is on its way hold them, too.
     */
    private boolean hasToLetPass(VllmRequest head, WaitingQueues<VllmRequest> waiting) {
        return areThrashing() && !hasBlocks(head) && waiting.hasSkipped(KvLoads::hasBlocks);
    }

    private static boolean hasBlocks(VllmRequest request) {
        return request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS || request.numComputedTokens > 0;
    }

    /**
     * Returns whether nothing runs, and requests whose KV has come hold the blocks that a refused one needs, plan after
     * plan. vLLM lets them wait behind it for ever.
     */
    @Override
    public boolean passesRefused(WaitingQueues<VllmRequest> waiting, int numActive) {
        return numActive == 0 && isAnyLoaded(waiting) && isStuckAgain();
    }

    private boolean isAnyLoaded(WaitingQueues<VllmRequest> waiting) {
        return waiting.skipped().stream().anyMatch(this::isLoaded);
    }

    /** Returns whether the KV of a waiting request has come, which has not been admitted since. */
    private boolean isLoaded(VllmRequest request) {
        boolean isParked = request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS;
        return isParked ? hasArrived.get(request) > 0 : request.numComputedTokens > 0;
    }

    /** Counts one more plan that admits no request although KV has come, and returns whether there were too many. */
    private boolean isStuckAgain() {
        numStuckPlans += wereStuck() ? 0 : 1;
        return wereStuck();
    }

    /** Returns whether there were too many such plans since the last one with work for the device. */
    private boolean wereStuck() {
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

    @Override
    public void endPlan(VllmPlan plan, WaitingQueues<VllmRequest> waiting) {
        if (!plan.isEmpty()) {
            numStuckPlans = 0;
        }
    }

    /**
     * Adds what the memory has to know of KV from elsewhere. While nothing runs, those whose load has failed get no room: in
     * vLLM they take it from each other, and wait for ever; and those that are stuck get no lookahead.
     */
    @Override
    public void ask(AdmissionDraft question, VllmRequest head, int numActive) {
        question.load = new LoadState(
                head.id(), head.request().kvTransfer(), head.numComputedTokens, numReservedBlocks(numActive == 0));
        question.allowsLookahead = !wereStuck();
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

package understudy.engine.vllm;

import understudy.engine.speculation.DraftOutput;
import understudy.engine.speculation.SpeculationConfig;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.DraftSlots;

/**
 * Draft tokens of an engine's requests (vLLM {@code spec_token_ids}): how many a step verifies, and what its result makes
 * of them. Without speculation no request has any, and nothing is asked for each of them.
 */
final class Drafts implements StepRule {
    private final SpeculationConfig config;
    private final boolean isAsync;
    private final int maxModelLen;

    /** Drafts of each request to be verified with the next step. */
    private final Column numDrafts = new Column();

    /** Whether a request that is admitted with one token to compute gets drafts, since all others in the step have. */
    private boolean padsAdmissions;

    Drafts(SpeculationConfig config, BlockCacheSpec kvCache, boolean isAsync) {
        this.config = config;
        this.isAsync = isAsync;
        maxModelLen = kvCache.maxModelLen();
    }

    boolean areOn() {
        return config.isOn();
    }

    int numSpeculativeTokens() {
        return config.numSpeculativeTokens();
    }

    /** Returns how many drafts of a request are to be verified with the next step. */
    int numDrafts(VllmRequest request) {
        return config.isOn() ? (int) numDrafts.get(request) : 0;
    }

    /** Returns how many slots a request needs besides those of its scheduled tokens. */
    int numLookaheadTokens() {
        return config.numLookaheadTokens();
    }

    /** Returns how many tokens of a budget the next request may have: each takes the slots of its drafts besides. */
    int budget(int maxNumBatchedTokens, VllmPlan plan) {
        int numSlots = config.numDraftSlots();
        return maxNumBatchedTokens - plan.totalScheduledTokens() - (numSlots == 0 ? 0 : numSlots * (plan.size() + 1));
    }

    @Override
    public void beginAdmissions(VllmPlan plan) {
        padsAdmissions = plan.size() > 0;
        for (int i = 0; padsAdmissions && i < plan.size(); i++) {
            padsAdmissions = !plan.request(i).isPrefillChunk;
        }
    }

    /**
     * Adds what the drafts of a request take that may be admitted. Without lookahead, it gets in if its KV has come, where
     * such requests hold all blocks, and frees its own when it wants more: in vLLM they wait for ever.
     */
    @Override
    public void ask(AdmissionDraft question, VllmRequest head, int numActive) {
        boolean hasRoom = head.numTokens() + config.numSpeculativeTokens() <= maxModelLen;
        int numDecodeTokens = !padsAdmissions ? 1 : hasRoom ? 1 + config.numSpeculativeTokens() : 0;
        question.drafts = new DraftSlots(question.allowsLookahead ? config.numLookaheadTokens() : 0, numDecodeTokens);
    }

    /**
     * Fixes the drafts of a scheduled request in a plan, before it counts what is scheduled as computed: what is behind
     * its known tokens.
     */
    @Override
    public void onScheduled(VllmPlan plan, int index) {
        var request = plan.request(index);
        int numBehindKnown = request.numComputedTokens
                + plan.numScheduledTokens(index)
                - request.numTokens()
                - request.numPlaceholders;
        plan.setDrafts(index, Math.max(0, numBehindKnown));
    }

    /** Drops the drafts that are scheduled now; with asynchronous scheduling the next ones will come from the device. */
    @Override
    public void onSettled(VllmPlan plan, int index, boolean isPartial) {
        var request = plan.request(index);
        boolean isAnswering = isAsync && !isPartial;
        numDrafts.set(request, isAnswering ? config.numSpeculativeTokens() : 0);
        request.numPlaceholders += isAnswering ? plan.numDrafts(index) : 0;
    }

    /** Takes over the drafts that a step has made for the next one; a prefill chunk has none. */
    @Override
    public void onResult(VllmRequest request, VllmPlan executed, int index, DraftOutput output) {
        if (!isAsync) {
            numDrafts.set(
                    request, executed.isPartial(index) ? 0 : output.proposed().getInt(index));
        }
    }

    @Override
    public void onEnded(VllmRequest request) {
        numDrafts.set(request, 0);
    }
}

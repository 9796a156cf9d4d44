package understudy.engine.vllm;

import understudy.engine.speculation.DraftOutput;
import understudy.engine.speculation.SpeculationConfig;
import understudy.kvcache.DraftSlots;
import understudy.kvcache.KvCacheConfig;

/**
 * Draft tokens of an engine's requests (vLLM {@code spec_token_ids}): how many a step verifies, and what its result makes
 * of them. Without speculation no request has any, and nothing is asked for each of them.
 */
final class Drafts {
    private final SpeculationConfig config;
    private final boolean isAsync;
    private final int maxModelLen;

    /** Whether a request that is admitted with one token to compute gets drafts, since all others in the step have. */
    private boolean padsAdmissions;

    Drafts(SpeculationConfig config, KvCacheConfig kvCache, boolean isAsync) {
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

    /** Returns how many slots a request needs besides those of its scheduled tokens. */
    int numLookaheadTokens() {
        return config.numLookaheadTokens();
    }

    /** Returns how many tokens of a budget the next request may have: each takes the slots of its drafts besides. */
    int budget(int maxNumBatchedTokens, VllmPlan plan) {
        int numSlots = config.numDraftSlots();
        return maxNumBatchedTokens - plan.totalScheduledTokens() - (numSlots == 0 ? 0 : numSlots * (plan.size() + 1));
    }

    /** Begins admissions behind the running requests of a plan. */
    void beginAdmissions(VllmPlan plan) {
        padsAdmissions = config.isOn() && plan.size() > 0;
        for (int i = 0; padsAdmissions && i < plan.size(); i++) {
            padsAdmissions = !plan.request(i).isPrefillChunk;
        }
    }

    /**
     * Returns what the drafts of a request take that may be admitted.
     *
     * @param mayHaveLookahead whether there may be blocks for it; a request without it gets in, if its KV has come, where
     *     such requests hold all blocks, and frees its own when it wants more: in vLLM they wait for ever
     */
    DraftSlots slotsOf(VllmRequest head, boolean mayHaveLookahead) {
        if (!config.isOn()) {
            return DraftSlots.NONE;
        }
        boolean hasRoom = head.numTokens() + config.numSpeculativeTokens() <= maxModelLen;
        int numDecodeTokens = !padsAdmissions ? 1 : hasRoom ? 1 + config.numSpeculativeTokens() : 0;
        return new DraftSlots(mayHaveLookahead ? config.numLookaheadTokens() : 0, numDecodeTokens);
    }

    /**
     * Fixes the drafts of a scheduled request in a plan, before it counts what is scheduled as computed: what is behind
     * its known tokens.
     */
    void onScheduled(VllmPlan plan, int index) {
        if (config.isOn()) {
            var request = plan.request(index);
            int numBehindKnown = request.numComputedTokens
                    + plan.numScheduledTokens(index)
                    - request.numTokens()
                    - request.numPlaceholders;
            plan.setDrafts(index, Math.max(0, numBehindKnown));
        }
    }

    /** Drops the drafts that are scheduled now; with asynchronous scheduling the next ones will come from the device. */
    void onSettled(VllmRequest request, int numScheduledDrafts, boolean isPartial) {
        if (config.isOn()) {
            boolean isAnswering = isAsync && !isPartial;
            request.numDrafts = isAnswering ? config.numSpeculativeTokens() : 0;
            request.numPlaceholders += isAnswering ? numScheduledDrafts : 0;
        }
    }

    /** Takes over the drafts that a step has made for the next one; a prefill chunk has none. */
    void onProposed(VllmRequest request, VllmPlan executed, int index, DraftOutput output) {
        if (config.isOn() && !isAsync) {
            request.numDrafts =
                    executed.isPartial(index) ? 0 : output.proposed().getInt(index);
        }
    }
}

package understudy.kvcache;

import io.soabase.recordbuilder.core.RecordBuilder;

/**
 * A scheduler's question: may this waiting request run in the step that is being planned, and with how many tokens?
 *
 * @param lookup the request, and how much of it is known
 * @param maxTokensNow the step's remaining token budget, at least 1
 * @param longPrefillTokenThreshold cap on the tokens of one request in one step, or 0 for none
 * @param enableChunkedPrefill whether a prompt may be cut to fit the budget
 * @param defersPrefills whether a request may run only if all but its last token are found
 * @param reserveFullSequence whether all known tokens must fit into free blocks, not only those of this step
 * @param isAnythingRunning whether other requests run, for whose growth the watermark is kept
 * @param atNanos virtual time of the question
 * @param isResumed whether the request was preempted before; its lookups are counted apart
 * @param maxTotalTokens length of prompt and answer together if the answer is as long as it may be
 * @param load state of KV that comes from elsewhere
 * @param drafts tokens and slots for drafts
 * @param step number of the step that is being planned
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record AdmissionRequest(
        PrefixLookup lookup,
        int maxTokensNow,
        int longPrefillTokenThreshold,
        boolean enableChunkedPrefill,
        boolean defersPrefills,
        boolean reserveFullSequence,
        boolean isAnythingRunning,
        long atNanos,
        boolean isResumed,
        int maxTotalTokens,
        LoadState load,
        DraftSlots drafts,
        long step)
        implements AdmissionRequestBuilder.With {

    /**
     * Returns the question of a replica that has no KV but its own, for nothing runs on it: the prompt may be cut, and
     * all its tokens must fit.
     */
    public static AdmissionRequest of(PrefixLookup lookup, int maxTokensNow, int maxTotalTokens) {
        return AdmissionRequestBuilder.builder()
                .lookup(lookup)
                .maxTokensNow(maxTokensNow)
                .enableChunkedPrefill(true)
                .reserveFullSequence(true)
                .maxTotalTokens(maxTotalTokens)
                .load(LoadState.NONE)
                .drafts(DraftSlots.NONE)
                .build();
    }

    public int numTokens() {
        return lookup.numTokens();
    }

    /**
     * Returns how many tokens to compute now if the first {@code numCachedTokens} are found: at least 1, or 0 if prefills
     * are deferred, the prompt does not fit the budget and may not be cut, or drafts have no room.
     */
    public int tokensNow(int numCachedTokens) {
        int wanted = Math.max(1, numTokens() - numCachedTokens);
        if (wanted == 1) {
            return drafts.numDecodeTokens() > maxTokensNow ? 0 : drafts.numDecodeTokens();
        }
        if (defersPrefills) {
            return 0;
        }
        int limited = longPrefillTokenThreshold > 0 ? Math.min(wanted, longPrefillTokenThreshold) : wanted;
        return !enableChunkedPrefill && limited > maxTokensNow ? 0 : Math.min(limited, maxTokensNow);
    }

    /** Returns for how many tokens there must be slots when so many are computed now behind those that are found. */
    public int numSlots(int numCachedTokens, int numScheduledTokens) {
        int computed = Math.min(numCachedTokens, numTokens() - Math.min(1, numScheduledTokens));
        return computed + numScheduledTokens + drafts.numLookaheadTokens();
    }
}

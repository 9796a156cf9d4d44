package understudy.engine.vllm;

import understudy.kvcache.DraftSlots;
import understudy.kvcache.LoadState;

/** Parts of the question whether a request may run that rules add to it. */
final class AdmissionDraft {
    boolean defersPrefills;
    boolean allowsLookahead = true;
    LoadState load = LoadState.NONE;
    DraftSlots drafts = DraftSlots.NONE;

    /** Resets the additions to the question before. */
    void clear() {
        defersPrefills = false;
        allowsLookahead = true;
        load = LoadState.NONE;
        drafts = DraftSlots.NONE;
    }
}

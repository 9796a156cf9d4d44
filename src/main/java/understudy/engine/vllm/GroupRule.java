package understudy.engine.vllm;

import understudy.kvcache.Admission;
import understudy.kvcache.PromptCuts;
import understudy.kvcache.hybrid.HybridConfig;

/** Chunks of a prompt whose layers need different parts of it: they end where all groups can keep what they cache. */
final class GroupRule implements StepRule {
    private final PromptCuts cuts;

    /** Leading tokens that were cached for some layers only, at the last lookup; 0 for none. */
    private final Column numJunctionTokens = new Column();

    GroupRule(HybridConfig kvCache) {
        cuts = kvCache.cuts();
    }

    @Override
    public boolean seesEach() {
        return false;
    }

    @Override
    public int limit(VllmRequest running, int numTokens, long step) {
        return cuts.cut(numTokens, running.numComputedTokens, running.numPromptTokens(), running.numTokens(), (int)
                numJunctionTokens.get(running));
    }

    @Override
    public void onAdmitted(VllmRequest head, Admission.Admitted admitted) {
        numJunctionTokens.set(head, admitted.numJunctionTokens());
    }

    @Override
    public void onEnded(VllmRequest request) {
        numJunctionTokens.set(request, 0);
    }
}

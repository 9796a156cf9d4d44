package understudy.engine.vllm;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.StepResult;

/** Result of a step of vLLM's scheduler: members of the cohort that go on are counted, and listed only if asked for. */
final class VllmResult extends StepResult {
    /** How many of those that are listed, first, were members of the cohort that end. */
    private int numEndedMembers;

    private int numMembers;
    private @Nullable DecodeCohort cohort;

    /** All requests that got a token, once {@link #sampled()} was called for a step with a cohort; null before. */
    private @Nullable List<EngineRequest> sampled;

    VllmResult(int numSpeculativeTokens, boolean isAlwaysSettled) {
        super(numSpeculativeTokens, isAlwaysSettled);
    }

    @Override
    public int numSampled() {
        return numMembers + super.numSampled();
    }

    @Override
    public int numSampledTokens() {
        return numMembers + super.numSampledTokens();
    }

    @Override
    public List<EngineRequest> sampled() {
        if (cohort == null) {
            return sampledAlone();
        }
        if (sampled == null) {
            sampled = withMembers(cohort.executedMembers());
        }
        return sampled;
    }

    private List<EngineRequest> withMembers(List<VllmRequest> members) {
        var all = new ObjectArrayList<EngineRequest>(numSampled());
        var alone = sampledAlone();
        int next = 0;
        for (var member : members) {
            while (next < numEndedMembers && ((VllmRequest) alone.get(next)).runningOrder < member.runningOrder) {
                all.add(alone.get(next++));
            }
            all.add(member);
        }
        all.addAll(alone.subList(next, alone.size()));
        return all;
    }

    @Override
    public void begin(long step, long atNanos) {
        super.begin(step, atNanos);
        numEndedMembers = 0;
        numMembers = 0;
        cohort = null;
        sampled = null;
    }

    /** Adds members of the cohort that got a token and go on; those that end are to be added next. */
    void addMembers(DecodeCohort executed, int count, long nanosSinceLastToken) {
        cohort = executed;
        numMembers = count;
        if (count > 0) {
            addGaps(nanosSinceLastToken, count);
        }
    }

    /** Ends the members. */
    void endMembers() {
        numEndedMembers = sampledAlone().size();
    }
}

package understudy.engine.vllm;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.engine.StepPlan;

/** Plan of vLLM's scheduler: members of the cohort come first, and are not listed one by one, unless they have left it. */
public final class VllmPlan extends StepPlan {
    /** Epoch of each listed request when it was scheduled. */
    private int[] epochs = new int[64];

    private @Nullable DecodeCohort cohort;
    private int numMembers;
    private int numMembersExcluded;

    /** The members, once {@link #members()} was called; null before. */
    private @Nullable List<VllmRequest> members;

    /** Creates an empty plan. */
    public VllmPlan() {}

    @Override
    public int size() {
        return numMembers + numListed();
    }

    @Override
    public VllmRequest request(int index) {
        return index < numMembers ? members().get(index) : (VllmRequest) super.request(index - numMembers);
    }

    @Override
    public int numScheduledTokens(int index) {
        return index < numMembers ? 1 : super.numScheduledTokens(index - numMembers);
    }

    @Override
    public boolean isPartial(int index) {
        return index >= numMembers && super.isPartial(index - numMembers);
    }

    @Override
    public int numDrafts(int index) {
        return index < numMembers ? 0 : super.numDrafts(index - numMembers);
    }

    @Override
    public void begin(long stepNumber) {
        super.begin(stepNumber);
        cohort = null;
        members = null;
        numMembers = 0;
        numMembersExcluded = 0;
    }

    /** Schedules all members of the cohort that take part, before all other requests. */
    void schedule(DecodeCohort scheduled) {
        cohort = scheduled;
        numMembers = scheduled.numScheduled();
        addTokens(numMembers);
    }

    /** Returns whether members of the cohort are scheduled that are not listed. */
    boolean hasCohort() {
        return cohort != null;
    }

    /** Returns how many requests are scheduled as members of the cohort, and not listed one by one. */
    int numMembers() {
        return numMembers;
    }

    private List<VllmRequest> members() {
        if (members == null) {
            members = Objects.requireNonNull(cohort).membersOf(this);
        }
        return members;
    }

    /** Leaves out a member of the cohort that has ended by itself, or before. */
    void excludeMember() {
        numMembersExcluded++;
    }

    /** Returns how many members of the cohort get a token by the step, and go on. */
    int numMembersToGoOn() {
        return numMembers - numMembersExcluded;
    }

    /** Lists the members of the cohort one by one, because it is dissolved. */
    void listMembers() {
        if (cohort == null) {
            return;
        }
        var toList = cohort.membersOf(this);
        int numBehind = numListed();
        cohort = null;
        numMembers = 0;
        listFirst(toList);
        grow(numListed());
        System.arraycopy(epochs, 0, epochs, toList.size(), numBehind);
        for (int i = 0; i < toList.size(); i++) {
            epochs[i] = toList.get(i).epoch;
        }
    }

    /** Fixes the part of the cohort in the plan. */
    void settleMembers() {
        if (cohort != null) {
            cohort.onPlanned(this, batch());
        }
    }

    /** Returns whether a scheduled request has been reset since, so that its result is to be dropped. */
    boolean isOutdated(int index) {
        return epochs[index - numMembers] != request(index).epoch;
    }

    @Override
    public void setDrafts(int index, int count) {
        super.setDrafts(index - numMembers, count);
    }

    @Override
    public void settle(int index, int numContextTokens, boolean partial) {
        int listed = index - numMembers;
        grow(listed + 1);
        epochs[listed] = request(index).epoch;
        super.settle(listed, numContextTokens, partial);
    }

    private void grow(int size) {
        if (size > epochs.length) {
            epochs = Arrays.copyOf(epochs, Math.max(size, epochs.length * 2));
        }
    }
}

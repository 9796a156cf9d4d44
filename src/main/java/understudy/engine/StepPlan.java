package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvAsk;
import understudy.latency.BatchShape;

/**
 * Decisions of one step: scheduled requests with their tokens, admissions, preemptions (vLLM {@code SchedulerOutput}).
 * Filled by the planner, then fixed until its result has been applied.
 */
public final class StepPlan {
    private final ObjectArrayList<EngineRequest> requests = new ObjectArrayList<>();
    private final ObjectArrayList<EngineRequest> preempted = new ObjectArrayList<>();
    private final ObjectArrayList<EngineRequest> admitted = new ObjectArrayList<>();
    private final ObjectArrayList<EngineRequest> resumed = new ObjectArrayList<>();
    private final BatchShape.Builder shape = new BatchShape.Builder();
    private int[] numTokens = new int[64];
    private boolean[] isPartial = new boolean[64];
    private int[] epochs = new int[64];

    /** Drafts among the scheduled tokens of each listed request; all 0 without speculation. */
    private int[] numDrafts = new int[64];

    private boolean isSpeculating;

    private int totalTokens;
    private long step;

    /** Members of the cohort are scheduled first, and not listed one by one, unless they have left it. */
    private @Nullable DecodeCohort cohort;

    private int numMembers;
    private int numMembersExcluded;

    /** The members, if anybody has asked. */
    private @Nullable List<EngineRequest> members;

    /** Creates an empty plan. */
    public StepPlan() {}

    /** Returns the step's number, from 1. */
    public long step() {
        return step;
    }

    /** Returns the number of scheduled requests. */
    public int size() {
        return numMembers + requests.size();
    }

    public boolean isEmpty() {
        return size() == 0 && totalTokens == 0;
    }

    /** Returns whether there is anything to compute; else only tokens are sampled, from known logits. */
    public boolean needsDevice() {
        return totalTokens > 0;
    }

    /** Returns a scheduled request, in scheduling order; to be asked for while this is the newest plan. */
    public EngineRequest request(int index) {
        return index < numMembers ? members().get(index) : requests.get(index - numMembers);
    }

    /** Returns how many tokens a scheduled request computes in this step; 0 if its logits are known. */
    public int numScheduledTokens(int index) {
        return index < numMembers ? 1 : numTokens[index - numMembers];
    }

    /** Returns whether a scheduled request will still have tokens to catch up with, so that it samples nothing. */
    public boolean isPartial(int index) {
        return index >= numMembers && isPartial[index - numMembers];
    }

    /** Returns how many of the tokens of a scheduled request are drafts. */
    public int numDrafts(int index) {
        return index < numMembers ? 0 : numDrafts[index - numMembers];
    }

    /** Returns how many drafts of a scheduled request the device verifies: those of an admission only fill it up. */
    public int numDraftsToVerify(int index) {
        return index < size() - admitted.size() - resumed.size() ? numDrafts(index) : 0;
    }

    /** Returns the same of all scheduled requests, in order; empty without speculation. */
    public IntList draftsToVerify() {
        if (!isSpeculating) {
            return IntList.of();
        }
        var counts = new int[size()];
        Arrays.setAll(counts, this::numDraftsToVerify);
        return new IntImmutableList(counts);
    }

    /** Returns the tokens of all scheduled requests. */
    public int totalScheduledTokens() {
        return totalTokens;
    }

    /** Returns the requests that lost their blocks, in the order in which that happened. */
    public List<EngineRequest> preempted() {
        return preempted;
    }

    /** Returns the requests admitted for the first time. */
    public List<EngineRequest> admitted() {
        return admitted;
    }

    /** Returns the requests admitted again after a preemption. */
    public List<EngineRequest> resumed() {
        return resumed;
    }

    /** Returns what the device has to compute. */
    public BatchShape shape() {
        return shape.build();
    }

    void begin(long stepNumber) {
        step = stepNumber;
        requests.clear();
        preempted.clear();
        admitted.clear();
        resumed.clear();
        shape.clear();
        totalTokens = 0;
        cohort = null;
        members = null;
        numMembers = 0;
        numMembersExcluded = 0;
    }

    /** Schedules all members of the cohort that take part, before all other requests. */
    void schedule(DecodeCohort scheduled) {
        cohort = scheduled;
        numMembers = scheduled.numScheduled();
        totalTokens += numMembers;
    }

    /** Returns whether members of the cohort are scheduled that are not listed. */
    boolean hasCohort() {
        return cohort != null;
    }

    /** Returns how many requests are scheduled as members of the cohort, and not listed one by one. */
    int numMembers() {
        return numMembers;
    }

    private List<EngineRequest> members() {
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
        int numListed = requests.size();
        cohort = null;
        numMembers = 0;
        requests.addAll(0, toList);
        grow(requests.size());
        System.arraycopy(numTokens, 0, numTokens, toList.size(), numListed);
        System.arraycopy(isPartial, 0, isPartial, toList.size(), numListed);
        System.arraycopy(epochs, 0, epochs, toList.size(), numListed);
        for (int i = 0; i < toList.size(); i++) {
            numTokens[i] = 1;
            isPartial[i] = false;
            epochs[i] = toList.get(i).epoch;
        }
    }

    /** Returns the index of a request that is listed. */
    int indexOf(EngineRequest request) {
        return requests.indexOf(request);
    }

    private void grow(int size) {
        if (size > numTokens.length) {
            int capacity = Math.max(size, numTokens.length * 2);
            numTokens = Arrays.copyOf(numTokens, capacity);
            isPartial = Arrays.copyOf(isPartial, capacity);
            epochs = Arrays.copyOf(epochs, capacity);
            numDrafts = Arrays.copyOf(numDrafts, capacity);
        }
    }

    void schedule(EngineRequest request, int tokens) {
        int index = requests.size();
        grow(index + 1);
        requests.add(request);
        numTokens[index] = tokens;
        totalTokens += tokens;
    }

    /** Returns the last question about this plan; the scheduled requests stand in it if the memory reads them. */
    KvAsk.EndPlan endAsk(boolean isRead) {
        var handles = new IntArrayList();
        var computed = new IntArrayList();
        var known = new IntArrayList();
        for (int i = 0; isRead && i < size(); i++) {
            handles.add(request(i).handle());
            computed.add(Math.min(
                    request(i).numComputedTokens + numScheduledTokens(i),
                    request(i).numTokens()));
            known.add(request(i).numTokens());
        }
        return new KvAsk.EndPlan(
                step,
                isEmpty(),
                new IntImmutableList(handles),
                new IntImmutableList(computed),
                new IntImmutableList(known));
    }

    /** Fixes the part of the cohort in the plan. */
    void settleMembers() {
        if (cohort != null) {
            cohort.onPlanned(this, shape);
        }
    }

    /** Removes all scheduled requests from an index on, all of them being listed. */
    void truncate(int size) {
        for (int i = size; i < requests.size(); i++) {
            totalTokens -= numTokens[i];
        }
        requests.size(size);
    }

    /** Removes a request, if it was scheduled and listed. */
    void unschedule(EngineRequest request) {
        int index = requests.indexOf(request);
        if (index >= 0) {
            totalTokens -= numTokens[index];
            requests.remove(index);
            System.arraycopy(numTokens, index + 1, numTokens, index, requests.size() - index);
        }
    }

    void preempt(EngineRequest request) {
        preempted.add(request);
    }

    void admit(EngineRequest request) {
        (request.isPreempted() ? resumed : admitted).add(request);
    }

    /** Returns whether a scheduled request has been reset since, so that its result is to be dropped. */
    boolean isOutdated(int index) {
        return epochs[index - numMembers] != request(index).epoch;
    }

    /** Fixes how many of the tokens of a scheduled request are drafts; to be told of all if of any. */
    void setDrafts(int index, int count) {
        isSpeculating = true;
        numDrafts[index - numMembers] = count;
    }

    /** Fixes which LoRA adapters the scheduled requests have. */
    void setLoras(BatchShape.Loras loras) {
        shape.setLoras(loras);
    }

    /** Fixes, for a scheduled request, what the device computes and whether it samples. */
    void settle(int index, int numContextTokens, boolean partial) {
        int listed = index - numMembers;
        isPartial[listed] = partial;
        epochs[listed] = requests.get(listed).epoch;
        if (numDrafts[listed] > 0) {
            shape.addVerification(numTokens[listed] - 1, numContextTokens);
        } else if (numTokens[listed] > 0) {
            shape.add(numTokens[listed], numContextTokens, !partial);
        }
    }
}

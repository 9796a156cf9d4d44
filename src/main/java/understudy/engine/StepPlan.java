package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.Arrays;
import java.util.List;
import understudy.kvcache.KvAsk;
import understudy.latency.BatchShape;

/**
 * Decisions of one step: scheduled requests with their tokens, admissions, preemptions (vLLM {@code SchedulerOutput}).
 * Filled by an engine, then fixed until its result has been applied. A family of engines may have a subclass with what
 * only its own parts read.
 */
public class StepPlan {
    private final ObjectArrayList<EngineRequest> requests = new ObjectArrayList<>();
    private final ObjectArrayList<EngineRequest> preempted = new ObjectArrayList<>();
    private final ObjectArrayList<EngineRequest> admitted = new ObjectArrayList<>();
    private final ObjectArrayList<EngineRequest> resumed = new ObjectArrayList<>();
    private final BatchShape.Builder shape = new BatchShape.Builder();
    private int[] numTokens = new int[64];
    private boolean[] isPartial = new boolean[64];

    /** Drafts among the scheduled tokens of each listed request; all 0 without speculation. */
    private int[] numDrafts = new int[64];

    private boolean isSpeculating;
    private int totalTokens;
    private long step;
    private String kind = "";

    /** Creates an empty plan. */
    public StepPlan() {}

    /** Returns the step's number, from 1. */
    public final long step() {
        return step;
    }

    /** Returns the engine's name for a batch such as this one, as {@code extend}; empty if it has one kind only. */
    public final String kind() {
        return kind;
    }

    /** Sets the engine's name for a batch such as this one. */
    public final void setKind(String newKind) {
        kind = newKind;
    }

    /** Returns whether it is a prefill, for an engine whose steps are either that or not. */
    public boolean isPrefill() {
        return false;
    }

    /** Returns the number of scheduled requests. */
    public int size() {
        return requests.size();
    }

    public boolean isEmpty() {
        return size() == 0 && totalTokens == 0;
    }

    /** Returns whether there is anything to compute; else only tokens are sampled, from known logits. */
    public final boolean needsDevice() {
        return totalTokens > 0;
    }

    /** Returns a scheduled request, in scheduling order; to be asked for while this is the newest plan. */
    public EngineRequest request(int index) {
        return requests.get(index);
    }

    /** Returns how many tokens a scheduled request computes in this step; 0 if its logits are known. */
    public int numScheduledTokens(int index) {
        return numTokens[index];
    }

    /** Returns whether a scheduled request will still have tokens to catch up with, so that it samples nothing. */
    public boolean isPartial(int index) {
        return isPartial[index];
    }

    /** Returns how many of the tokens of a scheduled request are drafts. */
    public int numDrafts(int index) {
        return numDrafts[index];
    }

    /** Returns how many drafts of a scheduled request the device verifies: those of an admission only fill it up. */
    public final int numDraftsToVerify(int index) {
        return index < size() - admitted.size() - resumed.size() ? numDrafts(index) : 0;
    }

    /** Returns the same of all scheduled requests, in order; empty without speculation. */
    public final IntList draftsToVerify() {
        if (!isSpeculating) {
            return IntList.of();
        }
        var counts = new int[size()];
        Arrays.setAll(counts, this::numDraftsToVerify);
        return new IntImmutableList(counts);
    }

    /** Returns the tokens of all scheduled requests. */
    public final int totalScheduledTokens() {
        return totalTokens;
    }

    /** Returns the requests that lost their blocks, in the order in which that happened. */
    public final List<EngineRequest> preempted() {
        return preempted;
    }

    /** Returns the requests admitted for the first time, or all that count as such. */
    public final List<EngineRequest> admitted() {
        return admitted;
    }

    /** Returns the requests admitted again after a preemption, unless they count as new. */
    public final List<EngineRequest> resumed() {
        return resumed;
    }

    /** Returns the work of the device for the step. */
    public final BatchShape shape() {
        return shape.build();
    }

    /** Empties the plan, for the step with this number. */
    public void begin(long stepNumber) {
        step = stepNumber;
        kind = "";
        requests.clear();
        preempted.clear();
        admitted.clear();
        resumed.clear();
        shape.clear();
        totalTokens = 0;
    }

    /** Returns the number of requests that are listed one by one: all, unless a subclass schedules some as one. */
    protected final int numListed() {
        return requests.size();
    }

    /** Returns the index of a request that is listed. */
    public final int indexOf(EngineRequest request) {
        return requests.indexOf(request);
    }

    /** Counts tokens of requests that are scheduled, and not listed. */
    protected final void addTokens(int count) {
        totalTokens += count;
    }

    /** Lists requests ahead of all others, with one token each that is counted already. */
    protected final void listFirst(List<? extends EngineRequest> first) {
        int numBehind = requests.size();
        int numFirst = first.size();
        requests.addAll(0, first);
        grow(requests.size());
        System.arraycopy(numTokens, 0, numTokens, numFirst, numBehind);
        System.arraycopy(isPartial, 0, isPartial, numFirst, numBehind);
        Arrays.fill(numTokens, 0, numFirst, 1);
        Arrays.fill(isPartial, 0, numFirst, false);
    }

    private void grow(int size) {
        if (size > numTokens.length) {
            int capacity = Math.max(size, numTokens.length * 2);
            numTokens = Arrays.copyOf(numTokens, capacity);
            isPartial = Arrays.copyOf(isPartial, capacity);
            numDrafts = Arrays.copyOf(numDrafts, capacity);
        }
    }

    /** Schedules a request with so many tokens, behind all others. */
    public final void schedule(EngineRequest request, int tokens) {
        int index = requests.size();
        grow(index + 1);
        requests.add(request);
        numTokens[index] = tokens;
        totalTokens += tokens;
    }

    /** Returns the last question about this plan; the scheduled requests stand in it if the memory reads them. */
    public final KvAsk.EndPlan endAsk(boolean isRead) {
        if (!isRead) {
            return new KvAsk.EndPlan(step, totalTokens > 0, IntList.of(), IntList.of(), IntList.of());
        }
        var handles = new IntArrayList();
        var computed = new IntArrayList();
        var known = new IntArrayList();
        for (int i = 0; i < size(); i++) {
            int size = request(i).numTokens();
            handles.add(request(i).handle());
            computed.add(Math.min(request(i).numComputedTokens() + numScheduledTokens(i), size));
            known.add(size);
        }
        return new KvAsk.EndPlan(
                step,
                totalTokens > 0,
                new IntImmutableList(handles),
                new IntImmutableList(computed),
                new IntImmutableList(known));
    }

    /** Removes all scheduled requests from an index on, all of them being listed. */
    public final void truncate(int size) {
        for (int i = size; i < requests.size(); i++) {
            totalTokens -= numTokens[i];
        }
        requests.size(size);
    }

    /** Removes a request, if it was scheduled and listed, and returns whether it was. */
    public final boolean unschedule(EngineRequest request) {
        int index = requests.indexOf(request);
        if (index >= 0) {
            totalTokens -= numTokens[index];
            requests.remove(index);
            System.arraycopy(numTokens, index + 1, numTokens, index, requests.size() - index);
        }
        return index >= 0;
    }

    /** Adds a request that has lost its blocks. */
    public final void preempt(EngineRequest request) {
        preempted.add(request);
    }

    /** Adds a request that is admitted: for the first time, or again. */
    public final void admit(EngineRequest request, boolean isAgain) {
        (isAgain ? resumed : admitted).add(request);
    }

    /** Lists the requests that are admitted again as new, behind those that are. */
    public final void countResumedAsNew() {
        admitted.addAll(resumed);
        resumed.clear();
    }

    /** Fixes how many of the tokens of a listed request are drafts; to be told of all if of any. */
    public void setDrafts(int index, int count) {
        isSpeculating = true;
        numDrafts[index] = count;
    }

    /** Fixes which LoRA adapters the scheduled requests have. */
    public final void setLoras(BatchShape.Loras loras) {
        shape.setLoras(loras);
    }

    /** Returns the batch, to add requests to it that are not listed. */
    protected final BatchShape.Builder batch() {
        return shape;
    }

    /** Fixes, for a listed request, the device's work and whether it samples. */
    public void settle(int index, int numContextTokens, boolean partial) {
        isPartial[index] = partial;
        if (numDrafts[index] > 0) {
            shape.addVerification(numTokens[index] - 1, numContextTokens);
        } else if (numTokens[index] > 0) {
            shape.add(numTokens[index], numContextTokens, !partial);
        }
    }
}

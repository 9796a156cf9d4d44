package understudy.engine;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.Arrays;
import java.util.List;
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
    private int totalTokens;
    private long step;

    StepPlan() {}

    /** Returns the step's number, from 1. */
    public long step() {
        return step;
    }

    /** Returns the number of scheduled requests. */
    public int size() {
        return requests.size();
    }

    public boolean isEmpty() {
        return requests.isEmpty();
    }

    /** Returns whether there is anything to compute; else only tokens are sampled, from known logits. */
    public boolean needsDevice() {
        return totalTokens > 0;
    }

    /** Returns a scheduled request, in scheduling order. */
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
    }

    void schedule(EngineRequest request, int tokens) {
        int index = requests.size();
        if (index == numTokens.length) {
            numTokens = Arrays.copyOf(numTokens, index * 2);
            isPartial = Arrays.copyOf(isPartial, index * 2);
            epochs = Arrays.copyOf(epochs, index * 2);
        }
        requests.add(request);
        numTokens[index] = tokens;
        totalTokens += tokens;
    }

    /** Removes all scheduled requests from an index on. */
    void truncate(int size) {
        for (int i = size; i < requests.size(); i++) {
            totalTokens -= numTokens[i];
        }
        requests.size(size);
    }

    /** Removes a request, if it was scheduled. */
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
        return epochs[index] != requests.get(index).epoch;
    }

    /** Fixes, for a scheduled request, what the device computes and whether it samples. */
    void settle(int index, int numContextTokens, boolean partial) {
        isPartial[index] = partial;
        epochs[index] = requests.get(index).epoch;
        if (numTokens[index] > 0) {
            shape.add(numTokens[index], numContextTokens, !partial);
        }
    }
}

package understudy.engine.vllm;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;

/**
 * Calendar of decoding requests by the step in which they need something from the KV cache. Each computes one token per
 * step, so it needs a new block every {@code blockSize} steps: its phase stays the same.
 */
final class BlockCalendar {
    private final ObjectArrayList<VllmRequest>[] byPhase;

    BlockCalendar(int blockSize) {
        byPhase = newLists(blockSize);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static ObjectArrayList<VllmRequest>[] newLists(int count) {
        var lists = new ObjectArrayList[count];
        for (int i = 0; i < count; i++) {
            lists[i] = new ObjectArrayList<VllmRequest>();
        }
        return lists;
    }

    /** Adds a request that will have computed {@code numTokens} tokens after a step. */
    void add(int step, int numTokens, VllmRequest request) {
        var list = at(step, numTokens);
        list.add(RunningList.indexOf(list, request.runningOrder), request);
    }

    /** Removes a request that will have computed {@code numTokens} tokens after a step. */
    void remove(int step, int numTokens, VllmRequest request) {
        var list = at(step, numTokens);
        list.remove(RunningList.indexOf(list, request.runningOrder));
    }

    /**
     * Returns the requests that will have computed {@code remainder} tokens more than full blocks after a step, in
     * running order.
     */
    ObjectArrayList<VllmRequest> at(int step, int remainder) {
        return byPhase[Math.floorMod(remainder - step, byPhase.length)];
    }

    void clear() {
        for (var list : byPhase) {
            list.clear();
        }
    }
}

package understudy.engine.sglang;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixLookup;
import understudy.kvcache.radix.RadixMemory;

/**
 * Question how many requests of a decode engine get places for KV that comes from elsewhere, in order up to the first
 * refusal ({@code disaggregation/decode.py}, {@code pop_preallocated}, {@code resume_retracted_reqs}).
 *
 * @param requests in order, not more than there are rows and buffers
 * @param numTokens tokens of each that get a place
 * @param numNeeded tokens that must be allocatable for each
 * @param numReserved tokens that are kept free for each request that is there ({@code num_reserved_decode_tokens})
 * @param numHolding how many are there
 * @param largestNeed tokens that one running request may need
 * @param isResumption whether they were retracted; what is allocatable is then counted from the first look
 */
record PreallocateAsk(
        List<RadixLookup> requests,
        IntList numTokens,
        IntList numNeeded,
        int numReserved,
        int numHolding,
        int largestNeed,
        boolean isResumption)
        implements RadixAsk {

    /** Answer: how many got their places. */
    record Outcome(int count, boolean isResumption) implements RadixAnswer {}

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        int left = allocatable(memory, 0);
        int count = 0;
        while (count < requests.size() && numNeeded.getInt(count) <= left) {
            memory.allocate(requests.get(count), numTokens.getInt(count));
            left = isResumption ? left - numNeeded.getInt(count) : allocatable(memory, count + 1);
            count++;
        }
        return new Outcome(count, isResumption);
    }

    private int allocatable(RadixMemory memory, int numNew) {
        return memory.numFree() - Math.max(numReserved * (numHolding + numNew), largestNeed);
    }
}

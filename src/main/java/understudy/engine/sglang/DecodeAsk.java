package understudy.engine.sglang;

import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;
import understudy.kvcache.radix.TreeSize;

/**
 * Question whether running requests can go on by a step, and if so, request for their places ({@code check_decode_mem},
 * {@code prepare_for_decode}).
 */
final class DecodeAsk implements RadixAsk {
    private final int[] handles;
    private final int[] numTokens;

    /**
     * Creates a question.
     *
     * @param handles the requests; not to be changed any more
     * @param numTokens tokens of each that are known, if it is looked who has left the window; else empty
     */
    DecodeAsk(int[] handles, int[] numTokens) {
        this.handles = handles;
        this.numTokens = numTokens;
    }

    /**
     * Answer.
     *
     * @param fits whether they go on; else nothing has changed but that room was made
     * @param tokenUsage share of the tokens that are in use now
     */
    record Outcome(boolean fits, TreeSize tree, double tokenUsage) implements RadixAnswer {}

    int[] handles() {
        return handles;
    }

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        memory.acknowledgeWrites();
        if (!memory.fits(handles, handles.length)) {
            return new Outcome(false, memory.treeSize(), memory.tokenUsage());
        }
        allocate(memory, handles.length);
        return new Outcome(true, memory.treeSize(), memory.tokenUsage());
    }

    /** Gives the first requests their places. */
    void allocate(RadixMemory memory, int count) {
        for (int i = 0; i < Math.min(count, numTokens.length); i++) {
            memory.leaveWindow(handles[i], numTokens[i]);
        }
        memory.decode(handles, count);
    }
}

package understudy.engine.sglang;

import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;

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

    /** Answer: whether they go on; else nothing has changed but that room was made. */
    record Outcome(boolean fits) implements RadixAnswer {
        private static final Outcome FITS = new Outcome(true);
        private static final Outcome FULL = new Outcome(false);
    }

    int[] handles() {
        return handles;
    }

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        memory.acknowledgeWrites();
        if (!memory.fits(handles, handles.length)) {
            return Outcome.FULL;
        }
        allocate(memory, handles.length);
        return Outcome.FITS;
    }

    /** Gives the first requests their places. */
    void allocate(RadixMemory memory, int count) {
        for (int i = 0; i < Math.min(count, numTokens.length); i++) {
            memory.leaveWindow(handles[i], numTokens[i]);
        }
        memory.decode(handles, count);
    }
}

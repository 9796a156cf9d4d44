package understudy.engine.sglang;

import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;

/**
 * Question how many running requests must give up their places so that the others can go on ({@code retract_decode}): the
 * last is retracted first, at least one, but not the only one that is left; that is aborted if it does not fit.
 *
 * @param decode the requests, those to be retracted first behind
 */
record RetractAsk(DecodeAsk decode) implements RadixAsk {

    /**
     * Answer.
     *
     * @param numLeft how many go on
     * @param isLastAborted whether the only one that was left was aborted, too
     */
    record Outcome(int numLeft, boolean isLastAborted) implements RadixAnswer {}

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        var handles = decode.handles();
        int numLeft = handles.length;
        boolean isFirst = true;
        while (isFirst || !memory.fits(handles, numLeft)) {
            if (numLeft == 1) {
                break;
            }
            isFirst = false;
            numLeft--;
            memory.retract(handles[numLeft], numLeft);
        }
        boolean isAborted = numLeft == 1 && !memory.fits(handles, 1);
        if (isAborted) {
            numLeft = 0;
            memory.retract(handles[0], 0);
        } else {
            decode.allocate(memory, numLeft);
        }
        return new Outcome(numLeft, isAborted);
    }
}

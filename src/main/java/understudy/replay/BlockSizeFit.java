package understudy.replay;

import java.util.OptionalInt;
import understudy.workload.trace.JsonTraceReader;

/**
 * The block sizes that go with the lengths of a trace's prompts: a prompt of L tokens has L / block size hash ids,
 * rounded up, or down if the trace leaves out partial blocks. So n ids mean that (n - 1) x block size &lt; L &lt; (n +
 * 1) x block size, which every line narrows further.
 */
final class BlockSizeFit {
    /** Block size of Mooncake. */
    static final int USUAL = JsonTraceReader.TOKENS_PER_HASH_ID;

    private static final int MULTIPLE = 16;

    private int min = 1;
    private int max = Integer.MAX_VALUE;
    private boolean isContradictory;

    /** Returns whether so many ids go with a prompt of that length. */
    static boolean fits(int blockSize, int promptTokens, int numIds) {
        return (numIds - 1L) * blockSize < promptTokens && promptTokens < (numIds + 1L) * blockSize;
    }

    /** Takes in a line; one that goes with no block size that the others go with changes nothing else. */
    void narrow(int promptTokens, int numIds) {
        int lowest = (int) (promptTokens / (numIds + 1L)) + 1;
        int highest = numIds < 2 ? Integer.MAX_VALUE : (promptTokens - 1) / (numIds - 1);
        if (Math.max(min, lowest) > Math.min(max, highest)) {
            isContradictory = true;
            return;
        }
        min = Math.max(min, lowest);
        max = Math.min(max, highest);
    }

    /** Returns whether there is no block size that goes with all lines. */
    boolean isContradictory() {
        return isContradictory;
    }

    /**
     * Returns the likeliest block size: 512, or else a power of two, or a multiple of 16, or the only one that fits.
     */
    OptionalInt likeliest() {
        if (min <= USUAL && USUAL <= max) {
            return OptionalInt.of(USUAL);
        }
        // Short prompts alone leave the size open upwards; the least power of two is then nearest to what they say.
        int powerOfTwo = Integer.highestOneBit(max == Integer.MAX_VALUE ? 2 * min - 1 : max);
        if (powerOfTwo >= min) {
            return OptionalInt.of(powerOfTwo);
        }
        int multiple = max / MULTIPLE * MULTIPLE;
        if (multiple >= min) {
            return OptionalInt.of(multiple);
        }
        return min == max ? OptionalInt.of(min) : OptionalInt.empty();
    }

    /** Returns the likeliest block size, if there is one, and all that fit, in words. */
    @Override
    public String toString() {
        String range = max == Integer.MAX_VALUE ? min + " or more" : min + " to " + max;
        var likeliest = likeliest();
        if (likeliest.isEmpty()) {
            return range;
        }
        return likeliest.getAsInt() + (min == max ? "" : " (" + range + ")");
    }
}

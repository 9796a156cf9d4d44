package understudy.kvcache;

import java.util.Arrays;

/**
 * What a step's result means for memory: blocks that are complete now, and requests that have ended; in the order of the
 * step. Immutable.
 */
public final class Settlement {
    private final int[] handles;
    private final int[] numTokensToCache;
    private final boolean[] isEnded;
    private final long step;

    private Settlement(Builder builder) {
        handles = Arrays.copyOf(builder.handles, builder.size);
        numTokensToCache = Arrays.copyOf(builder.numTokensToCache, builder.size);
        isEnded = Arrays.copyOf(builder.isEnded, builder.size);
        step = builder.step;
    }

    /** Returns the number of the step whose result this is. */
    long step() {
        return step;
    }

    int size() {
        return handles.length;
    }

    int handle(int index) {
        return handles[index];
    }

    /** Returns how many leading tokens may be cached now, or 0 if nothing has changed. */
    int numTokensToCache(int index) {
        return numTokensToCache[index];
    }

    boolean isEnded(int index) {
        return isEnded[index];
    }

    /** Collects a settlement; reused from step to step. */
    public static final class Builder {
        private int[] handles = new int[16];
        private int[] numTokensToCache = new int[16];
        private boolean[] isEnded = new boolean[16];
        private int size;
        private long step;

        public boolean isEmpty() {
            return size == 0;
        }

        /** Notes that the first {@code numTokens} tokens of a request are known and computed, and whether it has ended. */
        public void add(int handle, int numTokens, boolean ended) {
            if (size == handles.length) {
                handles = Arrays.copyOf(handles, size * 2);
                numTokensToCache = Arrays.copyOf(numTokensToCache, size * 2);
                isEnded = Arrays.copyOf(isEnded, size * 2);
            }
            handles[size] = handle;
            numTokensToCache[size] = numTokens;
            isEnded[size] = ended;
            size++;
        }

        /** Starts anew, for the result of the step with this number. */
        public void begin(long stepNumber) {
            size = 0;
            step = stepNumber;
        }

        public Settlement build() {
            return new Settlement(this);
        }
    }
}

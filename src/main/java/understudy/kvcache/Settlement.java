package understudy.kvcache;

import java.util.Arrays;

/**
 * Effect of a step's result on memory: blocks that are complete now, and requests that have ended; in the order of the
 * step. Immutable.
 */
public final class Settlement {
    private final int[] handles;
    private final int[] numTokensToCache;
    private final int[] numTokens;
    private final boolean[] isEnded;
    private final long step;
    private final long atNanos;

    private Settlement(Builder builder) {
        handles = Arrays.copyOf(builder.handles, builder.size);
        numTokensToCache = Arrays.copyOf(builder.numTokensToCache, builder.size);
        numTokens = Arrays.copyOf(builder.numTokens, builder.size);
        isEnded = Arrays.copyOf(builder.isEnded, builder.size);
        step = builder.step;
        atNanos = builder.atNanos;
    }

    /** Returns the number of the step whose result this is. */
    public long step() {
        return step;
    }

    /** Returns when the step has ended, in virtual time. */
    public long atNanos() {
        return atNanos;
    }

    public int size() {
        return handles.length;
    }

    public int handle(int index) {
        return handles[index];
    }

    /** Returns how many leading tokens may be cached now, or 0 if nothing has changed. */
    public int numTokensToCache(int index) {
        return numTokensToCache[index];
    }

    /** Returns how many tokens of the request are known: its prompt, and its answer so far. */
    public int numTokens(int index) {
        return numTokens[index];
    }

    public boolean isEnded(int index) {
        return isEnded[index];
    }

    /** Collects a settlement; reused from step to step. */
    public static final class Builder {
        private int[] handles = new int[16];
        private int[] numTokensToCache = new int[16];
        private int[] numTokens = new int[16];
        private boolean[] isEnded = new boolean[16];
        private int size;
        private long step;
        private long atNanos;
        private boolean isAlwaysWanted;

        /** Has the memory told of every step, as one wants it that frees blocks when a step is over. */
        public void wantAlways() {
            isAlwaysWanted = true;
        }

        /** Returns whether the memory need not be told. */
        public boolean isEmpty() {
            return size == 0 && !isAlwaysWanted;
        }

        /**
         * Adds the result of a request.
         *
         * @param computed leading tokens that are known and computed, or 0 if no block has become complete
         * @param known tokens of prompt and answer so far
         * @param ended whether it has ended
         */
        public void add(int handle, int computed, int known, boolean ended) {
            if (size == handles.length) {
                handles = Arrays.copyOf(handles, size * 2);
                numTokensToCache = Arrays.copyOf(numTokensToCache, size * 2);
                numTokens = Arrays.copyOf(numTokens, size * 2);
                isEnded = Arrays.copyOf(isEnded, size * 2);
            }
            handles[size] = handle;
            numTokensToCache[size] = computed;
            numTokens[size] = known;
            isEnded[size] = ended;
            size++;
        }

        /** Restarts, for the result of the step with this number, which ended at {@code nanos}. */
        public void begin(long stepNumber, long nanos) {
            size = 0;
            step = stepNumber;
            atNanos = nanos;
        }

        public Settlement build() {
            return new Settlement(this);
        }
    }
}

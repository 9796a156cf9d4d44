package understudy.kvcache;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Effect of a step's result on memory: blocks that are complete now, and requests that have ended; in the order of the
 * step. Immutable.
 */
public final class Settlement {
    private static final long GOES_ON = -1;

    private final int[] handles;
    private final int[] numTokensToCache;
    private final int[] numTokens;
    private final long[] lastSteps;
    private final long step;
    private final long atNanos;
    private final KvAsk.@Nullable OfFamily own;

    private Settlement(Builder builder) {
        handles = Arrays.copyOf(builder.handles, builder.size);
        numTokensToCache = Arrays.copyOf(builder.numTokensToCache, builder.size);
        numTokens = Arrays.copyOf(builder.numTokens, builder.size);
        lastSteps = Arrays.copyOf(builder.lastSteps, builder.size);
        step = builder.step;
        atNanos = builder.atNanos;
        own = builder.own;
    }

    /** Returns the number of the step whose result this is. */
    public long step() {
        return step;
    }

    /** Returns when the step has ended, in virtual time. */
    public long atNanos() {
        return atNanos;
    }

    /**
     * Returns the part that only memories of the engine's own family read, in place of all else; null for other
     * families.
     */
    public KvAsk.@Nullable OfFamily own() {
        return own;
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
        return lastSteps[index] != GOES_ON;
    }

    /** Returns the number of the step in which a request that has ended was scheduled last; it may be in flight. */
    public long lastStep(int index) {
        return lastSteps[index];
    }

    /** Collects a settlement; reused from step to step. */
    public static final class Builder {
        private int[] handles = new int[16];
        private int[] numTokensToCache = new int[16];
        private int[] numTokens = new int[16];
        private long[] lastSteps = new long[16];
        private int size;
        private long step;
        private long atNanos;
        private KvAsk.@Nullable OfFamily own;

        public boolean isEmpty() {
            return size == 0 && own == null;
        }

        /**
         * Adds the result of a request that goes on.
         *
         * @param computed leading tokens that are known and computed, or 0 if no block has become complete
         * @param known tokens of prompt and answer so far
         */
        public void add(int handle, int computed, int known) {
            add(handle, computed, known, GOES_ON);
        }

        /** Adds the last result of a request, which was scheduled last in the step {@code lastStep}, at least 0. */
        public void end(int handle, int computed, int known, long lastStep) {
            add(handle, computed, known, lastStep);
        }

        private void add(int handle, int computed, int known, long lastStep) {
            if (size == handles.length) {
                handles = Arrays.copyOf(handles, size * 2);
                numTokensToCache = Arrays.copyOf(numTokensToCache, size * 2);
                numTokens = Arrays.copyOf(numTokens, size * 2);
                lastSteps = Arrays.copyOf(lastSteps, size * 2);
            }
            handles[size] = handle;
            numTokensToCache[size] = computed;
            numTokens[size] = known;
            lastSteps[size] = lastStep;
            size++;
        }

        /** Restarts, for the result of the step with this number, which ended at {@code nanos}. */
        public void begin(long stepNumber, long nanos) {
            size = 0;
            own = null;
            step = stepNumber;
            atNanos = nanos;
        }

        /** Sets what only a memory of the engine's own family reads; it awaits no answer. */
        public void setOwn(KvAsk.OfFamily settlement) {
            own = settlement;
        }

        public Settlement build() {
            return new Settlement(this);
        }
    }
}

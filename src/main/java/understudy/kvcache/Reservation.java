package understudy.kvcache;

import java.util.Arrays;

/**
 * Needs of running requests for the step that is being planned, in the order of the running list. Only requests that
 * need a block, or complete one, are in it: for all others memory has nothing to decide.
 *
 * <p>Immutable.
 */
public final class Reservation {
    private final int[] handles;
    private final int[] numComputedTokens;
    private final int[] numTokens;

    private Reservation(int[] handles, int[] numComputedTokens, int[] numTokens) {
        this.handles = handles;
        this.numComputedTokens = numComputedTokens;
        this.numTokens = numTokens;
    }

    /** Returns the number of requests. */
    public int size() {
        return handles.length;
    }

    public int handle(int index) {
        return handles[index];
    }

    /** Returns how many tokens the request has computed once this step has run. */
    public int numComputedTokens(int index) {
        return numComputedTokens[index];
    }

    /** Returns how many tokens of the request are known, which bounds what may be cached. */
    public int numTokens(int index) {
        return numTokens[index];
    }

    /** Collects a reservation; reused from step to step. */
    public static final class Builder {
        private int[] handles = new int[16];
        private int[] numComputedTokens = new int[16];
        private int[] numTokens = new int[16];
        private int size;

        /** Returns the number of requests collected. */
        public int size() {
            return size;
        }

        /**
         * Adds a request that will have computed {@code numComputed} tokens and of which {@code numKnown} are known.
         */
        public void add(int handle, int numComputed, int numKnown) {
            if (size == handles.length) {
                handles = Arrays.copyOf(handles, size * 2);
                numComputedTokens = Arrays.copyOf(numComputedTokens, size * 2);
                numTokens = Arrays.copyOf(numTokens, size * 2);
            }
            handles[size] = handle;
            numComputedTokens[size] = numComputed;
            numTokens[size] = numKnown;
            size++;
        }

        /** Returns how many tokens a request has computed once the step has run. */
        public int numComputedTokens(int index) {
            return numComputedTokens[index];
        }

        /** Forgets all requests. */
        public void clear() {
            size = 0;
        }

        /** Returns what was collected. */
        public Reservation build() {
            return new Reservation(
                    Arrays.copyOf(handles, size),
                    Arrays.copyOf(numComputedTokens, size),
                    Arrays.copyOf(numTokens, size));
        }
    }
}

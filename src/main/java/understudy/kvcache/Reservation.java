package understudy.kvcache;

import java.util.Arrays;

/**
 * Needs of running requests for the step that is being planned, in the order of the running list. Only requests that
 * need a block, or complete one, are in it: for all others memory has nothing to decide.
 *
 * <p>Immutable.
 */
public final class Reservation {
    /** Numbers of each request: its handle, and the tokens of the three methods below. */
    private static final int STRIDE = 4;

    private final int[] numbers;
    private final long step;

    private Reservation(int[] numbers, long step) {
        this.numbers = numbers;
        this.step = step;
    }

    /** Returns the number of the step that is being planned. */
    public long step() {
        return step;
    }

    /** Returns the number of requests. */
    public int size() {
        return numbers.length / STRIDE;
    }

    public int handle(int index) {
        return numbers[index * STRIDE];
    }

    /** Returns for how many tokens the request needs slots: those computed once this step has run, and the lookahead. */
    public int numSlots(int index) {
        return numbers[index * STRIDE + 1];
    }

    /** Returns how many of the tokens computed once this step has run are known, so that they may be cached. */
    public int numTokensToCache(int index) {
        return numbers[index * STRIDE + 2];
    }

    /** Returns how many leading tokens have been computed by steps that are over. */
    public int numExecutedTokens(int index) {
        return numbers[index * STRIDE + 3];
    }

    /** Collects a reservation; reused from step to step. */
    public static final class Builder {
        private int[] numbers = new int[16 * STRIDE];
        private int end;

        /** Returns the number of requests collected. */
        public int size() {
            return end / STRIDE;
        }

        /**
         * Adds a request that needs slots for so many tokens, of which the first {@code numToCache} may be cached, and
         * the first {@code numExecuted} have been computed.
         */
        public void add(int handle, int numSlots, int numToCache, int numExecuted) {
            if (end == numbers.length) {
                numbers = Arrays.copyOf(numbers, end * 2);
            }
            numbers[end] = handle;
            numbers[end + 1] = numSlots;
            numbers[end + 2] = numToCache;
            numbers[end + 3] = numExecuted;
            end += STRIDE;
        }

        /** Adds a request; the number of its computed tokens does not matter to the memory. */
        public void add(int handle, int numSlots, int numToCache) {
            add(handle, numSlots, numToCache, 0);
        }

        /** Returns for how many tokens a request needs slots. */
        public int numSlots(int index) {
            return numbers[index * STRIDE + 1];
        }

        /** Returns how many tokens of a request may be cached. */
        public int numTokensToCache(int index) {
            return numbers[index * STRIDE + 2];
        }

        /** Forgets all requests. */
        public void clear() {
            end = 0;
        }

        /** Returns the collected reservation, for a memory that does not read step numbers. */
        public Reservation build() {
            return build(0);
        }

        /** Returns the collected reservation for a step. */
        public Reservation build(long step) {
            return new Reservation(Arrays.copyOf(numbers, end), step);
        }
    }
}

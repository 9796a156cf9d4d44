package understudy.kvcache;

import java.util.Arrays;

/**
 * Needs of running requests for the step that is being planned, in the order of the running list. Only requests that
 * need a block, or complete one, are in it: for all others memory has nothing to decide.
 *
 * <p>Immutable.
 */
public final class Reservation {
    /** Numbers for each request: its handle, the tokens for which it needs slots, and those that may be cached. */
    private static final int STRIDE = 3;

    private final int[] numbers;

    private Reservation(int[] numbers) {
        this.numbers = numbers;
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

    /** Collects a reservation; reused from step to step. */
    public static final class Builder {
        private int[] numbers = new int[16 * STRIDE];
        private int end;

        /** Returns the number of requests collected. */
        public int size() {
            return end / STRIDE;
        }

        /** Adds a request that needs slots for so many tokens, of which the first {@code numToCache} may be cached. */
        public void add(int handle, int numSlots, int numToCache) {
            if (end == numbers.length) {
                numbers = Arrays.copyOf(numbers, end * 2);
            }
            numbers[end] = handle;
            numbers[end + 1] = numSlots;
            numbers[end + 2] = numToCache;
            end += STRIDE;
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

        /** Returns what was collected. */
        public Reservation build() {
            return new Reservation(Arrays.copyOf(numbers, end));
        }
    }
}

package understudy.kvcache;

import java.util.Arrays;

/**
 * Needs of running requests for the step that is being planned, in the order of the running list. Only requests that
 * need a block, or complete one, are in it: for all others memory has nothing to decide.
 *
 * <p>Immutable.
 */
public final class Reservation {
    /** Numbers for each request: its handle, the tokens computed once the step has run, and the tokens known. */
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

    /** Returns how many tokens the request has computed once this step has run. */
    public int numComputedTokens(int index) {
        return numbers[index * STRIDE + 1];
    }

    /** Returns how many tokens of the request are known, which bounds what may be cached. */
    public int numTokens(int index) {
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

        /**
         * Adds a request that will have computed {@code numComputed} tokens and of which {@code numKnown} are known.
         */
        public void add(int handle, int numComputed, int numKnown) {
            if (end == numbers.length) {
                numbers = Arrays.copyOf(numbers, end * 2);
            }
            numbers[end] = handle;
            numbers[end + 1] = numComputed;
            numbers[end + 2] = numKnown;
            end += STRIDE;
        }

        /** Returns how many tokens a request has computed once the step has run. */
        public int numComputedTokens(int index) {
            return numbers[index * STRIDE + 1];
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

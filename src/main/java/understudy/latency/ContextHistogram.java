package understudy.latency;

import java.util.Arrays;

/** Lengths of sequences by power of two: how many, and their sum. */
final class ContextHistogram {
    private final int[] counts;
    private final long[] sums;
    private int numBuckets;

    ContextHistogram() {
        this(new int[Integer.SIZE], new long[Integer.SIZE], 0);
    }

    private ContextHistogram(int[] counts, long[] sums, int numBuckets) {
        this.counts = counts;
        this.sums = sums;
        this.numBuckets = numBuckets;
    }

    int numBuckets() {
        return numBuckets;
    }

    boolean isEmpty(int bucket) {
        return counts[bucket] == 0;
    }

    /** Adds a length of at least 1 as often as {@code count} says, or takes it away if that is negative. */
    void add(int length, int count) {
        int bucket = bucket(length);
        counts[bucket] += count;
        sums[bucket] += (long) count * length;
        numBuckets = Math.max(numBuckets, bucket + 1);
    }

    void addAll(ContextHistogram other) {
        for (int bucket = 0; bucket < other.numBuckets; bucket++) {
            counts[bucket] += other.counts[bucket];
            sums[bucket] += other.sums[bucket];
        }
        numBuckets = Math.max(numBuckets, other.numBuckets);
    }

    /** Makes all lengths longer by one; those that reach the next bucket are still to be promoted. */
    void grow() {
        for (int bucket = 0; bucket < numBuckets; bucket++) {
            sums[bucket] += counts[bucket];
        }
    }

    /** Moves as many lengths as {@code count} says, which have reached the least of a bucket, from the one before. */
    void promote(int bucket, int count) {
        long sum = (long) count << bucket;
        counts[bucket - 1] -= count;
        sums[bucket - 1] -= sum;
        counts[bucket] += count;
        sums[bucket] += sum;
        numBuckets = Math.max(numBuckets, bucket + 1);
    }

    void clear() {
        Arrays.fill(counts, 0, numBuckets, 0);
        Arrays.fill(sums, 0, numBuckets, 0);
        numBuckets = 0;
    }

    ContextHistogram copy() {
        return new ContextHistogram(Arrays.copyOf(counts, numBuckets), Arrays.copyOf(sums, numBuckets), numBuckets);
    }

    /** Returns the sum with lengths above {@code limit} counted as the limit. */
    double sumWithin(int limit) {
        int split = bucket(limit);
        double sum = 0;
        for (int bucket = 0; bucket < numBuckets; bucket++) {
            double capped = (double) counts[bucket] * limit;
            double exact = (double) sums[bucket];
            sum += bucket < split ? exact : bucket > split ? capped : Math.min(exact, capped);
        }
        return sum;
    }

    /** Lengths from {@code 2^n} to {@code 2^(n+1) - 1} are in bucket n. */
    private static int bucket(int length) {
        return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length);
    }
}

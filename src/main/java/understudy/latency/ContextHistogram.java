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

    /** Adds a length of at least 1. */
    void add(int length) {
        int bucket = bucket(length);
        counts[bucket]++;
        sums[bucket] += length;
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

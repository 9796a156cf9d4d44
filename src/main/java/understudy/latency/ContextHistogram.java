package understudy.latency;

import java.util.Arrays;

/** Lengths of sequences by power of two: how many, and their sum. */
final class ContextHistogram {
    private final int[] counts;
    private final long[] sums;

    /** The buckets that lengths were added to are from this one on, and before the other. */
    private int firstBucket = Integer.SIZE;

    private int numBuckets;

    ContextHistogram() {
        counts = new int[Integer.SIZE];
        sums = new long[Integer.SIZE];
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
        reach(bucket, bucket + 1);
    }

    private void reach(int first, int end) {
        firstBucket = Math.min(firstBucket, first);
        numBuckets = Math.max(numBuckets, end);
    }

    void addAll(ContextHistogram other) {
        for (int bucket = other.firstBucket; bucket < other.numBuckets; bucket++) {
            counts[bucket] += other.counts[bucket];
            sums[bucket] += other.sums[bucket];
        }
        reach(other.firstBucket, other.numBuckets);
    }

    /** Makes all lengths longer by one; those that reach the next bucket are still to be promoted. */
    void grow() {
        for (int bucket = firstBucket; bucket < numBuckets; bucket++) {
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
        for (int bucket = firstBucket; bucket < numBuckets; bucket++) {
            counts[bucket] = 0;
            sums[bucket] = 0;
        }
        firstBucket = Integer.SIZE;
        numBuckets = 0;
    }

    /** Returns an immutable copy, of the buckets that are not empty. */
    Counted copy() {
        int first = firstBucket;
        while (first < numBuckets && counts[first] == 0) {
            first++;
        }
        return first >= numBuckets
                ? Counted.NOTHING
                : new Counted(
                        first,
                        Arrays.copyOfRange(counts, first, numBuckets),
                        Arrays.copyOfRange(sums, first, numBuckets));
    }

    /** Lengths by power of two, from the bucket {@code first} on, as they were at one time. */
    static final class Counted {
        private static final Counted NOTHING = new Counted(0, new int[0], new long[0]);

        private final int first;
        private final int[] counts;
        private final long[] sums;

        private Counted(int first, int[] counts, long[] sums) {
            this.first = first;
            this.counts = counts;
            this.sums = sums;
        }

        /**
         * Returns how many tokens are read while fewer than {@code numReaders} lengths go on, each by the share of
         * readers that is idle: lengths go on together from the beginning, and those of a power of two end together.
         * The tokens up to the shortest length, which all of them have, do not count.
         */
        double idleTokens(double numReaders) {
            double idle = 0;
            double longer = 0;
            int numLonger = 0;
            for (int i = counts.length - 1; i >= 0 && numLonger < numReaders; i--) {
                if (counts[i] > 0) {
                    double length = (double) sums[i] / counts[i];
                    idle += numLonger == 0 ? 0 : (1 - numLonger / numReaders) * (longer - length);
                    longer = length;
                    numLonger += counts[i];
                }
            }
            return idle;
        }

        /** Returns the sum with lengths above {@code limit} counted as the limit. */
        double sumWithin(int limit) {
            int split = bucket(limit) - first;
            double sum = 0;
            for (int i = 0; i < counts.length; i++) {
                double capped = (double) counts[i] * limit;
                double exact = (double) sums[i];
                sum += i < split ? exact : i > split ? capped : Math.min(exact, capped);
            }
            return sum;
        }
    }

    /** Lengths from {@code 2^n} to {@code 2^(n+1) - 1} are in bucket n. */
    private static int bucket(int length) {
        return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(length);
    }
}

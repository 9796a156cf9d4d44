package understudy.report.latency;

import it.unimi.dsi.fastutil.longs.Long2LongAVLTreeMap;
import java.util.Arrays;

/**
 * All inter-token gaps of a run, pooled over requests, exactly: how often each value occurred.
 *
 * <p>A long run has millions of different values, so they are packed in ascending order; new ones collect in a list that
 * is sorted and merged into them from time to time.
 */
public final class TokenGaps {
    private static final int MIN_RECENT = 1 << 12;

    /** The low bits of a number in the list are a count, the others a value; 26 days are the first that do not fit. */
    private static final int COUNT_BITS = 12;

    private static final int MAX_COUNT = (1 << COUNT_BITS) - 1;
    private static final long MAX_VALUE = Long.MAX_VALUE >> COUNT_BITS;

    private long[] recent = new long[MIN_RECENT];
    private int numRecent;
    private final Long2LongAVLTreeMap recentLong = new Long2LongAVLTreeMap();
    private PackedCounts sorted = new PackedCounts(0);

    /** Counts {@code count} gaps of {@code value} nanoseconds each, at least 0. */
    public void add(long value, long count) {
        if (value > MAX_VALUE) {
            recentLong.addTo(value, count);
            return;
        }
        for (long left = count; left > 0; left -= MAX_COUNT) {
            if (numRecent == recent.length) {
                makeRoom();
            }
            recent[numRecent++] = value << COUNT_BITS | Math.min(left, MAX_COUNT);
        }
    }

    private void makeRoom() {
        if (recent.length < sorted.size() / 8) {
            recent = Arrays.copyOf(recent, recent.length * 2);
        } else {
            merge();
        }
    }

    /** Returns statistics over all gaps. */
    public LatencyStats stats() {
        var counted = new Counted();
        return LatencyStats.ofCounted(counted.values, counted.cumulated);
    }

    /** Returns percentiles of all gaps; none if there are no gaps. */
    public double[] percentiles(double[] percents) {
        var counted = new Counted();
        return LatencyStats.percentiles(counted.values, counted.cumulated, percents);
    }

    /** All gaps so far: their values, and how many have one or a smaller one. */
    private final class Counted {
        private final double[] values;
        private final long[] cumulated;

        Counted() {
            merge();
            values = new double[sorted.size()];
            cumulated = new long[values.length];
            var reader = sorted.new Reader();
            long count = 0;
            for (int i = 0; reader.next(); i++) {
                count += reader.count();
                values[i] = reader.value();
                cumulated[i] = count;
            }
        }
    }

    private void merge() {
        long[] added = Arrays.copyOf(recent, numRecent);
        RadixSort.sort(added);
        var merge = new Merge(added.length);
        for (int i = 0; i < added.length; ) {
            long value = added[i] >>> COUNT_BITS;
            long count = 0;
            for (; i < added.length && added[i] >>> COUNT_BITS == value; i++) {
                count += added[i] & MAX_COUNT;
            }
            merge.add(value, count);
        }
        recentLong.long2LongEntrySet().forEach(entry -> merge.add(entry.getLongKey(), entry.getLongValue()));
        sorted = merge.end();
        numRecent = 0;
        recentLong.clear();
    }

    /** Merge of the values so far with new ones, which come in ascending order. */
    private final class Merge {
        private final PackedCounts merged;
        private final PackedCounts.Reader old = sorted.new Reader();
        private boolean hasOld = old.next();

        Merge(int numAdded) {
            merged = new PackedCounts(sorted.numBytes() + 4 * numAdded);
        }

        void add(long value, long count) {
            copyBelow(value);
            boolean isOld = hasOld && old.value() == value;
            merged.add(value, isOld ? count + old.count() : count);
            hasOld = isOld ? old.next() : hasOld;
        }

        PackedCounts end() {
            copyBelow(Long.MAX_VALUE);
            return merged;
        }

        private void copyBelow(long value) {
            while (hasOld && old.value() < value) {
                merged.add(old.value(), old.count());
                hasOld = old.next();
            }
        }
    }
}

package understudy.report.run;

import java.util.Arrays;

/**
 * Inter-token gaps over a run, in at most 120 intervals: how many there were of each size, to 1.6 %. Intervals are 1 ms
 * long at first, and twice as long whenever there would be too many.
 */
final class GapHistory {
    private static final int MAX_BINS = 120;
    private static final long FIRST_NANOS = 1_000_000;

    /** A power of two has so many sizes, as a number of bits. */
    private static final int SIZE_BITS = 5;

    private static final double NANOS_PER_SECOND = 1e9;

    /** Longest gaps that are told apart: 73 hours. */
    private static final int NUM_SIZES = sizeOf(1L << 48);

    private long[][] bins = new long[MAX_BINS][];
    private int numBins;
    private long widthNanos = FIRST_NANOS;

    /** Counts gaps that have ended at a time. */
    void add(long atNanos, long gapNanos, int count) {
        while (BinnedSeries.bin(atNanos, widthNanos) >= MAX_BINS) {
            halve();
        }
        int bin = (int) BinnedSeries.bin(atNanos, widthNanos);
        while (numBins <= bin) {
            bins[numBins++] = new long[NUM_SIZES];
        }
        bins[bin][Math.min(sizeOf(gapNanos), NUM_SIZES - 1)] += count;
    }

    private void halve() {
        var halved = new long[MAX_BINS][];
        for (int i = 0; i < numBins; i += 2) {
            halved[i / 2] = bins[i];
            for (int size = 0; i + 1 < numBins && size < NUM_SIZES; size++) {
                halved[i / 2][size] += bins[i + 1][size];
            }
        }
        bins = halved;
        numBins = (numBins + 1) / 2;
        widthNanos *= 2;
    }

    /** Returns the size of a gap: its highest bit, and the {@link #SIZE_BITS} behind that. */
    static int sizeOf(long nanos) {
        int shift = Math.max(0, Long.SIZE - 1 - SIZE_BITS - Long.numberOfLeadingZeros(Math.max(1, nanos)));
        return (shift << SIZE_BITS) + (int) (nanos >>> shift);
    }

    /** Returns the middle of all gaps of a size. */
    static double middleOf(int size) {
        int shift = Math.max(0, (size >>> SIZE_BITS) - 1);
        long lowest = (long) (size - (shift << SIZE_BITS)) << shift;
        return lowest + ((1L << shift) - 1) / 2.0;
    }

    /** Returns the middle of each interval, in seconds. */
    double[] seconds() {
        double[] seconds = new double[numBins];
        for (int i = 0; i < seconds.length; i++) {
            seconds[i] = (i + 0.5) * widthNanos / NANOS_PER_SECOND;
        }
        return seconds;
    }

    /** Returns a percentile of each interval, in nanoseconds; not a number where there was no gap. */
    double[] percentiles(double percent) {
        return Arrays.stream(bins, 0, numBins)
                .mapToDouble(bin -> percentile(bin, percent))
                .toArray();
    }

    private static double percentile(long[] bin, double percent) {
        long rank = (long) Math.ceil(percent / 100 * Arrays.stream(bin).sum());
        if (rank == 0) {
            return Double.NaN;
        }
        int size = 0;
        for (long below = bin[0]; below < rank; below += bin[size]) {
            size++;
        }
        return middleOf(size);
    }
}

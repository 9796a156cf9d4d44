package understudy.report.latency;

import java.util.Arrays;

/**
 * Radix sort, digit by digit from the lowest. A report sorts each distribution once, in code that has hardly run before,
 * and these few short loops are compiled much sooner than what {@link Arrays#sort(long[])} does.
 */
public final class RadixSort {
    private static final int DIGIT_BITS = 11;
    private static final int DIGITS = 1 << DIGIT_BITS;

    private RadixSort() {}

    /** Puts numbers into ascending order; none may be NaN. */
    static void sort(double[] values) {
        long[] keys = new long[values.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = mirrored(Double.doubleToRawLongBits(values[i]));
        }
        sort(keys);
        for (int i = 0; i < keys.length; i++) {
            values[i] = Double.longBitsToDouble(mirrored(keys[i]));
        }
    }

    /** Negative numbers are in descending order as bits, and twice mirrored they are themselves. */
    private static long mirrored(long bits) {
        return bits ^ (bits >> 63 & Long.MAX_VALUE);
    }

    /** Puts numbers into ascending order. */
    public static void sort(long[] values) {
        if (values.length < DIGITS) {
            Arrays.sort(values);
            return;
        }
        long varying = varyingBits(values);
        long[] from = values;
        long[] to = new long[values.length];
        for (int shift = Long.numberOfTrailingZeros(varying);
                shift < Long.SIZE && varying >>> shift != 0;
                shift += DIGIT_BITS) {
            scatter(from, shift, to);
            long[] sorted = to;
            to = from;
            from = sorted;
        }
        if (from != values) {
            System.arraycopy(from, 0, values, 0, values.length);
        }
    }

    private static long varyingBits(long[] values) {
        long varying = 0;
        for (long value : values) {
            varying |= value ^ values[0];
        }
        return varying;
    }

    private static void scatter(long[] from, int shift, long[] to) {
        int[] next = starts(from, shift);
        for (long value : from) {
            to[next[digit(value, shift)]++] = value;
        }
    }

    /** Returns where the values with each digit begin. */
    private static int[] starts(long[] values, int shift) {
        int[] starts = new int[DIGITS + 1];
        for (long value : values) {
            starts[digit(value, shift) + 1]++;
        }
        for (int digit = 0; digit < DIGITS; digit++) {
            starts[digit + 1] += starts[digit];
        }
        return starts;
    }

    private static int digit(long value, int shift) {
        return (int) ((value ^ Long.MIN_VALUE) >>> shift) & DIGITS - 1;
    }
}

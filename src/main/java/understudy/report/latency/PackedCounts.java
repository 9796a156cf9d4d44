package understudy.report.latency;

import java.util.Arrays;

/**
 * Packed counts of different numbers, in ascending order: the distance from the number before and how often it occurs,
 * each in as many groups of seven bits as it needs. The gaps of a run take two to three bytes each.
 */
final class PackedCounts {
    private static final int MORE = 0x80;
    private static final int MOST_BYTES = 2 * 9;

    private byte[] bytes;
    private int length;
    private long last;
    private int size;

    /** Creates a list that has room for so many bytes before it grows. */
    PackedCounts(int capacity) {
        bytes = new byte[capacity];
    }

    /** Adds a number that is greater than all before, and at least 0, and how often it occurs. */
    void add(long value, long count) {
        if (bytes.length - length < MOST_BYTES) {
            bytes = Arrays.copyOf(bytes, length + length / 4 + MOST_BYTES);
        }
        put(value - last);
        put(count);
        last = value;
        size++;
    }

    private void put(long number) {
        long rest = number;
        while (rest >= MORE) {
            bytes[length++] = (byte) (rest | MORE);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    /** Returns how many different numbers there are. */
    int size() {
        return size;
    }

    int numBytes() {
        return length;
    }

    /** Reads a list from its beginning; the list must not grow meanwhile. */
    final class Reader {
        private int at;
        private long value;
        private long count;

        /** Goes on to the next number, or returns that there is none. */
        boolean next() {
            if (at == length) {
                return false;
            }
            value += get();
            count = get();
            return true;
        }

        private long get() {
            long number = 0;
            int shift = 0;
            while (bytes[at] < 0) {
                number |= (long) (bytes[at++] & MORE - 1) << shift;
                shift += 7;
            }
            return number | (long) bytes[at++] << shift;
        }

        long value() {
            return value;
        }

        long count() {
            return count;
        }
    }
}

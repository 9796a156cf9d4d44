package understudy.parquet;

import java.util.Arrays;

/** Small numbers in runs, repeated or packed in bits, as Parquet's hybrid encoding has them. */
final class HybridRuns {
    private static final int VALUES_PER_GROUP = 8;

    private final Bytes bytes;
    private final int bitWidth;

    HybridRuns(Bytes bytes, int bitWidth) {
        if (bitWidth > Integer.SIZE - 1) {
            throw new Bytes.DamageException("indices have " + bitWidth + " bits");
        }
        this.bytes = bytes;
        this.bitWidth = bitWidth;
    }

    /** Fills {@code target} from {@code from} on with {@code count} numbers, each below {@code bound}. */
    void read(int[] target, int from, int count, int bound) {
        int next = from;
        int end = from + count;
        while (next < end) {
            long header = bytes.varint();
            long length = header >>> 1;
            int numValues = (int) Math.min(end - next, isPacked(header) ? length * VALUES_PER_GROUP : length);
            if (length <= 0 || length > Integer.MAX_VALUE) {
                throw new Bytes.DamageException("a run has the length " + length);
            }
            if (isPacked(header)) {
                unpack(target, next, numValues, bytes.range(length * bitWidth));
            } else {
                Arrays.fill(target, next, next + numValues, repeated());
            }
            requireBelow(bound, target, next, numValues);
            next += numValues;
        }
    }

    private static boolean isPacked(long header) {
        return (header & 1) == 1;
    }

    private int repeated() {
        return (int) bytes.littleEndian((bitWidth + Byte.SIZE - 1) / Byte.SIZE);
    }

    private void unpack(int[] target, int from, int count, Bytes packed) {
        long buffer = 0;
        int numBits = 0;
        for (int i = 0; i < count; i++) {
            for (; numBits < bitWidth; numBits += Byte.SIZE) {
                buffer |= (long) packed.readByte() << numBits;
            }
            target[from + i] = (int) (buffer & ((1L << bitWidth) - 1));
            buffer >>>= bitWidth;
            numBits -= bitWidth;
        }
    }

    private static void requireBelow(int bound, int[] numbers, int from, int count) {
        for (int i = from; i < from + count; i++) {
            if (numbers[i] < 0 || numbers[i] >= bound) {
                throw new Bytes.DamageException("the index " + numbers[i] + " is not below " + bound);
            }
        }
    }
}

package understudy.report;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Column of numbers that only grows, in chunks that are written once. A chunk takes no more than its numbers need:
 * nothing if all are equal, 4 bytes for each if all are near the first, else 8.
 */
final class NumberColumn {
    private static final int CHUNK = 1 << 10;

    private final LongArrayList firsts = new LongArrayList();
    private final List<int @Nullable []> narrow = new ArrayList<>();
    private final List<long @Nullable []> wide = new ArrayList<>();
    private final long[] open = new long[CHUNK];
    private int size;

    void add(long value) {
        open[size++ % CHUNK] = value;
        if (size % CHUNK == 0) {
            close();
        }
    }

    private void close() {
        boolean isConstant = true;
        boolean isNarrow = true;
        for (long value : open) {
            long offset = value - open[0];
            isConstant &= offset == 0;
            isNarrow &= offset == (int) offset;
        }
        firsts.add(open[0]);
        narrow.add(isNarrow && !isConstant ? offsets() : null);
        wide.add(isNarrow ? null : open.clone());
    }

    private int[] offsets() {
        int[] offsets = new int[CHUNK];
        Arrays.setAll(offsets, row -> (int) (open[row] - open[0]));
        return offsets;
    }

    /** Returns the number at {@code index}, from 0, in the order of adding. */
    long get(int index) {
        int chunk = index / CHUNK;
        int row = index % CHUNK;
        if (chunk == firsts.size()) {
            return open[row];
        }
        long[] longs = wide.get(chunk);
        if (longs != null) {
            return longs[row];
        }
        int[] ints = narrow.get(chunk);
        return firsts.getLong(chunk) + (ints == null ? 0 : ints[row]);
    }

    /** Returns a number that was added as an int. */
    int getInt(int index) {
        return (int) get(index);
    }

    /** Returns all numbers. */
    long[] toArray() {
        long[] all = new long[size];
        for (int chunk = 0; chunk < firsts.size(); chunk++) {
            long[] longs = wide.get(chunk);
            if (longs != null) {
                System.arraycopy(longs, 0, all, chunk * CHUNK, CHUNK);
            } else {
                copyNarrow(chunk, all);
            }
        }
        System.arraycopy(open, 0, all, firsts.size() * CHUNK, size % CHUNK);
        return all;
    }

    private void copyNarrow(int chunk, long[] all) {
        int begin = chunk * CHUNK;
        Arrays.fill(all, begin, begin + CHUNK, firsts.getLong(chunk));
        int[] ints = narrow.get(chunk);
        if (ints != null) {
            for (int row = 0; row < CHUNK; row++) {
                all[begin + row] += ints[row];
            }
        }
    }
}

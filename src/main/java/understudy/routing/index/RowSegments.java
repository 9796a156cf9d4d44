package understudy.routing.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.Arrays;

/**
 * Allocator of rows, one for each block, in segments of consecutive ones, so that the blocks of a prompt mostly lie side
 * by side. A segment is given out anew when none of its rows is in use; the first segment never is, since row 0 means
 * no row. Not thread safe.
 */
final class RowSegments {
    static final int ROWS = 8;

    private final IntArrayList unused = new IntArrayList();
    private byte[] numInUse = new byte[128];
    private byte[] numGiven = new byte[128];
    private int numSegments = 1;

    /** Returns an unused row, the one after {@code previous} if it can be. */
    int take(int previous) {
        int segment = previous / ROWS;
        if (segment == 0 || previous % ROWS + 1 != numGiven[segment] || numGiven[segment] == ROWS) {
            segment = unused.isEmpty() ? addSegment() : unused.popInt();
        }
        numInUse[segment]++;
        return segment * ROWS + numGiven[segment]++;
    }

    /** Takes back a row. */
    void giveBack(int row) {
        int segment = row / ROWS;
        if (--numInUse[segment] == 0) {
            numGiven[segment] = 0;
            unused.push(segment);
        } else if (row % ROWS + 1 == numGiven[segment]) {
            numGiven[segment]--;
        }
    }

    /** Returns a number above that of every row that was ever given out. */
    int end() {
        return numSegments * ROWS;
    }

    private int addSegment() {
        if (numSegments == numInUse.length) {
            numInUse = Arrays.copyOf(numInUse, numSegments * 2);
            numGiven = Arrays.copyOf(numGiven, numSegments * 2);
        }
        return numSegments++;
    }
}

package understudy.prompt;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Hashes of a sequence's blocks, from its first one on. Sequences with a long common beginning share its hashes: a path is
 * an array, and in front of it the beginning of another path. Immutable.
 */
public final class HashPath {
    /** Fewer hashes are copied rather than shared, since one array is quicker to read. */
    private static final int MIN_SHARED = 256;

    /** More arrays than these are copied to one. */
    private static final int MAX_ARRAYS = 8;

    private static final long[] NO_HASHES = {};

    /** Path without blocks. */
    public static final HashPath EMPTY = new HashPath(null, 0, NO_HASHES);

    /** Path that begins with the shared hashes, or null if there are none. */
    private final @Nullable HashPath shared;

    private final int numShared;
    private final long[] own;
    private final int numArrays;

    private HashPath(@Nullable HashPath shared, int numShared, long[] own) {
        this.shared = shared;
        this.numShared = numShared;
        this.own = own;
        numArrays = 1 + (shared == null ? 0 : shared.numArrays);
    }

    /**
     * Returns the path of the first blocks of this one, and others behind them.
     *
     * @param count how many of this one's blocks, at most all of them
     * @param more hashes of the others; must not be changed any more
     */
    public HashPath goingOn(int count, long[] more) {
        if (shared != null && count <= numShared) {
            return shared.goingOn(count, more);
        }
        if (count >= MIN_SHARED && numArrays < MAX_ARRAYS) {
            return new HashPath(this, count, more);
        }
        var hashes = Arrays.copyOf(more, count + more.length);
        System.arraycopy(more, 0, hashes, count, more.length);
        copy(0, count, hashes, 0);
        return new HashPath(null, 0, hashes);
    }

    /** Returns the path of the first blocks of this one, all of them if it has no more. */
    public HashPath first(int count) {
        return count >= length() ? this : goingOn(count, NO_HASHES);
    }

    /**
     * Returns the path of this one's blocks, and others behind them, as that of a sequence that grows. It shares all hashes.
     *
     * @param more hashes of the others, which must not be changed once they are there, and room for those to come; who has
     *     the path must know which are
     */
    public HashPath growingBy(long[] more) {
        return new HashPath(this, length(), more);
    }

    public int length() {
        return numShared + own.length;
    }

    /** Returns of how many blocks it has the hashes in an array of its own. */
    int numOwn() {
        return own.length;
    }

    /** Returns the hash of a block. */
    public long get(int block) {
        var path = pathOf(block);
        return path.own[block - path.numShared];
    }

    /** Returns all hashes, in an array that may be this path's own and must not be changed. */
    public long[] toArray() {
        if (shared == null) {
            return own;
        }
        var hashes = new long[length()];
        copy(0, hashes.length, hashes, 0);
        return hashes;
    }

    /** Copies {@code count} hashes, from a block on, to the places of {@code into} from {@code at} on. */
    void copy(int from, int count, long[] into, int at) {
        int end = from + count;
        for (int block = from; block < end; ) {
            var path = pathOf(block);
            int next = Math.min(end, endOf(block));
            System.arraycopy(path.own, block - path.numShared, into, at + block - from, next - block);
            block = next;
        }
    }

    /** Returns up to which block, from one on and up to another one, this path has the same hashes as another path. */
    public int endOfEqual(HashPath other, int from, int to) {
        int block = from;
        while (block < to) {
            var mine = pathOf(block);
            var others = other.pathOf(block);
            int end = Math.min(to, Math.min(endOf(block), other.endOf(block)));
            if (mine != others) {
                int mismatch = Arrays.mismatch(
                        mine.own,
                        block - mine.numShared,
                        end - mine.numShared,
                        others.own,
                        block - others.numShared,
                        end - others.numShared);
                if (mismatch >= 0) {
                    return block + mismatch;
                }
            }
            block = end;
        }
        return to;
    }

    /** Returns the path in whose own array a block is. */
    private HashPath pathOf(int block) {
        var path = this;
        while (path.shared != null && block < path.numShared) {
            path = path.shared;
        }
        return path;
    }

    /** Returns up to which block the hashes from one on are in one array. */
    private int endOf(int block) {
        int end = length();
        for (var path = this; path.shared != null && block < path.numShared; path = path.shared) {
            end = path.numShared;
        }
        return end;
    }
}

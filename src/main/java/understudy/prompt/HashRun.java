package understudy.prompt;

import it.unimi.dsi.fastutil.longs.AbstractLongList;
import java.util.Objects;

/**
 * Hashes of consecutive blocks of a sequence, which know those before them. Parts of a run share its hashes. Immutable.
 */
public final class HashRun extends AbstractLongList {
    /** Run without blocks. */
    public static final HashRun NONE = new HashRun(HashPath.EMPTY, 0, 0);

    private final HashPath path;
    private final int from;
    private final int to;

    /**
     * Creates a run.
     *
     * @param path hashes of all blocks of the sequence up to its last one, or more
     * @param from its first block
     * @param to the block behind its last one
     */
    public HashRun(HashPath path, int from, int to) {
        Objects.checkFromToIndex(from, to, path.length());
        this.path = path;
        this.from = from;
        this.to = to;
    }

    public HashPath path() {
        return path;
    }

    public int from() {
        return from;
    }

    public int to() {
        return to;
    }

    /** Returns the first blocks of this run. */
    public HashRun first(int count) {
        return new HashRun(path, from, from + count);
    }

    /** Returns this run without its first blocks. */
    public HashRun withoutFirst(int count) {
        return new HashRun(path, from + count, to);
    }

    @Override
    public long getLong(int index) {
        return path.get(from + Objects.checkIndex(index, size()));
    }

    @Override
    public int size() {
        return to - from;
    }

    @Override
    public void getElements(int first, long[] into, int offset, int count) {
        Objects.checkFromIndexSize(first, count, size());
        path.copy(from + first, count, into, offset);
    }
}

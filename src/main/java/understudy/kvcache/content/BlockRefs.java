package understudy.kvcache.content;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import understudy.prompt.HashPath;

/** References of requests to the blocks of a pool: of each block, or of the run that it is in. */
final class BlockRefs {
    private static final BlockRun[] NO_RUNS = {};

    /** References to blocks in no run. */
    private int[] counts;

    /** The run of each block; empty before there is one. */
    private @Nullable BlockRun[] runs = NO_RUNS;

    BlockRefs(int capacity) {
        counts = new int[capacity];
    }

    /** Returns the blocks from 0 on that there is room for. */
    int capacity() {
        return counts.length;
    }

    void makeRoom(int capacity) {
        counts = Arrays.copyOf(counts, capacity);
        if (runs.length > 0) {
            runs = Arrays.copyOf(runs, capacity);
        }
    }

    /** Returns the run that a block is in, or null if it is in none. */
    @Nullable BlockRun runOf(int block) {
        return block < runs.length ? runs[block] : null;
    }

    int count(int block) {
        var run = runOf(block);
        if (run != null) {
            return run.numHolders();
        }
        return block < counts.length ? counts[block] : 0;
    }

    /** Adds a reference to a block in no run; returns whether it is the first. */
    boolean hold(int block) {
        return counts[block]++ == 0;
    }

    /** Drops a reference to a block in no run; returns whether it was the last. */
    boolean drop(int block) {
        return --counts[block] == 0;
    }

    /**
     * Returns how many blocks of a table, from a place on, are of one run that begins there; 1 if the first of them is in no
     * such run.
     */
    int numTogether(int[] table, int place, int end) {
        var run = runOf(table[place]);
        return run != null && run.firstPlace() == place ? run.numShared(table, place, end) : 1;
    }

    /**
     * Makes free blocks of a table, in no run so far, a run, or a part of the run in front of them. Fewer than a run has stay
     * as they are.
     *
     * @param path hashes of the table's sequence, or null if it makes no runs
     */
    void join(@Nullable HashPath path, int[] table, int from, int to, @Nullable BlockRun before) {
        if (path != null && (before != null || to - from >= BlockRun.MIN_LENGTH)) {
            joinAll(path, table, from, to, before);
        }
    }

    private void joinAll(HashPath path, int[] table, int from, int to, @Nullable BlockRun before) {
        var run = before;
        if (run == null) {
            run = new BlockRun(path, from, Arrays.copyOfRange(table, from, to), 0);
        } else {
            run.grow(path, table, to);
        }
        if (runs.length == 0) {
            runs = new BlockRun[counts.length];
        }
        for (int i = from; i < to; i++) {
            runs[table[i]] = run;
        }
    }

    /** Makes the blocks of a run, from an index on, another one. */
    void split(BlockRun run, int index) {
        var rest = run.split(index);
        if (rest.length() < BlockRun.MIN_LENGTH) {
            dissolve(rest);
        } else {
            for (int i = 0; i < rest.length(); i++) {
                runs[rest.block(i)] = rest;
            }
        }
    }

    /** Makes the blocks of a run single ones. */
    void dissolve(BlockRun run) {
        for (int i = 0; i < run.length(); i++) {
            runs[run.block(i)] = null;
            counts[run.block(i)] = run.numHolders();
        }
    }

    /** Takes the last blocks of a free run out of it. */
    void removeLast(BlockRun run, int numRemoved) {
        for (int i = run.length() - numRemoved; i < run.length(); i++) {
            runs[run.block(i)] = null;
        }
        run.shorten(numRemoved);
    }

    /** Makes the blocks of all runs single ones; doing it again costs nothing. */
    void dissolveAll() {
        for (int block = 0; block < runs.length; block++) {
            var run = runs[block];
            if (run != null) {
                dissolve(run);
            }
        }
        runs = NO_RUNS;
    }
}

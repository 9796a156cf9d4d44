package understudy.prompt;

import it.unimi.dsi.fastutil.longs.AbstractLongList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Hashes of the blocks of runs, one run behind the other, each from its last block to its first. Immutable. */
public final class ReversedRuns extends AbstractLongList {
    private final List<HashRun> runs;

    /** How many blocks there are up to the end of each run. */
    private final int[] ends;

    /** Creates the list of the blocks of these runs, at least one. */
    public ReversedRuns(List<HashRun> runs) {
        this.runs = List.copyOf(runs);
        ends = new int[runs.size()];
        int end = 0;
        for (int i = 0; i < ends.length; i++) {
            end += runs.get(i).size();
            ends[i] = end;
        }
    }

    public List<HashRun> runs() {
        return runs;
    }

    @Override
    public long getLong(int index) {
        Objects.checkIndex(index, size());
        int found = Arrays.binarySearch(ends, index + 1);
        int run = found < 0 ? -found - 1 : found;
        return runs.get(run).getLong(ends[run] - 1 - index);
    }

    @Override
    public int size() {
        return ends[ends.length - 1];
    }
}

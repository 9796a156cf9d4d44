package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.prompt.HashPath;
import understudy.prompt.HashRun;
import understudy.prompt.ReversedRuns;

/**
 * Collects the events of blocks of which each is one of a sequence. It tells of them in runs, so that whoever indexes them
 * has one entry for many: as a rule blocks are given out again from the end of a sequence to its beginning.
 */
final class RunEventLog extends KvEventLog {
    /** The sequence of each block that was ever stored, and its place there. */
    private @Nullable HashPath[] paths = {};

    private int[] places = {};

    private final List<HashRun> removed = new ArrayList<>();

    /** The run that is being removed, from its last block on; its end is 0 if there is none. */
    private HashPath path = HashPath.EMPTY;

    private int from;
    private int to;

    RunEventLog(boolean enabled) {
        super(enabled);
    }

    /** Adds the event that blocks of a sequence have become findable. */
    void stored(KvEvent.Stored event, HashRun run, KvSequence sequence) {
        stored(event);
        for (int i = run.from(); i < run.to(); i++) {
            int block = sequence.block(i);
            if (block >= places.length) {
                int length = Math.max(64, block * 2);
                paths = Arrays.copyOf(paths, length);
                places = Arrays.copyOf(places, length);
            }
            paths[block] = run.path();
            places[block] = i;
        }
    }

    @Override
    protected void removed(int block, long hash) {
        if (!isEnabled()) {
            return;
        }
        if (from > 0 && path.get(from - 1) == hash) {
            from--;
            return;
        }
        closeRun();
        path = Objects.requireNonNull(paths[block]);
        from = places[block];
        to = from + 1;
    }

    private void closeRun() {
        if (to > 0) {
            removed.add(new HashRun(path, from, to));
            path = HashPath.EMPTY;
            from = 0;
            to = 0;
        }
    }

    @Override
    LongList takeRemoved() {
        closeRun();
        if (removed.isEmpty()) {
            return LongList.of();
        }
        var taken = new ReversedRuns(removed);
        removed.clear();
        return taken;
    }
}

package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.List;
import understudy.kvcache.eviction.PrefixTable;

/** Blocks that were found in groups that are looked up together; they all have equally many. */
final class GroupHits {
    private GroupHits() {}

    /**
     * Finds blocks without a gap, behind {@code first} that count as found.
     *
     * @return how many there are now
     */
    static int fromLeft(
            GroupManager manager,
            HybridSequence sequence,
            int[] equals,
            int first,
            int limit,
            List<IntArrayList> hits) {
        fillWithNulls(equals, first, hits);
        var found = new int[equals.length];
        int size = first;
        while (size < limit && manager.lookUp(sequence, equals, size, found)) {
            for (int k = 0; k < equals.length; k++) {
                hits.get(equals[k]).add(found[k]);
            }
            size++;
        }
        return size;
    }

    /** Makes hits that hold nothing but null blocks. */
    static void fillWithNulls(int[] equals, int count, List<IntArrayList> hits) {
        for (int group : equals) {
            hits.get(group).clear();
            for (int i = 0; i < count; i++) {
                hits.get(group).add(PrefixTable.NULL_BLOCK);
            }
        }
    }

    static void set(int[] equals, int index, int[] found, List<IntArrayList> hits) {
        for (int k = 0; k < equals.length; k++) {
            hits.get(equals[k]).set(index, found[k]);
        }
    }

    /** Leaves out all blocks from {@code size} on. */
    static void cut(int[] equals, int size, List<IntArrayList> hits) {
        for (int group : equals) {
            hits.get(group).size(size);
        }
    }
}

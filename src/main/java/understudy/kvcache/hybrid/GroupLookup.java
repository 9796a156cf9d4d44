package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Stream;
import understudy.kvcache.KvGroup;

/**
 * Search for the longest prefix that all groups can continue (vLLM {@code HybridKVCacheCoordinator}): groups of one kind
 * are looked up together, full attention first, and each may cut what those before it have found, until all agree.
 */
final class GroupLookup {
    private final List<GroupManager> groups;
    private final List<int[]> sets;
    private final boolean dropsLastHit;
    private final boolean startsWithFull;
    private final List<IntArrayList> hits;

    /** The first group of each set whose dropped block is found already. */
    private final IntOpenHashSet verified = new IntOpenHashSet();

    private int numTokens;
    private int numFullTokens;
    private int longest;

    GroupLookup(List<GroupManager> groups, boolean dropsLastHit) {
        this.groups = groups;
        this.dropsLastHit = dropsLastHit;
        sets = sets(groups);
        startsWithFull = isFull(sets.get(0));
        hits = Stream.generate(IntArrayList::new).limit(groups.size()).toList();
    }

    private static List<int[]> sets(List<GroupManager> groups) {
        var byKind = new LinkedHashMap<KvGroup, IntArrayList>();
        for (var manager : groups) {
            byKind.computeIfAbsent(manager.group, g -> new IntArrayList()).add(manager.index());
        }
        var sets = new ArrayList<int[]>();
        byKind.forEach((group, members) ->
                sets.add(group.kind() == KvGroup.Kind.FULL_ATTENTION ? 0 : sets.size(), members.toIntArray()));
        return sets;
    }

    private boolean isFull(int[] set) {
        return groups.get(set[0]).group.kind() == KvGroup.Kind.FULL_ATTENTION;
    }

    /** Returns the blocks that the last search has found for a group; null blocks where nothing is needed. */
    IntList hits(int group) {
        return hits.get(group);
    }

    /** Returns how many leading tokens the last search has found. */
    int numTokens() {
        return numTokens;
    }

    /** Returns how many leading tokens are cached for some groups, if more than for all; else 0. */
    int numJunctionTokens() {
        return longest > numTokens ? longest : 0;
    }

    boolean isEmpty() {
        return hits.stream().allMatch(Collection::isEmpty);
    }

    /** Finds nothing. */
    void clear() {
        hits.forEach(IntArrayList::clear);
        numTokens = 0;
        longest = 0;
    }

    /** Searches for at most {@code limit} tokens. */
    void find(HybridSequence sequence, int limit) {
        clear();
        if (groups.size() == 1) {
            numTokens = groups.get(0).find(sequence, sets.get(0), limit, dropsLastHit, hits);
            return;
        }
        verified.clear();
        int goal = limit;
        int found = findOnce(sequence, goal, limit, false);
        while (found < goal) {
            goal = found;
            if (sets.size() == 2 && startsWithFull) {
                break;
            }
            found = findOnce(sequence, goal, limit, true);
        }
        numTokens = goal;
        if (startsWithFull) {
            var full = groups.get(sets.get(0)[0]);
            GroupHits.cut(sets.get(0), full.group.numBlocks(numTokens), hits);
        }
    }

    private int findOnce(HybridSequence sequence, int goal, int limit, boolean isFullKnown) {
        int current = goal;
        for (var set : sets) {
            var manager = groups.get(set[0]);
            if (isFullKnown && isFull(set)) {
                current = Math.min(current, numFullTokens);
                continue;
            }
            boolean drops = dropsLastHit && !verified.contains(set[0]);
            boolean mayLookBehind = drops && manager.group.kind() != KvGroup.Kind.MAMBA;
            int top = mayLookBehind ? Math.min(current + manager.blockSize, limit) : current;
            int found = manager.find(sequence, set, top, drops, hits);
            numFullTokens = isFull(set) ? found : numFullTokens;
            if (drops) {
                verified.add(set[0]);
            } else if (found < current) {
                verified.clear();
            }
            current = found;
            longest = Math.max(longest, current);
        }
        return current;
    }
}

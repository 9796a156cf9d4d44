package understudy.routing.index;

import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup;
import understudy.prompt.HashIndex;
import understudy.prompt.HashPath;
import understudy.prompt.HashRun;
import understudy.prompt.ReversedRuns;

/**
 * Index of the replicas that hold each block, as far as their KV events tell.
 *
 * <p>Where events tell which part of a sequence blocks are, they are in a {@link RunIndex}, with one entry for a run of
 * blocks. Others are known by their hashes alone: those of a memory with groups of layers, or in a host's memory, and what
 * a router without events assumes. These lie in rows, those that were stored together side by side; rows with the same
 * holders share one set of replicas, so that a prompt is matched run by run: within a run, a block costs the comparison of
 * its hash with the next one in memory. A row takes 20 to 36 bytes for its hash, its set and its successor, 16 to 32 in the
 * table of hashes, and its share of a set of one bit per replica.
 *
 * <p>It does not count copies. A replica that holds the same content twice reports it stored twice and removed twice,
 * and counts as without it after the first removal; vLLM's consumers see the same. Of a replica with several KV cache
 * groups only the first one of full attention counts: the others keep what a prompt needs besides. Not thread safe.
 */
public final class PrefixIndex {
    private static final int FIRST_ROWS = 1024;
    private static final long[] NO_HASHES = {};

    private final HashIndex rows = new HashIndex(FIRST_ROWS);
    private final RowSegments segments = new RowSegments();
    private final HolderSets holders;
    private final RunIndex runs = new RunIndex();

    /** The group that counts, by replica; the first unless a replica has several. */
    private final Int2IntOpenHashMap groups = new Int2IntOpenHashMap();

    /** The set of each row, with one more row at the end; {@link HolderSets#NONE} for a row that is not in use. */
    private int[] sets = new int[FIRST_ROWS];

    /** Creates an empty index for replicas 0 to {@code numReplicas - 1}. */
    public PrefixIndex(int numReplicas) {
        holders = new HolderSets(numReplicas);
    }

    /** Returns how many replicas there is room for. */
    public int maxReplicas() {
        return holders.wordsPerSet() * Long.SIZE;
    }

    /** Makes room for more replicas, if there is less. */
    public void growTo(int numReplicas) {
        holders.growTo(numReplicas);
    }

    /** Returns how many block hashes some replica holds. */
    public int size() {
        return rows.size() + runs.size();
    }

    /** Reads ahead what {@link #apply} is going to look up; see {@link HashIndex#touch}. */
    public void touch(List<KvEvent> events) {
        for (int i = 0; i < events.size(); i++) {
            var event = events.get(i);
            if (event instanceof KvEvent.Stored stored && !isInRuns(stored.blockHashes())) {
                touch(stored);
            } else if (event instanceof KvEvent.Removed removed && !isInRuns(removed.blockHashes())) {
                touch(removed.blockHashes());
            }
        }
    }

    private static boolean isInRuns(LongList blockHashes) {
        return blockHashes instanceof HashRun || blockHashes instanceof ReversedRuns;
    }

    private void touch(KvEvent.Stored stored) {
        rows.touch(stored.parentHash());
        touch(stored.blockHashes());
    }

    /** Applies the events of one step of a replica, in order. */
    public void apply(int replica, List<KvEvent> events) {
        for (int i = 0; i < events.size(); i++) {
            var event = events.get(i);
            if (event instanceof KvEvent.Stored stored) {
                if (stored.blockHashes() instanceof HashRun run) {
                    runs.store(replica, run);
                } else if (counts(replica, stored.range())) {
                    store(replica, stored);
                }
            } else if (event instanceof KvEvent.StoredEach each) {
                runs.store(replica, each.blockHashes());
            } else if (event instanceof KvEvent.Removed removed) {
                if (removed.blockHashes() instanceof HashRun run) {
                    runs.remove(replica, run);
                } else if (removed.blockHashes() instanceof ReversedRuns reversed) {
                    removeAll(replica, reversed.runs());
                } else if (removed.groupIndex() == groups.get(replica)) {
                    exclude(replica, removed.blockHashes());
                }
            } else if (event instanceof KvEvent.Cleared) {
                clear(replica);
            }
        }
    }

    private void removeAll(int replica, List<HashRun> removed) {
        for (int i = 0; i < removed.size(); i++) {
            runs.remove(replica, removed.get(i));
        }
    }

    private boolean counts(int replica, KvEvent.@Nullable GroupRange range) {
        if (range == null) {
            return true;
        }
        boolean isFull = range.group().kind() == KvGroup.Kind.FULL_ATTENTION;
        if (isFull) {
            groups.putIfAbsent(replica, range.index());
        }
        return isFull && groups.get(replica) == range.index();
    }

    /**
     * Finds how many leading blocks of a prompt each replica holds. A replica's blocks are all in the rows, or all in runs.
     *
     * @param path the prompt's block hashes
     * @param overlaps takes the answer, by replica; as long as {@link #maxReplicas}
     * @return the replicas that hold the most; none if no replica holds the first block
     */
    public BitSet match(HashPath path, int[] overlaps) {
        var inRows = match(rows.size() == 0 ? NO_HASHES : path.toArray(), overlaps);
        var inRuns = runs.match(path, overlaps);
        int most = Math.max(overlap(inRows, overlaps), overlap(inRuns, overlaps));
        var all = new BitSet();
        for (var found : List.of(inRows, inRuns)) {
            if (overlap(found, overlaps) == most) {
                all.or(found);
            }
        }
        return all;
    }

    private static int overlap(BitSet most, int[] overlaps) {
        return most.isEmpty() ? 0 : overlaps[most.nextSetBit(0)];
    }

    /**
     * Finds how many leading blocks of a prompt each replica holds in the rows.
     *
     * @param blockHashes the prompt's block hashes
     * @param overlaps takes the answer, by replica; as long as {@link #maxReplicas}
     * @return the replicas that hold the most; none if no replica holds the first block
     */
    private BitSet match(long[] blockHashes, int[] overlaps) {
        Arrays.fill(overlaps, 0);
        var left = new long[holders.wordsPerSet()];
        Arrays.fill(left, -1);
        int row = HashIndex.NONE;
        int set = HolderSets.NONE;
        for (int block = 0; block < blockHashes.length; block++) {
            row = next(row, blockHashes[block]);
            if (row != HashIndex.NONE && sets[row] == set) {
                continue;
            }
            set = sets[row];
            if (!isAnyIn(set, left)) {
                return countAll(left, block, overlaps);
            }
            retain(left, set, block, overlaps);
        }
        return countAll(left, blockHashes.length, overlaps);
    }

    private int next(int row, long hash) {
        boolean isAdjacent = sets[row + 1] != HolderSets.NONE && rows.hashOf(row + 1) == hash;
        return isAdjacent ? row + 1 : rows.findNext(row, hash);
    }

    private boolean isAnyIn(int set, long[] left) {
        long any = 0;
        for (int i = 0; i < left.length; i++) {
            any |= left[i] & holders.word(set, i);
        }
        return any != 0;
    }

    /** Keeps the replicas of one more set, and counts the blocks of those that drop out. */
    private void retain(long[] left, int set, int numBlocks, int[] overlaps) {
        for (int i = 0; i < left.length; i++) {
            long kept = left[i] & holders.word(set, i);
            if (kept != left[i]) {
                count(i, left[i] & ~kept, numBlocks, overlaps);
                left[i] = kept;
            }
        }
    }

    /** Counts the blocks of all replicas that are left, and returns these if they have any. */
    private static BitSet countAll(long[] left, int numBlocks, int[] overlaps) {
        for (int i = 0; i < left.length; i++) {
            count(i, left[i], numBlocks, overlaps);
        }
        return numBlocks == 0 ? new BitSet() : BitSet.valueOf(left);
    }

    private static void count(int word, long replicas, int numBlocks, int[] overlaps) {
        if (numBlocks == 0) {
            return;
        }
        for (long rest = replicas; rest != 0; rest &= rest - 1) {
            overlaps[word * Long.SIZE + Long.numberOfTrailingZeros(rest)] = numBlocks;
        }
    }

    /** Adds a replica to the holders of a prompt's leading blocks. */
    public void store(int replica, LongList blockHashes) {
        touch(blockHashes);
        store(replica, blockHashes, HashIndex.NONE);
    }

    private void store(int replica, KvEvent.Stored stored) {
        store(replica, stored.blockHashes(), stored.hasParent() ? rows.find(stored.parentHash()) : HashIndex.NONE);
    }

    private void store(int replica, LongList blockHashes, int parent) {
        int row = parent;
        int first = HashIndex.NONE;
        boolean isNew = false;
        for (int i = 0; i < blockHashes.size(); i++) {
            int previous = row;
            long hash = blockHashes.getLong(i);
            // Behind a new block comes another new one as a rule, so next() would guess in vain.
            row = isNew ? rows.find(hash) : next(previous, hash);
            isNew = row == HashIndex.NONE;
            if (isNew) {
                row = addRow(previous, hash);
            }
            if (row != previous + 1 || first == HashIndex.NONE || sets[row] != sets[first]) {
                include(replica, first, previous);
                first = row;
            }
        }
        include(replica, first, row);
    }

    private void touch(LongList blockHashes) {
        for (int i = 0; i < blockHashes.size(); i++) {
            rows.touch(blockHashes.getLong(i));
        }
    }

    private int addRow(int previous, long hash) {
        int row = segments.take(previous);
        if (row + 1 >= sets.length) {
            sets = Arrays.copyOf(sets, sets.length * 2);
        }
        rows.put(row, hash);
        return row;
    }

    /** Adds a replica to the holders of some rows, which share a set or are new. */
    private void include(int replica, int first, int last) {
        if (first != HashIndex.NONE && !holders.contains(sets[first], replica)) {
            change(replica, first, last);
        }
    }

    /** Removes a replica from the holders of blocks. */
    public void remove(int replica, LongList blockHashes) {
        touch(blockHashes);
        exclude(replica, blockHashes);
    }

    /** Engines evict a prompt from its end: as a rule the next block lies in the row before, and has the same holders. */
    private void exclude(int replica, LongList blockHashes) {
        int first = HashIndex.NONE;
        int last = HashIndex.NONE;
        for (int i = 0; i < blockHashes.size(); i++) {
            long hash = blockHashes.getLong(i);
            if (isInUse(first - 1) && rows.hashOf(first - 1) == hash && sets[first - 1] == sets[first]) {
                first--;
                continue;
            }
            exclude(replica, first, last);
            first = rows.find(hash);
            last = first;
        }
        exclude(replica, first, last);
    }

    private boolean isInUse(int row) {
        return row > HashIndex.NONE && sets[row] != HolderSets.NONE;
    }

    private void clear(int replica) {
        runs.clear(replica);
        int end = segments.end();
        for (int first = RowSegments.ROWS; first < end; ) {
            int last = first;
            while (last + 1 < end && sets[last + 1] == sets[first]) {
                last++;
            }
            exclude(replica, first, last);
            first = last + 1;
        }
    }

    /** Removes a replica from the holders of some rows, which share a set; rows without holders are given back. */
    private void exclude(int replica, int first, int last) {
        int set = sets[first];
        if (!holders.contains(set, replica)) {
            return;
        }
        if (!holders.isOnly(set, replica)) {
            change(replica, first, last);
            return;
        }
        assign(first, last, HolderSets.NONE);
        for (int row = last; row >= first; row--) {
            rows.remove(row);
            segments.giveBack(row);
        }
    }

    /**
     * Gives some rows, which share a set, one that differs in a replica: that of a neighbour, their own if no other row
     * has it, or a new one.
     */
    private void change(int replica, int first, int last) {
        int set = sets[first];
        if (isSetOf(first - 1, replica, set)) {
            assign(first, last, sets[first - 1]);
        } else if (isSetOf(last + 1, replica, set)) {
            assign(first, last, sets[last + 1]);
        } else if (set != HolderSets.NONE && holders.numRows(set) == last - first + 1) {
            holders.flip(set, replica);
        } else {
            assign(first, last, holders.copyButFor(replica, set));
        }
    }

    private boolean isSetOf(int row, int replica, int set) {
        return sets[row] != HolderSets.NONE && holders.differOnlyIn(replica, sets[row], set);
    }

    private void assign(int first, int last, int set) {
        int count = last - first + 1;
        holders.addRows(set, count);
        holders.addRows(sets[first], -count);
        Arrays.fill(sets, first, last + 1, set);
    }
}

package understudy.routing;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import java.util.List;
import understudy.kvcache.KvEvent;
import understudy.prompt.HashIndex;

/**
 * Index of the replicas that hold each block, as far as their KV events tell: a set of replicas for each block hash.
 *
 * <p>It does not count copies. A replica that holds the same content twice reports it stored twice and removed twice,
 * and counts as without it after the first removal; vLLM's consumers see the same.
 */
public final class PrefixIndex {
    private static final int FIRST_ROWS = 1024;

    private final HashIndex rows = new HashIndex(FIRST_ROWS);
    private final IntArrayList unusedRows = new IntArrayList();
    private int wordsPerRow;
    private long[] words;
    private int lastRow;

    /** Creates an empty index for replicas 0 to {@code numReplicas - 1}. */
    public PrefixIndex(int numReplicas) {
        wordsPerRow = (numReplicas + Long.SIZE - 1) / Long.SIZE;
        words = new long[wordsPerRow * (FIRST_ROWS + 1)];
    }

    int maxReplicas() {
        return wordsPerRow * Long.SIZE;
    }

    /** Makes room for more replicas, if there is less. */
    void growTo(int numReplicas) {
        int wider = (numReplicas + Long.SIZE - 1) / Long.SIZE;
        if (wider <= wordsPerRow) {
            return;
        }
        var widerWords = new long[words.length / wordsPerRow * wider];
        for (int row = 0; row <= lastRow; row++) {
            System.arraycopy(words, row * wordsPerRow, widerWords, row * wider, wordsPerRow);
        }
        words = widerWords;
        wordsPerRow = wider;
    }

    /** Applies the events of one step of a replica, in order. */
    public void apply(int replica, List<KvEvent> events) {
        for (var event : events) {
            if (event instanceof KvEvent.Stored stored) {
                add(replica, stored.blockHashes());
            } else if (event instanceof KvEvent.Removed removed) {
                remove(replica, removed.blockHashes());
            } else {
                clear(replica);
            }
        }
    }

    /** Returns how many block hashes some replica holds. */
    public int size() {
        return rows.size();
    }

    /**
     * Finds how many leading blocks of a prompt each replica holds.
     *
     * @param blockHashes the prompt's block hashes
     * @param overlaps takes the answer, by replica
     */
    public void match(long[] blockHashes, int[] overlaps) {
        Arrays.fill(overlaps, 0);
        var holders = new long[wordsPerRow];
        Arrays.fill(holders, -1);
        int row = HashIndex.NONE;
        for (int block = 0; block < blockHashes.length; block++) {
            row = rows.findNext(row, blockHashes[block]);
            if (row == HashIndex.NONE) {
                count(holders, block, overlaps);
                return;
            }
            if (!retain(holders, row, block, overlaps)) {
                return;
            }
        }
        count(holders, blockHashes.length, overlaps);
    }

    /** Keeps the replicas that hold one more block, and counts those that do not; returns whether any is left. */
    private boolean retain(long[] holders, int row, int numBlocks, int[] overlaps) {
        long any = 0;
        for (int i = 0; i < wordsPerRow; i++) {
            long kept = holders[i] & words[row * wordsPerRow + i];
            if (kept != holders[i]) {
                count(i, holders[i] & ~kept, numBlocks, overlaps);
                holders[i] = kept;
            }
            any |= kept;
        }
        return any != 0;
    }

    private static void count(long[] holders, int numBlocks, int[] overlaps) {
        for (int i = 0; i < holders.length; i++) {
            count(i, holders[i], numBlocks, overlaps);
        }
    }

    private static void count(int word, long replicas, int numBlocks, int[] overlaps) {
        for (long left = replicas; left != 0; left &= left - 1) {
            overlaps[word * Long.SIZE + Long.numberOfTrailingZeros(left)] = numBlocks;
        }
    }

    private void add(int replica, LongList blockHashes) {
        touch(blockHashes);
        for (int i = 0; i < blockHashes.size(); i++) {
            long hash = blockHashes.getLong(i);
            int row = rows.find(hash);
            if (row == HashIndex.NONE) {
                row = newRow();
                rows.put(row, hash);
            }
            words[row * wordsPerRow + replica / Long.SIZE] |= 1L << replica;
        }
    }

    private void touch(LongList blockHashes) {
        for (int i = 0; i < blockHashes.size(); i++) {
            rows.touch(blockHashes.getLong(i));
        }
    }

    private void remove(int replica, LongList blockHashes) {
        touch(blockHashes);
        for (int i = 0; i < blockHashes.size(); i++) {
            long hash = blockHashes.getLong(i);
            int row = rows.find(hash);
            if (row != HashIndex.NONE && removeHolder(row, replica)) {
                rows.remove(row);
                unusedRows.push(row);
            }
        }
    }

    private void clear(int replica) {
        for (int row = 1; row <= lastRow; row++) {
            if (isHeld(row) && removeHolder(row, replica)) {
                rows.remove(row);
                unusedRows.push(row);
            }
        }
    }

    /** Removes a replica from a row, and returns whether the row is empty now. */
    private boolean removeHolder(int row, int replica) {
        words[row * wordsPerRow + replica / Long.SIZE] &= ~(1L << replica);
        return !isHeld(row);
    }

    private boolean isHeld(int row) {
        long any = 0;
        for (int i = 0; i < wordsPerRow; i++) {
            any |= words[row * wordsPerRow + i];
        }
        return any != 0;
    }

    private int newRow() {
        if (!unusedRows.isEmpty()) {
            return unusedRows.popInt();
        }
        lastRow++;
        if ((lastRow + 1) * wordsPerRow > words.length) {
            words = Arrays.copyOf(words, words.length * 2);
        }
        return lastRow;
    }
}

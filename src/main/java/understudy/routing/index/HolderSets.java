package understudy.routing.index;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.Arrays;

/**
 * Sets of replicas, each shared by a number of rows: a bit for each replica, by set. Set 0 is empty and belongs to no
 * row in use. Not thread safe.
 */
final class HolderSets {
    static final int NONE = 0;

    private final IntArrayList unused = new IntArrayList();
    private int[] numRows = new int[128];
    private int wordsPerSet;
    private long[] words;
    private int numSets = 1;

    HolderSets(int numReplicas) {
        wordsPerSet = wordsFor(numReplicas);
        words = new long[wordsPerSet * numRows.length];
    }

    private static int wordsFor(int numReplicas) {
        return (numReplicas + Long.SIZE - 1) / Long.SIZE;
    }

    int wordsPerSet() {
        return wordsPerSet;
    }

    /** Makes room for more replicas, if there is less. */
    void growTo(int numReplicas) {
        int wider = wordsFor(numReplicas);
        if (wider <= wordsPerSet) {
            return;
        }
        var widerWords = new long[numRows.length * wider];
        for (int set = 0; set < numSets; set++) {
            System.arraycopy(words, set * wordsPerSet, widerWords, set * wider, wordsPerSet);
        }
        words = widerWords;
        wordsPerSet = wider;
    }

    long word(int set, int index) {
        return words[set * wordsPerSet + index];
    }

    boolean contains(int set, int replica) {
        return (word(set, replica / Long.SIZE) & 1L << replica) != 0;
    }

    /** Returns whether a set has this replica and no other. */
    boolean isOnly(int set, int replica) {
        for (int i = 0; i < wordsPerSet; i++) {
            if (word(set, i) != (i == replica / Long.SIZE ? 1L << replica : 0)) {
                return false;
            }
        }
        return true;
    }

    /** Returns how many rows share a set. */
    int numRows(int set) {
        return numRows[set];
    }

    /** Counts rows that share a set from now on, or do so no more; a set without rows is given up. */
    void addRows(int set, int change) {
        numRows[set] += change;
        if (numRows[set] == 0 && set != NONE) {
            Arrays.fill(words, set * wordsPerSet, (set + 1) * wordsPerSet, 0);
            unused.push(set);
        }
    }

    /** Adds a replica to a set, or removes it. */
    void flip(int set, int replica) {
        words[set * wordsPerSet + replica / Long.SIZE] ^= 1L << replica;
    }

    /** Returns whether one set is another one but for this replica, which one of them has. */
    boolean differOnlyIn(int replica, int set, int other) {
        for (int i = 0; i < wordsPerSet; i++) {
            long difference = word(set, i) ^ word(other, i);
            if (difference != (i == replica / Long.SIZE ? 1L << replica : 0)) {
                return false;
            }
        }
        return true;
    }

    /** Returns a new set without rows, equal to another one but for this replica. */
    int copyButFor(int replica, int set) {
        int copy = unused.isEmpty() ? addSet() : unused.popInt();
        System.arraycopy(words, set * wordsPerSet, words, copy * wordsPerSet, wordsPerSet);
        flip(copy, replica);
        return copy;
    }

    private int addSet() {
        if (numSets == numRows.length) {
            numRows = Arrays.copyOf(numRows, numSets * 2);
            words = Arrays.copyOf(words, numSets * 2 * wordsPerSet);
        }
        return numSets++;
    }
}

package understudy.replay.cache;

/**
 * A set of access numbers that knows its greatest: a bit for each number, and above that a bit for each word that is
 * not empty, and so on up to a single word. All it does takes as many steps as there are levels, three for 262,144
 * accesses.
 */
final class AccessSet {
    private static final int WORD_SHIFT = 6;

    private final long[][] levels;

    /** Creates an empty set for numbers from 0 to {@code numAccesses - 1}. */
    AccessSet(int numAccesses) {
        int numLevels = 1;
        while ((numAccesses - 1L) >> (WORD_SHIFT * numLevels) > 0) {
            numLevels++;
        }
        levels = new long[numLevels][];
        int numBits = numAccesses;
        for (int level = 0; level < numLevels; level++) {
            numBits = (numBits + Long.SIZE - 1) >>> WORD_SHIFT;
            levels[level] = new long[numBits];
        }
    }

    /** Adds a number that is not here. */
    void add(int number) {
        int at = number;
        for (long[] words : levels) {
            int word = at >> WORD_SHIFT;
            long before = words[word];
            words[word] = before | 1L << at;
            if (before != 0) {
                return;
            }
            at = word;
        }
    }

    /** Removes a number, and returns whether it was here. */
    boolean remove(int number) {
        if ((levels[0][number >> WORD_SHIFT] & 1L << number) == 0) {
            return false;
        }
        int at = number;
        for (long[] words : levels) {
            int word = at >> WORD_SHIFT;
            words[word] &= ~(1L << at);
            if (words[word] != 0) {
                return true;
            }
            at = word;
        }
        return true;
    }

    /** Returns the greatest number; the set must not be empty. */
    int last() {
        int at = 0;
        for (int level = levels.length - 1; level >= 0; level--) {
            at = (at << WORD_SHIFT) + Long.SIZE - 1 - Long.numberOfLeadingZeros(levels[level][at]);
        }
        return at;
    }
}

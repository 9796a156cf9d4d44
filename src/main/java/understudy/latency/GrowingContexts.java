package understudy.latency;

import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;

/**
 * Contexts of sequences that all grow by one token per step: their number, their sum, and their lengths by power of
 * two. A step takes time in proportion to the powers of two, not to the sequences.
 */
public final class GrowingContexts {
    private final ContextHistogram lengths = new ContextHistogram();

    /** How many sequences would have had no tokens at a step: that and the step tell how long each of them is. */
    private final Int2IntOpenHashMap numByOrigin = new Int2IntOpenHashMap();

    private int step;
    private int size;
    private long sum;

    /** Adds a sequence that attends to {@code length} tokens in the next step, at least 1. */
    public void add(int length) {
        change(length, 1);
    }

    /** Removes a sequence that would attend to {@code length} tokens in the next step. */
    public void remove(int length) {
        change(length, -1);
    }

    private void change(int length, int count) {
        size += count;
        sum += (long) count * length;
        lengths.add(length, count);
        int origin = step - length;
        if (numByOrigin.addTo(origin, count) + count == 0) {
            numByOrigin.remove(origin);
        }
    }

    /** Removes all sequences. */
    public void clear() {
        size = 0;
        sum = 0;
        lengths.clear();
        numByOrigin.clear();
    }

    /** Lets all sequences grow by a token. */
    public void grow() {
        step++;
        sum += size;
        lengths.grow();
        for (int bucket = 1; bucket <= lengths.numBuckets(); bucket++) {
            int numGrownInto = lengths.isEmpty(bucket - 1) ? 0 : numByOrigin.get(step - (1 << bucket));
            if (numGrownInto > 0) {
                lengths.promote(bucket, numGrownInto);
            }
        }
    }

    int size() {
        return size;
    }

    long sum() {
        return sum;
    }

    ContextHistogram lengths() {
        return lengths;
    }
}

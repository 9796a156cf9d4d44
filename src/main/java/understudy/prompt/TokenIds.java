package understudy.prompt;

import java.util.Arrays;

/** Token ids given explicitly, as they come from a tokenizer. */
public final class TokenIds implements TokenSequence {
    /** No ids. */
    static final TokenIds NONE = new TokenIds();

    private final int[] ids;

    /** Copies {@code ids}. */
    public TokenIds(int... ids) {
        this.ids = ids.clone();
    }

    /** Returns a copy of the ids. */
    public int[] toArray() {
        return ids.clone();
    }

    /** Returns how many of {@code count} ids are equal to those of others, up to the first that is not. */
    int numEqual(int from, TokenIds others, int fromOthers, int count) {
        int mismatch = Arrays.mismatch(ids, from, from + count, others.ids, fromOthers, fromOthers + count);
        return mismatch < 0 ? count : mismatch;
    }

    @Override
    public int length() {
        return ids.length;
    }

    @Override
    public int tokenAt(int index) {
        return ids[index];
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        System.arraycopy(ids, from, into, at, count);
    }
}

package understudy.prompt;

/** Token ids given explicitly, as they come from a tokenizer. */
public final class TokenIds implements TokenSequence {
    private final int[] ids;

    /** Copies {@code ids}. */
    public TokenIds(int... ids) {
        this.ids = ids.clone();
    }

    /** Returns a copy of the ids. */
    public int[] toArray() {
        return ids.clone();
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

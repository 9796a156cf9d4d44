package understudy.prompt;

/**
 * The beginning of another run of tokens.
 *
 * @param whole the run, which has {@code length} tokens or more
 * @param length number of its tokens that are left, at least 0
 */
public record TokenPrefix(TokenSource whole, int length) implements TokenSequence {
    @Override
    public int tokenAt(int index) {
        return whole.tokenAt(index);
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        whole.copy(from, count, into, at);
    }
}

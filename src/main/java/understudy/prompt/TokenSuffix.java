package understudy.prompt;

/**
 * The end of another run of tokens.
 *
 * @param whole the run
 * @param start position of the first token that is left, from 0 to the length of {@code whole}
 */
public record TokenSuffix(TokenSequence whole, int start) implements TokenSequence {
    @Override
    public int length() {
        return whole.length() - start;
    }

    @Override
    public int tokenAt(int index) {
        return whole.tokenAt(start + index);
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        whole.copy(start + from, count, into, at);
    }
}

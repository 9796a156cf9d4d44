package understudy.engine;

import understudy.prompt.TokenSource;

/**
 * What the model is going to answer, which nobody but the model may know before it is sampled.
 *
 * <p>Tokens come out one at a time, by {@link #sample()}. Whoever asks for a token that has not been sampled is counted in
 * {@link #numPeeks()}; a run whose counter is not 0 has broken the rule that nothing in control of a request reads its
 * true output length.
 */
public final class OutputScript implements TokenSource {
    /** A length for answers that go on until the token limit, as with {@code ignore_eos}. */
    public static final int ENDLESS = Integer.MAX_VALUE;

    private final TokenSource tokens;
    private final int length;
    private int numSampled;
    private int numPeeks;

    /**
     * Creates a script.
     *
     * @param tokens the answer's token ids
     * @param length number of tokens up to and including the end-of-sequence token, at least 1, or {@link #ENDLESS}
     */
    public OutputScript(TokenSource tokens, int length) {
        if (length < 1) {
            throw new IllegalArgumentException("an answer has at least one token: " + length);
        }
        this.tokens = tokens;
        this.length = length;
    }

    /** Samples the next token and returns whether it is the end-of-sequence token. */
    public boolean sample() {
        return ++numSampled == length;
    }

    /** Returns a token that has been sampled. */
    @Override
    public int tokenAt(int index) {
        if (index >= numSampled) {
            numPeeks++;
        }
        return tokens.tokenAt(index);
    }

    /** Returns how often somebody asked for a token before it was sampled. */
    public int numPeeks() {
        return numPeeks;
    }
}

package understudy.engine;

import understudy.prompt.TokenSource;

/**
 * Plan of an answer: its tokens and its end. Only the {@link OutputSampler} of a replica may read its length.
 *
 * @param tokens the answer's token ids
 * @param length number of tokens up to and including the end-of-sequence token, at least 1, or {@link #ENDLESS}
 */
public record OutputPlan(TokenSource tokens, int length) {
    /** A length for answers that go on until the token limit, as with {@code ignore_eos}. */
    public static final int ENDLESS = Integer.MAX_VALUE;

    /** Checks the length. */
    public OutputPlan {
        if (length < 1) {
            throw new IllegalArgumentException("an answer has at least one token: " + length);
        }
    }

    /** Returns the rest of the answer behind its first {@code count} tokens, which did not end it. */
    OutputPlan after(int count) {
        var rest = tokens;
        return new OutputPlan(
                index -> rest.tokenAt(count + index), length > count && length < ENDLESS ? length - count : ENDLESS);
    }
}

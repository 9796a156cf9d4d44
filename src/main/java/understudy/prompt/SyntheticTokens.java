package understudy.prompt;

import it.unimi.dsi.fastutil.HashCommon;

/**
 * An endless run of token ids that is a pure function of a segment number: equal segments give equal tokens, and
 * different segments have nothing in common. Traces and generators describe prompts by segments instead of tokens.
 *
 * @param segment any number; the whole of it matters
 */
public record SyntheticTokens(long segment) implements TokenSource {
    /** Ids stay below the smallest vocabulary of common models, so that they are valid everywhere. */
    public static final int VOCABULARY = 32_000;

    private static final int TOKENS_PER_WORD = 4;
    private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

    @Override
    public int tokenAt(int index) {
        return tokenOf(word(index / TOKENS_PER_WORD), index);
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        long word = 0;
        for (int i = 0; i < count; i++) {
            int index = from + i;
            if (i == 0 || index % TOKENS_PER_WORD == 0) {
                word = word(index / TOKENS_PER_WORD);
            }
            into[at + i] = tokenOf(word, index);
        }
    }

    /** Hashes segment and position; one word carries four tokens of 16 bits. */
    private long word(int wordIndex) {
        return HashCommon.murmurHash3(HashCommon.murmurHash3(segment) + (wordIndex + 1) * GOLDEN_RATIO);
    }

    private static int tokenOf(long word, int index) {
        int bits = (int) (word >>> (16 * (index % TOKENS_PER_WORD))) & 0xFFFF;
        return (bits * VOCABULARY) >>> 16;
    }
}

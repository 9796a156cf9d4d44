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
        return tokenOf(word(start(), index / TOKENS_PER_WORD), index % TOKENS_PER_WORD);
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        long start = start();
        int wordIndex = from / TOKENS_PER_WORD;
        int skipped = from % TOKENS_PER_WORD;
        int end = at + count;
        int to = at;
        if (skipped > 0) {
            to = copyWord(word(start, wordIndex++), skipped, into, to, end);
        }
        for (; to <= end - TOKENS_PER_WORD; to += TOKENS_PER_WORD) {
            long word = word(start, wordIndex++);
            into[to] = tokenOf(word, 0);
            into[to + 1] = tokenOf(word, 1);
            into[to + 2] = tokenOf(word, 2);
            into[to + 3] = tokenOf(word, 3);
        }
        if (to < end) {
            copyWord(word(start, wordIndex), 0, into, to, end);
        }
    }

    /** Copies the tokens of a word from one on, as long as there is room, and returns the position behind them. */
    private static int copyWord(long word, int first, int[] into, int at, int end) {
        int to = at;
        for (int place = first; place < TOKENS_PER_WORD && to < end; place++) {
            into[to++] = tokenOf(word, place);
        }
        return to;
    }

    private long start() {
        return HashCommon.murmurHash3(segment);
    }

    /** Hashes segment and position; one word carries four tokens of 16 bits. */
    private static long word(long start, int wordIndex) {
        return HashCommon.murmurHash3(start + (wordIndex + 1) * GOLDEN_RATIO);
    }

    private static int tokenOf(long word, int place) {
        int bits = (int) (word >>> (16 * place)) & 0xFFFF;
        return (bits * VOCABULARY) >>> 16;
    }
}

package understudy.kvcache;

import java.util.Locale;

/**
 * KV cache group: layers that need the same part of a sequence, and share a block table (vLLM {@code KVCacheSpec}).
 *
 * @param kind which part that is
 * @param blockSize tokens per block, at least 1
 * @param span tokens of the window, or of a chunk; at least 1, and 0 for the other kinds
 */
public record KvGroup(Kind kind, int blockSize, int span) {
    /** The running state, and the one that it comes from ({@code MambaSpec.max_memory_usage_bytes}, cache mode align). */
    private static final int STATES = 2;

    /** Part of the earlier tokens that a layer reads for a token. */
    public enum Kind {
        /** Everything. */
        FULL_ATTENTION,
        /** The last tokens, as many as the window has, its own included. */
        SLIDING_WINDOW,
        /** The tokens of its chunk. */
        CHUNKED_LOCAL_ATTENTION,
        /** One state, in place of all tokens. */
        MAMBA;

        /** Returns vLLM's name. */
        public String vllmName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Returns whether the kind has a window, or chunks. */
        public boolean hasSpan() {
            return this == SLIDING_WINDOW || this == CHUNKED_LOCAL_ATTENTION;
        }
    }

    /** Checks the ranges. */
    public KvGroup {
        if (blockSize < 1 || span < 0 || (span > 0) != kind.hasSpan()) {
            throw new IllegalArgumentException(kind.vllmName() + ": block size " + blockSize + ", span " + span);
        }
    }

    /** Returns how many leading tokens are out of reach for the token behind {@code numComputed} others. */
    public int numSkippedTokens(int numComputed) {
        return switch (kind) {
            case FULL_ATTENTION -> 0;
            case SLIDING_WINDOW -> Math.max(0, numComputed - span + 1);
            case CHUNKED_LOCAL_ATTENTION -> numComputed / span * span;
            case MAMBA -> Math.max(0, numComputed - 1);
        };
    }

    /**
     * Returns the most blocks that a request of so many tokens holds at a time, when none of them is out of use any
     * sooner than the steps in flight allow.
     *
     * @param maxTokensInFlight tokens that steps in flight may compute
     */
    public int maxBlocks(int numTokens, int maxTokensInFlight, int maxModelLen) {
        int all = numBlocks(numTokens);
        return switch (kind) {
            case FULL_ATTENTION -> all;
            case MAMBA -> Math.min(all, STATES);
            case SLIDING_WINDOW -> Math.min(all, numBlocks(reach(span - 1, maxTokensInFlight, maxModelLen)) + 1);
            case CHUNKED_LOCAL_ATTENTION -> Math.min(all, numBlocks(reach(span, maxTokensInFlight, maxModelLen)));
        };
    }

    private static int reach(int numBefore, int maxTokensInFlight, int maxModelLen) {
        return (int) Math.min((long) numBefore + maxTokensInFlight, maxModelLen);
    }

    /** Returns the blocks of so many tokens. */
    public int numBlocks(int numTokens) {
        return (int) (((long) numTokens + blockSize - 1) / blockSize);
    }
}

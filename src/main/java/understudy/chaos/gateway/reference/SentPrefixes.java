package understudy.chaos.gateway.reference;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import understudy.prompt.Prompt;
import understudy.prompt.Xxh3BlockHasher;

/**
 * Prompts that were sent to a replica lately, which it is assumed to have cached even if no event has said so yet (llm-d:
 * speculative entries, kept for as long).
 */
final class SentPrefixes {
    private static final long KEPT_NANOS = 2_000_000_000L;
    private static final int BLOCK_TOKENS = 16;
    private static final int MAX_BLOCKS = 100_000;

    private final Xxh3BlockHasher hasher = new Xxh3BlockHasher(BLOCK_TOKENS);
    private final Long2LongOpenHashMap untilNanos = new Long2LongOpenHashMap();

    void clear() {
        untilNanos.clear();
    }

    void onSent(Prompt prompt, long nowNanos) {
        if (untilNanos.size() > MAX_BLOCKS) {
            untilNanos.values().removeIf((long until) -> until <= nowNanos);
        }
        for (long key : prompt.blockHashes(hasher)) {
            untilNanos.put(key, nowNanos + KEPT_NANOS);
        }
    }

    /** Returns how many leading tokens of a prompt were sent. */
    int tokens(Prompt prompt, long nowNanos) {
        int numBlocks = 0;
        for (long key : prompt.blockHashes(hasher)) {
            if (untilNanos.getOrDefault(key, Long.MIN_VALUE) <= nowNanos) {
                break;
            }
            numBlocks++;
        }
        return numBlocks * BLOCK_TOKENS;
    }
}

package understudy.kvcache.session;

import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.prompt.Prompt;
import understudy.prompt.SequenceTokens;
import understudy.prompt.TokenSequence;

/** Cached state of each session, the one that was updated longest ago first ({@code active_sessions_kv_state}). */
final class SessionTable {
    /** The answer of a match that says that a prompt does not go on from its session. */
    static final int UNEXPECTED = -1;

    private static final int TOKENS_AT_ONCE = 256;

    private final Long2ObjectLinkedOpenHashMap<Entry> bySession = new Long2ObjectLinkedOpenHashMap<>();

    /** A session's state, its blocks, the prompt of its latest turn, and the tokens that the blocks hold. */
    record Entry(SessionCacheInfo info, BlockHolding blocks, Prompt latest, SequenceTokens tokens) {

        /**
         * Returns how many tokens of the session a later turn can go on from: 0 if it leaves all of them out, or
         * {@link #UNEXPECTED} if it does not go on from them.
         */
        int match(Prompt prompt) {
            int leftOut = leftOut(prompt);
            int numKept = Math.max(0, info.totalTokensInCache() - leftOut);
            boolean goesOn = leftOut >= 0
                    && prompt.length() > numKept
                    && latest.sharesBlocksWith(prompt)
                    && hasTokens(leftOut, numKept, prompt.tokens());
            return goesOn ? numKept : UNEXPECTED;
        }

        /** Returns how many of the first cached tokens a later turn leaves out. */
        int leftOut(Prompt prompt) {
            return prompt.turn().numTruncatedTokens() - info.numTruncatedTokens();
        }

        private boolean hasTokens(int from, int count, TokenSequence begin) {
            var ours = new int[TOKENS_AT_ONCE];
            var theirs = new int[TOKENS_AT_ONCE];
            for (int i = 0; i < count; i += TOKENS_AT_ONCE) {
                int length = Math.min(TOKENS_AT_ONCE, count - i);
                tokens.copy(from + i, length, ours, 0);
                begin.copy(i, length, theirs, 0);
                for (int k = 0; k < length; k++) {
                    if (ours[k] != theirs[k]) {
                        return false;
                    }
                }
            }
            return true;
        }
    }

    @Nullable Entry find(long sessionId) {
        return bySession.get(sessionId);
    }

    /** Puts a session's new state in place of the old one, which is dropped. */
    void update(Entry entry) {
        var old = bySession.putAndMoveToLast(entry.info.sessionId(), entry);
        if (old != null) {
            old.blocks.release();
        }
    }

    /** Returns the session that was updated longest ago among those that can be dropped, or null. */
    @Nullable Entry oldestEvictable() {
        for (var entry : bySession.values()) {
            if (entry.blocks.isEvictable()) {
                return entry;
            }
        }
        return null;
    }

    void drop(Entry entry) {
        bySession.remove(entry.info.sessionId());
        entry.blocks.release();
    }

    /** Drops every session. */
    void clear() {
        bySession.values().forEach(entry -> entry.blocks.release());
        bySession.clear();
    }

    List<BlockHolding> holdings() {
        var holdings = new ArrayList<BlockHolding>(bySession.size());
        bySession.values().forEach(entry -> holdings.add(entry.blocks));
        return holdings;
    }
}

package understudy.kvcache.session;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.PrefixLookup;
import understudy.prompt.Prompt;
import understudy.prompt.SequenceTokens;

/** Unfinished request in a memory that finds prefixes by session: what it holds, and the prefix that it continues. */
final class SessionRequest {
    private final Prompt prompt;
    private final SequenceTokens tokens;
    private SessionTable.@Nullable Entry compared;
    private int numMatched;

    /** Blocks that it holds while it runs. */
    @Nullable BlockHolding blocks;

    /** The stored prefix that it goes on from, if any. */
    GlobalPrefixStore.@Nullable Prefix prefix;

    /** Blocks at its beginning that are to be stored for others once they are scheduled, or 0. */
    int numBlocksToStore;

    /** Latest admission, in virtual time. */
    long admittedNanos;

    public SessionRequest(PrefixLookup lookup) {
        prompt = lookup.prompt();
        tokens = new SequenceTokens(prompt.tokens(), lookup.output());
    }

    Prompt prompt() {
        return prompt;
    }

    SequenceTokens tokens() {
        return tokens;
    }

    /** Returns the result of {@link SessionTable.Entry#match}; asking again about the same state costs nothing. */
    int match(SessionTable.Entry entry) {
        if (!entry.equals(compared)) {
            compared = entry;
            numMatched = entry.match(prompt);
        }
        return numMatched;
    }
}

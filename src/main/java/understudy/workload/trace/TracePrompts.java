package understudy.workload.trace;

import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import org.jspecify.annotations.Nullable;
import understudy.prompt.SegmentedTokens;

/**
 * Prompts of a trace whose blocks have names. A prompt that begins as one of the last ones did shares its hashes, so that
 * a conversation, whose turns repeat what was said, is not hashed from its beginning in each of them.
 */
final class TracePrompts {
    /** Names to remember; a prompt of Mooncake's traces brings 15 new ones on average. */
    private static final int MAX_BLOCKS = 1 << 14;

    /** The last prompt that had a block, by its name; the name that was not met for the longest time goes first. */
    private final Long2ObjectLinkedOpenHashMap<SegmentedTokens> byBlock = new Long2ObjectLinkedOpenHashMap<>();

    /** Returns the tokens of a row's prompt; rows are passed in order. */
    SegmentedTokens of(TraceRow row) {
        var tokens = row.prompt();
        var before = lastWithBlocksOf(row);
        var prompt = before == null ? tokens : tokens.sharing(before);
        for (int i = 0; i < row.blockIds().size(); i++) {
            byBlock.putAndMoveToLast(row.blockIds().getLong(i), prompt);
        }
        while (byBlock.size() > MAX_BLOCKS) {
            byBlock.removeFirst();
        }
        return prompt;
    }

    /** Returns the prompt that had the last of a row's blocks that any had: a name says what is before it, as a rule. */
    private @Nullable SegmentedTokens lastWithBlocksOf(TraceRow row) {
        SegmentedTokens found = null;
        for (int i = row.blockIds().size() - 1; i >= 0 && found == null; i--) {
            found = byBlock.get(row.blockIds().getLong(i));
        }
        return found;
    }
}

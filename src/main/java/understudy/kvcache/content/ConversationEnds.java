package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import understudy.kvcache.eviction.PrefixTable;

/**
 * Last cached block of each conversation after its latest turn; the conversation that has been quiet longest goes
 * first.
 */
final class ConversationEnds {
    private final Long2ObjectLinkedOpenHashMap<End> bySession = new Long2ObjectLinkedOpenHashMap<>();
    private final int maxSessions;

    ConversationEnds(int maxSessions) {
        this.maxSessions = maxSessions;
    }

    /**
     * The end of a turn.
     *
     * @param numTokens its prompt and its answer
     * @param numTruncatedTokens oldest tokens of the conversation that its prompt left out
     * @param lastBlock index of the last block that was cached
     * @param hash that block's, which covers all tokens before it
     * @param home where a search for it begins
     */
    private record End(int numTokens, int numTruncatedTokens, int lastBlock, long hash, int home) {}

    /** Remembers a request that has ended with so many tokens, if it belongs to a conversation. */
    void note(KvSequence ended, int numTokens) {
        int lastBlock = ended.numCachedBlocks() - 1;
        if (ended.turn().isInSession() && lastBlock >= 0) {
            long hash = ended.hashOf(lastBlock);
            int home = ended.homeOf(lastBlock);
            var end = new End(numTokens, ended.turn().numTruncatedTokens(), lastBlock, hash, home);
            bySession.putAndMoveToLast(ended.turn().sessionId(), end);
            if (bySession.size() > maxSessions) {
                bySession.removeFirst();
            }
        }
    }

    /**
     * Returns whether a follow-up turn does not continue what is still cached of its conversation: it is not longer, or
     * begins otherwise. A prompt that leaves out more of the beginning than the turn before is not held to that.
     */
    boolean isUnexpected(KvSequence request, PrefixTable prefixTable) {
        var end = request.turn().isConversationalTurn()
                ? bySession.get(request.turn().sessionId())
                : null;
        return end != null
                && end.numTruncatedTokens == request.turn().numTruncatedTokens()
                && prefixTable.lookup(end.hash, end.home) != PrefixTable.NULL_BLOCK
                && (request.numPromptTokens() <= end.numTokens || request.hashOf(end.lastBlock) != end.hash);
    }
}

package understudy.kvcache.session;

/**
 * Cached state of a session after its last turn that has ended (session cache, {@code SessionCacheInfo}).
 *
 * @param sessionId number of the session
 * @param totalTokensInCache tokens of prompt and answer whose KV is kept
 * @param promptPartLength how many of them were the prompt
 * @param responsePartLength how many of them were the answer
 * @param associatedTurn the turn whose request brought them in; with the session it names the request
 * @param numTruncatedTokens tokens at the beginning of the conversation that were left out
 * @param lastUpdateNanos virtual time at which the turn ended
 */
public record SessionCacheInfo(
        long sessionId,
        int totalTokensInCache,
        int promptPartLength,
        int responsePartLength,
        int associatedTurn,
        int numTruncatedTokens,
        long lastUpdateNanos) {}

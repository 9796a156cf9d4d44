package understudy.prompt;

/**
 * A request's place in a conversation.
 *
 * @param sessionId number of the conversation, or -1 if the request belongs to none
 * @param turn from 1; 0 if the request belongs to no conversation
 * @param numTruncatedTokens tokens at the beginning of the conversation that the prompt leaves out, at least 0
 */
public record SessionTurn(long sessionId, int turn, int numTruncatedTokens) {
    /** A request on its own. */
    public static final SessionTurn NONE = new SessionTurn(-1, 0, 0);

    /** Returns a turn whose prompt is the whole conversation so far. */
    public static SessionTurn of(long sessionId, int turn) {
        return new SessionTurn(sessionId, turn, 0);
    }

    /** Returns whether the request belongs to a conversation. */
    public boolean isInSession() {
        return turn > 0;
    }

    /** Returns whether the prompt goes on from an earlier turn. */
    public boolean isConversationalTurn() {
        return turn > 1;
    }

    /** Returns this turn with {@code count} more tokens left out. */
    public SessionTurn truncatedBy(int count) {
        return new SessionTurn(sessionId, turn, numTruncatedTokens + count);
    }
}

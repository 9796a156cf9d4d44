package understudy.api.call;

import org.jspecify.annotations.Nullable;

/**
 * The next piece of an answer.
 *
 * @param choice which answer of the call
 * @param fromToken first token of the piece
 * @param toToken first token behind the piece
 * @param text its text, which may be empty
 * @param ending why and how the answer is over, or null while it is not
 */
public record Delta(
        int choice,
        int fromToken,
        int toToken,
        String text,
        @Nullable Ending ending) {

    /**
     * The end of an answer.
     *
     * @param reason as in {@code finish_reason}
     * @param stopReason the stop string or token id that was hit, or null
     * @param numCachedTokens prompt tokens found in the cache
     */
    public record Ending(String reason, @Nullable Object stopReason, int numCachedTokens) {}
}

package understudy.faults;

/**
 * Fault of one request.
 *
 * @param fails whether it is answered by an error at once
 * @param cutAfterTokens the output token after which its answer breaks off; 0 is none
 * @param malformedAtToken the output token whose event in a stream is broken JSON, counted from 1; 0 is none
 * @param delayNanos by how much it reaches the waiting queue later, at least 0
 */
public record RequestFault(boolean fails, int cutAfterTokens, int malformedAtToken, long delayNanos) {
    /** All goes well. */
    public static final RequestFault NONE = new RequestFault(false, 0, 0, 0);

    /** Returns what goes wrong if both do: the earlier cut, the earlier broken event, and the sum of the delays. */
    public RequestFault plus(RequestFault other) {
        if (other.equals(NONE)) {
            return this;
        }
        return new RequestFault(
                fails || other.fails,
                earlier(cutAfterTokens, other.cutAfterTokens),
                earlier(malformedAtToken, other.malformedAtToken),
                delayNanos + other.delayNanos);
    }

    private static int earlier(int token, int otherToken) {
        return token == 0 || otherToken == 0 ? token + otherToken : Math.min(token, otherToken);
    }
}

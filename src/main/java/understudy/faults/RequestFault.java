package understudy.faults;

import it.unimi.dsi.fastutil.ints.IntList;

/**
 * Fault of one request.
 *
 * @param failStatus status of the error by which it is answered at once over HTTP, one of {@link #STATUSES}; 0 is none
 * @param cutAfterTokens the output token after which its answer breaks off; 0 is none
 * @param delayNanos by how much it reaches the waiting queue later, at least 0
 * @param isReset whether the connection of a cut answer is reset, which loses what is still on its way; else it is
 *     closed behind the last token
 */
public record RequestFault(int failStatus, int cutAfterTokens, long delayNanos, boolean isReset) {
    /** Statuses that an error may have. */
    public static final IntList STATUSES = IntList.of(400, 401, 404, 408, 422, 429, 500, 502, 503, 504);

    /** Status of an error of which nothing else is said. */
    public static final int DEFAULT_STATUS = 500;

    /** No fault. */
    public static final RequestFault NONE = new RequestFault(0, 0, 0, false);

    /** Creates a fault whose error, if there is one, has the status 500, and whose cut resets nothing. */
    public RequestFault(boolean fails, int cutAfterTokens, long delayNanos) {
        this(fails ? DEFAULT_STATUS : 0, cutAfterTokens, delayNanos, false);
    }

    /** Returns whether the request is answered by an error. */
    public boolean fails() {
        return failStatus != 0;
    }

    /** Returns both faults in one: this error or else the other one's, the earlier cut, and the sum of the delays. */
    public RequestFault plus(RequestFault other) {
        return new RequestFault(
                fails() ? failStatus : other.failStatus,
                earlier(cutAfterTokens, other.cutAfterTokens),
                delayNanos + other.delayNanos,
                isCutBy(other) ? other.isReset : isReset);
    }

    /** Returns whether the other fault is the one that cuts the answer, if both happen. */
    private boolean isCutBy(RequestFault other) {
        return other.cutAfterTokens > 0 && (cutAfterTokens == 0 || other.cutAfterTokens < cutAfterTokens);
    }

    private static int earlier(int token, int otherToken) {
        return token == 0 || otherToken == 0 ? token + otherToken : Math.min(token, otherToken);
    }
}

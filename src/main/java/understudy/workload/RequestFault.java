package understudy.workload;

/**
 * What is to go wrong with one request.
 *
 * @param fails whether it is answered by an error at once
 * @param cutAfterTokens the output token after which its answer breaks off; 0 is none
 * @param delayNanos by how much it reaches the waiting queue later, at least 0
 */
public record RequestFault(boolean fails, int cutAfterTokens, long delayNanos) {
    /** All goes well. */
    public static final RequestFault NONE = new RequestFault(false, 0, 0);

    /** Returns what goes wrong if both do: the earlier cut, and the sum of the delays. */
    public RequestFault plus(RequestFault other) {
        if (other.equals(NONE)) {
            return this;
        }
        boolean cutsEarlier =
                cutAfterTokens == 0 || (other.cutAfterTokens > 0 && other.cutAfterTokens < cutAfterTokens);
        return new RequestFault(
                fails || other.fails,
                cutsEarlier ? other.cutAfterTokens : cutAfterTokens,
                delayNanos + other.delayNanos);
    }
}

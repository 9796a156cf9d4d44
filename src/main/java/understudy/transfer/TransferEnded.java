package understudy.transfer;

/**
 * The end of a transfer; one that has failed is to be started anew if it is still wanted.
 *
 * @param startNanos when the link was asked for it
 * @param endNanos when it was notified, or failed
 * @param bytes those that went through: all, unless it has failed
 */
public record TransferEnded(long id, boolean isFailed, long startNanos, long endNanos, long bytes) {}

package understudy.transfer;

/**
 * Time of a transfer without its bytes, in nanoseconds, each at least 0.
 *
 * @param handshakeNanos when two endpoints meet for the first time
 * @param postNanos for posting a transfer
 * @param nanosPerDescriptor for each descriptor that is posted with it
 * @param notifyNanos for telling the other side of the end
 */
public record TransferCost(long handshakeNanos, long postNanos, long nanosPerDescriptor, long notifyNanos) {
    /** Nothing but the bytes takes time. */
    public static final TransferCost NONE = new TransferCost(0, 0, 0, 0);

    public TransferCost {
        if (Math.min(Math.min(handshakeNanos, postNanos), Math.min(nanosPerDescriptor, notifyNanos)) < 0) {
            throw new IllegalArgumentException("handshakeNanos " + handshakeNanos + ", postNanos " + postNanos
                    + ", nanosPerDescriptor " + nanosPerDescriptor + ", notifyNanos " + notifyNanos);
        }
    }

    /** Returns the time from a transfer's start to its first byte. */
    public long beforeNanos(boolean isFirstOfPair, int numDescriptors) {
        return (isFirstOfPair ? handshakeNanos : 0) + postNanos + nanosPerDescriptor * numDescriptors;
    }
}

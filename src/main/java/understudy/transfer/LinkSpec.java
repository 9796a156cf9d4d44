package understudy.transfer;

import java.util.List;

/**
 * Specification of a link.
 *
 * @param groups its ports, numbered from 0 through all groups
 * @param timeoutNanos how long a transfer may stand still before it fails
 */
public record LinkSpec(List<PortGroup> groups, TransferCost cost, long timeoutNanos) {
    public static final long DEFAULT_TIMEOUT_NANOS = 30_000_000_000L;

    /** Copies the list. */
    public LinkSpec {
        groups = List.copyOf(groups);
        if (timeoutNanos < 0) {
            throw new IllegalArgumentException("timeoutNanos " + timeoutNanos);
        }
    }
}

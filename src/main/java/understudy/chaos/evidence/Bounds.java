package understudy.chaos.evidence;

/**
 * Numbers that the laws compare with.
 *
 * @param graceNanos how long after a replica's change a gateway may still send it requests
 * @param recoveryNanos how long after the last fault's end the first failed call may still be sent
 * @param patienceNanos how long a client waits for a call
 * @param maxImbalance most requests of a replica over the mean of all, while all are up
 * @param minAffinity least share of the best possible cached prompt tokens, from 0 to 1
 * @param maxIdleConnections most connections to a replica that may be open after the load
 * @param minSuccess least share of calls that must be answered whole, from 0 to 1
 */
public record Bounds(
        long graceNanos,
        long recoveryNanos,
        long patienceNanos,
        double maxImbalance,
        double minAffinity,
        int maxIdleConnections,
        double minSuccess) {}

package understudy.chaos.evidence;

/**
 * Connections of the gateway to a replica at one time.
 *
 * @param atNanos time since the scenario's start
 * @param replica name of the replica
 * @param numOpen open connections
 * @param numInFlight requests on them that have not ended
 */
public record ConnectionSample(long atNanos, String replica, int numOpen, int numInFlight) {}

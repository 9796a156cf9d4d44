package understudy.chaos.autoscaler.evidence;

/**
 * Replicas and requests at one time.
 *
 * @param atNanos time since the scenario's start
 * @param wanted {@code spec.replicas}
 * @param ready replicas that take requests
 * @param starting replicas that will
 * @param unfinished requests that wait or run, in the router and in replicas
 */
public record ReplicaCounts(long atNanos, int wanted, int ready, int starting, int unfinished) {}

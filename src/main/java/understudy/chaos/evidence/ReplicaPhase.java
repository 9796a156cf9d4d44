package understudy.chaos.evidence;

/**
 * A span in which a replica is in one state. Times are nanoseconds since the scenario's start.
 *
 * @param replica name of the replica
 * @param state what it can do
 * @param fault the fault that causes it, as the scenario names it; an empty text if none does
 * @param fromNanos begin of the span
 * @param toNanos end of the span, which is no part of it
 */
public record ReplicaPhase(String replica, State state, String fault, long fromNanos, long toNanos) {

    /** What a replica can do for a gateway. */
    public enum State {
        /** It serves, and its probes say so. */
        UP,
        /** It is loading: its probes say that it is not ready. */
        STARTING,
        /** It refuses connections, or its probes fail. */
        DEAD,
        /** It takes connections and its probes are well, but it gives no tokens. */
        STUCK,
        /** It ends what it has, and its probes say that it takes nothing new. */
        DRAINING,
        /** It refuses new requests with 429 or 503 for a while. */
        REFUSING,
        /** It serves, and new connections to it begin with a certificate that does not verify. */
        UNTRUSTED,
        /** It serves with a fault that leaves its answers broken or slow. */
        FAULTY,
        /** It serves, and what it tells of itself, by metrics, events or lists, is wrong. */
        MISREPORTING
    }
}

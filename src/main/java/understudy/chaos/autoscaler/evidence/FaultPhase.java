package understudy.chaos.autoscaler.evidence;

/**
 * A span in which something is wrong with what an autoscaler works by. Times are nanoseconds since the scenario's start.
 *
 * @param fault the fault, as the scenario names it
 * @param isBlinding whether the load cannot be known from the metrics in it
 * @param fromNanos begin of the span
 * @param toNanos end of the span, which is no part of it
 */
public record FaultPhase(String fault, boolean isBlinding, long fromNanos, long toNanos) {}

package understudy.chaos.autoscaler.evidence;

/**
 * A number of replicas that has to be wanted in time.
 *
 * @param fromNanos since when the load asks for it
 * @param withinNanos time from then on
 * @param isUp whether it is the fewest replicas, rather than the most
 * @param replicas the number
 */
public record Deadline(long fromNanos, long withinNanos, boolean isUp, int replicas) {
    /** Returns whether so many replicas meet it. */
    public boolean isMetBy(int wanted) {
        return isUp ? wanted >= replicas : wanted <= replicas;
    }
}

package understudy.scaling;

/**
 * Limits of an autoscaler, as the {@code behavior} of an HPA has them.
 *
 * @param minReplicas at least 0
 * @param maxReplicas at least {@code minReplicas}, and at least 1
 */
public record ScalingBehavior(int minReplicas, int maxReplicas, Pace up, Pace down) {

    /**
     * Pace of changes in one direction; of the two policies the one that allows more counts ({@code selectPolicy: Max}).
     *
     * @param windowNanos {@code stabilizationWindowSeconds}: the most cautious recommendation of this time counts
     * @param percent share of the replicas by which their number may change in a period
     * @param pods how many replicas it may change by in a period
     * @param periodNanos {@code periodSeconds} of both policies
     */
    public record Pace(long windowNanos, double percent, int pods, long periodNanos) {}
}

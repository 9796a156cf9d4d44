package understudy.scaling;

/**
 * Kubernetes' HorizontalPodAutoscaler ({@code replica_calculator.go}): the number of replicas changes in proportion to
 * a metric's mean, {@code ceil(replicas x mean / target)}, unless mean and target are close.
 *
 * <p>Replicas that start are pods that are not ready. They are left out, unless the others alone ask for more replicas:
 * then they count with a value of 0, and if that leads below the present number, it stays. A metric of the whole
 * cluster is an {@code Object} metric, for which the ready replicas alone count. Without any ready replica, or without
 * a single TTFT, the number stays, as without metrics. Metrics of pods that cannot be scraped are not emulated.
 *
 * @param target mean that is aimed at, above 0
 * @param tolerance deviation of the ratio from 1 that is ignored; 0.1 unless an HPA says otherwise
 */
public record Hpa(ScalingMetric metric, double target, double tolerance) implements ScalingRule {

    @Override
    public int desired(ScalingMetrics metrics) {
        if (metrics.numReady() == 0 || (!metric.isSum() && metrics.ttft().count() == 0)) {
            return metrics.numReplicas();
        }
        double ratio = metric.perReplica(metrics) / target;
        return ratio > 1 && metrics.numStarting() > 0 && metric.isSum()
                ? withStarting(metrics, ratio)
                : proposed(metrics.numReplicas(), ratio, metrics.numReady());
    }

    private int withStarting(ScalingMetrics metrics, double ratioOfReady) {
        int numReplicas = metrics.numReplicas();
        double ratio = ratioOfReady * metrics.numReady() / numReplicas;
        return Math.max(numReplicas, proposed(numReplicas, ratio, numReplicas));
    }

    private int proposed(int numReplicas, double ratio, int numCounted) {
        return isClose(ratio, tolerance) ? numReplicas : (int) Math.ceil(ratio * numCounted);
    }

    /** Returns whether a ratio is so close to 1 that nothing changes. */
    static boolean isClose(double ratio, double tolerance) {
        return ratio >= 1 - tolerance && ratio <= 1 + tolerance;
    }

    @Override
    public boolean readsKvUsage() {
        return metric == ScalingMetric.KV_CACHE_USAGE_PERC;
    }
}

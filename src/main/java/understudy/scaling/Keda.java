package understudy.scaling;

/**
 * KEDA's {@code ScaledObject} with one trigger of type {@code AverageValue}: a sum over all replicas, divided by a
 * threshold and rounded up. Between one replica and many its HPA decides, which leaves the number alone within its
 * tolerance; KEDA itself starts the first replica and stops the last one.
 *
 * <p>The trigger is active while the sum is above the activation threshold. When it has not been for the cooldown
 * period, all replicas go; the beginning of a run counts as activity, as with an {@code initialCooldownPeriod}. KEDA
 * looks every {@code pollingInterval}; here that is the interval of all rules.
 */
public final class Keda implements ScalingRule {
    private static final double HPA_TOLERANCE = 0.1;

    private final Options options;
    private long lastActiveNanos;

    /**
     * Options of a trigger.
     *
     * @param metric one that is a sum over replicas
     * @param threshold value per replica, above 0
     * @param activationThreshold sum above which the trigger is active, at least 0
     * @param cooldownNanos time without activity before the last replica goes
     * @param scalesToZero whether it goes ({@code minReplicaCount: 0})
     */
    public record Options(
            ScalingMetric metric,
            double threshold,
            double activationThreshold,
            long cooldownNanos,
            boolean scalesToZero) {}

    public Keda(Options options) {
        this.options = options;
    }

    @Override
    public int desired(ScalingMetrics metrics) {
        double sum = options.metric.ofCluster(metrics);
        boolean isActive = sum > options.activationThreshold;
        if (isActive) {
            lastActiveNanos = metrics.atNanos();
        }
        if (metrics.numReplicas() == 0) {
            return isActive ? 1 : 0;
        }
        return isCool(metrics.atNanos()) ? 0 : Math.max(1, byHpa(sum, metrics.numReplicas()));
    }

    private boolean isCool(long nowNanos) {
        return options.scalesToZero
                && nowNanos > lastActiveNanos
                && nowNanos - lastActiveNanos >= options.cooldownNanos;
    }

    private int byHpa(double sum, int numReplicas) {
        double ratio = sum / (options.threshold * numReplicas);
        return Hpa.isClose(ratio, HPA_TOLERANCE) ? numReplicas : (int) Math.ceil(sum / options.threshold);
    }

    @Override
    public boolean readsKvUsage() {
        return options.metric == ScalingMetric.KV_CACHE_USAGE_PERC;
    }
}

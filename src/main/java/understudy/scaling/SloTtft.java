package understudy.scaling;

/**
 * Rule that follows the attainment of a TTFT objective, of no particular autoscaler: while the 90th percentile is above
 * the target, the ready replicas are multiplied by the ratio of the two; when it is below half of the target, one
 * replica goes.
 *
 * <p>Replicas that start do not count as long as they have not helped, so a slow start does not multiply them. Without
 * a first token in the last while one replica goes too, but only if no request waits for one.
 *
 * @param targetSeconds TTFT that nine of ten requests should have, above 0
 */
public record SloTtft(double targetSeconds) implements ScalingRule {

    @Override
    public int desired(ScalingMetrics metrics) {
        int numReplicas = metrics.numReplicas();
        double ratio = metrics.ttft().p90Nanos() / 1e9 / targetSeconds;
        if (ratio > 1) {
            return Math.max(numReplicas, (int) Math.ceil(metrics.numReady() * ratio));
        }
        boolean isUnknown = metrics.ttft().count() == 0 && metrics.inflightTokens() > 0;
        return ratio < 0.5 && !isUnknown ? numReplicas - 1 : numReplicas;
    }

    @Override
    public boolean readsKvUsage() {
        return false;
    }
}

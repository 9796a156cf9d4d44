package understudy.scaling;

/** Rule of an autoscaler. It may remember, so each run has its own; it is asked in order of time. */
@FunctionalInterface
public interface ScalingRule {

    /** Returns how many replicas there should be, before limits and {@link Stabilization}. */
    int desired(ScalingMetrics metrics);

    /** Returns whether it goes by the usage of KV caches; if not, that may be missing in the metrics. */
    default boolean readsKvUsage() {
        return true;
    }
}

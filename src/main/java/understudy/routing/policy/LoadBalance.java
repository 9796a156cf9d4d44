package understudy.routing.policy;

import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;

/**
 * Thresholds beyond which loads count as out of balance (SGLang's router and SMG, {@code cache_aware.rs}).
 *
 * @param absThreshold requests by which the most loaded replica must exceed the least loaded one, and
 * @param relThreshold times by which it must
 */
public record LoadBalance(long absThreshold, double relThreshold) {

    static LoadBalance read(PolicySettings settings) {
        return new LoadBalance(
                settings.wholeNumber("balance-abs-threshold", 0L, Long.MAX_VALUE),
                settings.number("balance-rel-threshold", 1, 1e9));
    }

    /** Returns whether the loads of the replicas that take requests are out of balance. */
    boolean isExceeded(ClusterView view) {
        double min = view.load(view.leastLoaded());
        double max = view.greatestLoad();
        return max - min > absThreshold && max > min * relThreshold;
    }
}

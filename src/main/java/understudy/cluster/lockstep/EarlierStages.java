package understudy.cluster.lockstep;

import understudy.latency.LatencyModel;

/**
 * Stages of a pipeline before the last one.
 *
 * @param count at least 0
 * @param latency how long a step takes in each of them, and on its way to the next
 */
public record EarlierStages(int count, LatencyModel latency) {
    public static final EarlierStages NONE = new EarlierStages(0, batch -> 0);
}

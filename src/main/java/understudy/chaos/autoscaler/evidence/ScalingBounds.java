package understudy.chaos.autoscaler.evidence;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/**
 * Numbers that the laws compare with.
 *
 * @param minReplicas fewest replicas, which the autoscaler is told
 * @param maxReplicas most replicas, which the autoscaler is told
 * @param mostReplicas most replicas that the load of the scenario asks for
 * @param maxReversals how often the direction of changes may change
 * @param graceNanos how long after metrics have begun to fail the number of replicas may still change
 * @param retryNanos how long after a failed call of the scale subresource the next one may come
 * @param zeroNanos how long requests may wait while no replica is wanted
 * @param maxUnfinished most requests that may be unfinished at the end
 * @param maxCallsPerSecond most calls of the scale subresource in any second
 * @param deadlines numbers of replicas that have to be wanted in time
 */
@RecordBuilder
public record ScalingBounds(
        int minReplicas,
        int maxReplicas,
        int mostReplicas,
        int maxReversals,
        long graceNanos,
        long retryNanos,
        long zeroNanos,
        int maxUnfinished,
        int maxCallsPerSecond,
        List<Deadline> deadlines) {

    public ScalingBounds {
        deadlines = List.copyOf(deadlines);
    }
}

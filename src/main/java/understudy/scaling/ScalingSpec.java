package understudy.scaling;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Specification of an autoscaler, and of what replicas cost. A value: each run makes its own rule.
 *
 * @param rule makes the rule; empty if the number of replicas stays as it is
 * @param intervalNanos time between two evaluations, above 0
 * @param ttftWindowNanos how long a TTFT counts
 * @param startupNanos from the start of a replica that joins to its first request, at least 0
 * @param gpusPerReplica at least 1
 * @param gpuHourPrice price of one GPU for an hour, or 0 if it is not known
 */
public record ScalingSpec(
        Optional<Supplier<ScalingRule>> rule,
        ScalingBehavior behavior,
        long intervalNanos,
        long ttftWindowNanos,
        long startupNanos,
        int gpusPerReplica,
        double gpuHourPrice) {}

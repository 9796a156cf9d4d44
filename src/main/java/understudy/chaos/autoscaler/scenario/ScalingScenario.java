package understudy.chaos.autoscaler.scenario;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import understudy.chaos.autoscaler.evidence.ScalingBounds;
import understudy.chaos.autoscaler.fleet.LoadStep;
import understudy.chaos.scenario.NamedScenario;

/**
 * One scenario of an autoscaler.
 *
 * @param name name by which it is chosen
 * @param description one sentence: what happens
 * @param incident public incident of this kind, such as {@code kedacore/keda#3065}; an empty text if none is known
 * @param replicas replicas at the start
 * @param startupMillis from the start of a replica that joins to its first request
 * @param periodMillis time from one evaluation to the next, which the autoscaler is told
 * @param windowMillis stabilization window on the way down, which the autoscaler is told
 * @param durationNanos time from the start to the end
 * @param load load, in the order of time
 * @param faults what goes wrong
 * @param laws names of the laws that judge it
 * @param bounds numbers that the laws compare with
 */
@RecordBuilder
public record ScalingScenario(
        String name,
        String description,
        String incident,
        int replicas,
        int startupMillis,
        int periodMillis,
        int windowMillis,
        long durationNanos,
        List<LoadStep> load,
        List<TimedFault> faults,
        List<String> laws,
        ScalingBounds bounds)
        implements NamedScenario {

    public ScalingScenario {
        load = List.copyOf(load);
        faults = List.copyOf(faults);
        laws = List.copyOf(laws);
    }
}

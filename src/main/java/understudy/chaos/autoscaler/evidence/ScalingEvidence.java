package understudy.chaos.autoscaler.evidence;

import java.util.ArrayList;
import java.util.List;
import understudy.chaos.evidence.Lateness;
import understudy.chaos.evidence.ScenarioEvidence;

/**
 * All that a scenario of an autoscaler left behind.
 *
 * @param scenario name of the scenario
 * @param bounds numbers that the laws compare with
 * @param durationNanos time from the scenario's start to its end
 * @param initialReplicas replicas that were wanted at its start
 * @param counts replicas and requests over time, in its order
 * @param calls calls of the scale subresource, in the order in which they came
 * @param faults what was wrong, in the order of its begin
 * @param isAutoscalerAlive whether the autoscaler was still there at the end
 * @param lateness how late the machine was meanwhile
 */
public record ScalingEvidence(
        String scenario,
        ScalingBounds bounds,
        long durationNanos,
        int initialReplicas,
        List<ReplicaCounts> counts,
        List<ScaleCall> calls,
        List<FaultPhase> faults,
        boolean isAutoscalerAlive,
        Lateness lateness)
        implements ScenarioEvidence {

    public ScalingEvidence {
        counts = List.copyOf(counts);
        calls = List.copyOf(calls);
        faults = List.copyOf(faults);
    }

    /** A number of replicas that is wanted from some time on. */
    public record Change(long atNanos, int before, int after) {}

    /** Returns the changes of the number of wanted replicas, in the order of time. */
    public List<Change> changes() {
        var changes = new ArrayList<Change>();
        int wanted = initialReplicas;
        for (var call : calls) {
            if (call.isAccepted() && call.replicas().getAsInt() != wanted) {
                changes.add(new Change(call.atNanos(), wanted, call.replicas().getAsInt()));
                wanted = call.replicas().getAsInt();
            }
        }
        return changes;
    }
}

package understudy.conform;

import java.util.List;
import java.util.Map;
import understudy.kvcache.KvSnapshot;

/**
 * Plan of a step of a recorded run, and the memory around it.
 *
 * @param before content of the memory when the step before was over
 * @param after its content with the plan
 * @param fields further fields of the recording about the plan
 */
record PlannedStep(int step, PlanSummary plan, KvSnapshot before, KvSnapshot after, Map<String, Object> fields) {

    StepDecision decision(List<String> finished) {
        return plan.decision(before, after, finished, fields, Map.of());
    }
}

package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.vllm.StepPlanner;
import understudy.kvcache.KvSnapshot;

/**
 * A plan written down by request name, to be kept when the plan itself is used again.
 *
 * @param scheduled tokens by request, in scheduling order
 * @param drafts those of them that are drafts, by request
 * @param preempted requests that lost their blocks, sorted
 * @param admitted requests that were admitted for the first time, in order, or all that count as such
 * @param resumed requests that were admitted again, in order
 * @param running running requests, in order
 * @param runningHandles their handles in the KV cache
 */
public record PlanSummary(
        Map<String, Integer> scheduled,
        Map<String, Integer> drafts,
        List<String> preempted,
        List<String> admitted,
        List<String> resumed,
        List<String> running,
        IntList runningHandles) {

    /** Empty plan, without requests. */
    public static final PlanSummary EMPTY =
            new PlanSummary(Map.of(), Map.of(), List.of(), List.of(), List.of(), List.of(), IntList.of());

    /** Writes down a plan that has just been made. */
    public static PlanSummary of(StepPlan plan, StepPlanner planner) {
        var scheduled = new LinkedHashMap<String, Integer>();
        var drafts = new LinkedHashMap<String, Integer>();
        for (int i = 0; i < plan.size(); i++) {
            scheduled.put(plan.request(i).request().name(), plan.numScheduledTokens(i));
            if (plan.numDrafts(i) > 0) {
                drafts.put(plan.request(i).request().name(), plan.numDrafts(i));
            }
        }
        var running = new ArrayList<String>();
        var handles = new IntArrayList();
        for (int i = 0; i < planner.requests().numRunning(); i++) {
            running.add(planner.requests().running(i).request().name());
            handles.add(planner.requests().running(i).handle());
        }
        return new PlanSummary(
                scheduled,
                drafts,
                names(plan.preempted()).stream().sorted().toList(),
                names(plan.admitted()),
                names(plan.resumed()),
                running,
                new IntImmutableList(handles));
    }

    /**
     * Returns the decision that this plan and the state of the KV cache after it make up.
     *
     * @param before the state of the KV cache after the plan before
     * @param finished requests that ended with the result that was applied in the same step
     * @param planned further fields, taken when the step was planned
     * @param updated further fields, taken at the end of the step
     */
    public StepDecision decision(
            KvSnapshot before,
            KvSnapshot after,
            List<String> finished,
            Map<String, Object> planned,
            Map<String, Object> updated) {
        var fields = new LinkedHashMap<>(planned);
        fields.put("spec", drafts);
        var tables = new LinkedHashMap<String, IntList>();
        for (int i = 0; i < running.size(); i++) {
            tables.put(running.get(i), after.blockTables().get(i));
        }
        return StepDecisionBuilder.builder()
                .scheduled(scheduled)
                .preempted(preempted)
                .admitted(admitted)
                .resumed(resumed)
                .running(running)
                .blockTables(tables)
                .numFreeBlocks(after.numFreeBlocks())
                .numStored((int) (after.numStored() - before.numStored()))
                .numRemoved((int) (after.numRemoved() - before.numRemoved()))
                .finished(finished.stream().sorted().toList())
                .planned(fields)
                .updated(updated)
                .build();
    }

    private static List<String> names(List<EngineRequest> requests) {
        return requests.stream().map(r -> r.request().name()).toList();
    }
}

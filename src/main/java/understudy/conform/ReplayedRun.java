package understudy.conform;

import java.util.List;

/**
 * Result of replaying a recorded run.
 *
 * @param steps one decision for each recorded one
 * @param end state of the memory at the end
 * @param kvEvents those of each step, if they were recorded
 * @param numUnfinished requests that had not ended after the last recorded step
 */
public record ReplayedRun(
        List<StepDecision> steps, RecordedRun.End end, List<List<Object>> kvEvents, long numUnfinished) {}

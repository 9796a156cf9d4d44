package understudy.engine.vllm;

/**
 * Decodes in a pipeline. With asynchronous scheduling each waits until its token has passed all stages, and only then is
 * scheduled again; without, the steps in flight of others do not touch it.
 */
final class StageRule implements StepRule {
    private final int numStages;
    private final boolean spacesDecodes;

    /** Number of the first step in which a running request may be scheduled again. */
    private final Column eligibleSteps = new Column();

    StageRule(SchedulerConfig config) {
        numStages = config.pipelineParallelSize();
        spacesDecodes = config.asyncScheduling();
    }

    @Override
    public int limit(VllmRequest running, int numTokens, long step) {
        return step < eligibleSteps.get(running) ? 0 : numTokens;
    }

    @Override
    public void onSettled(VllmPlan plan, int index, boolean isPartial) {
        if (spacesDecodes && !isPartial) {
            eligibleSteps.set(plan.request(index), plan.step() + numStages);
        }
    }

    @Override
    public boolean mayIdle(RunningList running, long step) {
        return running.asList().stream().anyMatch(request -> eligibleSteps.get(request) > step);
    }

    @Override
    public void onEnded(VllmRequest request) {
        eligibleSteps.set(request, 0);
    }
}

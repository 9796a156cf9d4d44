package understudy.engine;

/**
 * Membership of a request in the {@link DecodeCohort}. What all members have in common is counted there; each one
 * catches up with it when it is looked at.
 */
final class CohortMember {
    /** Last step of a member that is scheduled until further notice. */
    private static final int NEVER = Integer.MAX_VALUE;

    private final DecodeCohort cohort;
    private final EngineRequest request;
    private final int firstStep;
    private int lastStep = NEVER;
    private int numStepsPlanned;
    private int numStepsExecuted;

    /** Creates the membership of a request that is scheduled with the cohort from its step {@code firstStep} on. */
    CohortMember(DecodeCohort cohort, EngineRequest request, int firstStep) {
        this.cohort = cohort;
        this.request = request;
        this.firstStep = firstStep;
        numStepsPlanned = firstStep - 1;
        numStepsExecuted = firstStep - 1;
    }

    boolean isScheduled() {
        return lastStep == NEVER;
    }

    boolean isScheduledIn(int step) {
        return firstStep <= step && step <= lastStep;
    }

    /** Ends with the steps planned so far: those in flight bring the rest of the answer. */
    void retire() {
        catchUp();
        lastStep = numStepsPlanned;
    }

    /** Has the request take over what the cohort has planned and executed since the last time. */
    void catchUp() {
        int planned = Math.min(cohort.numStepsPlanned(), lastStep) - numStepsPlanned;
        if (planned > 0) {
            numStepsPlanned += planned;
            request.onScheduledWithCohort(planned, cohort.lastPlanStep(), cohort.isAsync(), cohort.blockSize());
        }
        int executed = Math.min(cohort.numStepsExecuted(), lastStep) - numStepsExecuted;
        if (executed > 0) {
            numStepsExecuted += executed;
            request.onExecutedWithCohort(executed, cohort.lastEndNanos(), cohort.isAsync());
        }
    }
}

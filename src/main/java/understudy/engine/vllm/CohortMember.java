package understudy.engine.vllm;

/**
 * Membership of a request in the {@link DecodeCohort}. The cohort counts once what is equal for all members; a member
 * catches up with these counts when it is looked at.
 */
final class CohortMember {
    /** Last step of a member that is scheduled until further notice. */
    private static final int NEVER = Integer.MAX_VALUE;

    private final DecodeCohort cohort;
    private final VllmRequest request;
    private final int firstStep;
    private int lastStep = NEVER;
    private int numStepsPlanned;
    private int numStepsExecuted;

    /** Creates the membership of a request that is scheduled with the cohort from its step {@code firstStep} on. */
    CohortMember(DecodeCohort cohort, VllmRequest request, int firstStep) {
        this.cohort = cohort;
        this.request = request;
        this.firstStep = firstStep;
        numStepsPlanned = firstStep - 1;
        numStepsExecuted = firstStep - 1;
    }

    /**
     * Returns whether a request can join: it decodes, had a token in the step that ended last, is in flight as often as
     * it should be, and its end can be told in advance.
     */
    static boolean canBe(VllmRequest request, DecodeCohort cohort) {
        int numInFlight = cohort.numInFlight();
        int maxOutputTokens = maxOutputTokens(request, cohort.maxModelLen());
        return request.numOutputTokens > 0
                && request.lastTokenNanos == cohort.lastEndNanos()
                && request.numInFlightTokens == numInFlight
                && request.numPlaceholders == numInFlight
                && request.numStaleTokens == 0
                && request.numComputedTokens == request.numTokens() + numInFlight - 1
                && request.numSlots == VllmRequest.roundUp(request.numComputedTokens, cohort.blockSize())
                && request.nextTokensToCache == nextBlockEnd(request, cohort)
                && request.numOutputTokens + numInFlight < maxOutputTokens
                && request.request().sampling().minTokens() <= maxOutputTokens
                && request.request().sampling().stopTokenIds().isEmpty();
    }

    /** Returns how many tokens an answer has when it ends for its length. */
    private static int maxOutputTokens(VllmRequest request, int maxModelLen) {
        return Math.min(request.maxTotalTokens(), maxModelLen) - request.numPromptTokens();
    }

    /** Returns how many steps it takes, the next to be planned being the first, until the answer ends for its length. */
    static int numStepsToLimit(VllmRequest request, DecodeCohort cohort) {
        return maxOutputTokens(request, cohort.maxModelLen()) - request.numOutputTokens - cohort.numInFlight();
    }

    /** Returns how many steps it takes until the answer ends; 0 if it ends with the step in flight. */
    static int numStepsToEnd(VllmRequest request, DecodeCohort cohort) {
        int numToEndOfSequence = request.sampler.numUntilEndOfSequence();
        var sampling = request.request().sampling();
        boolean endsBefore = numToEndOfSequence > 0
                && !sampling.ignoreEos()
                && request.numOutputTokens + numToEndOfSequence >= sampling.minTokens();
        int numToLimit = numStepsToLimit(request, cohort);
        return endsBefore ? Math.min(numToLimit, numToEndOfSequence - cohort.numInFlight()) : numToLimit;
    }

    /** Returns where the block ends that was not full with the tokens known when the last step was planned. */
    private static int nextBlockEnd(VllmRequest request, DecodeCohort cohort) {
        int numKnown = request.numComputedTokens - cohort.numInFlight();
        return numKnown - numKnown % cohort.blockSize() + cohort.blockSize();
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

    /** Has the request take over the steps that the cohort has planned and executed since the last time. */
    void catchUp() {
        int planned = Math.min(cohort.numStepsPlanned(), lastStep) - numStepsPlanned;
        if (planned > 0) {
            onPlanned(planned);
        }
        int executed = Math.min(cohort.numStepsExecuted(), lastStep) - numStepsExecuted;
        if (executed > 0) {
            onExecuted(executed);
        }
    }

    private void onPlanned(int numSteps) {
        numStepsPlanned += numSteps;
        request.lastStep = cohort.lastPlanStep();
        request.numComputedTokens += numSteps;
        request.numInFlightTokens += numSteps;
        request.numPlaceholders += numSteps * cohort.numInFlight();
        request.numSlots = VllmRequest.roundUp(request.numComputedTokens, cohort.blockSize());
        request.nextTokensToCache = nextBlockEnd(request, cohort);
    }

    private void onExecuted(int numSteps) {
        numStepsExecuted += numSteps;
        request.numInFlightTokens -= numSteps;
        request.numPlaceholders -= numSteps * cohort.numInFlight();
        request.numOutputTokens += numSteps;
        request.sampler.sampleMany(numSteps);
        request.lastTokenNanos = cohort.lastEndNanos();
    }
}

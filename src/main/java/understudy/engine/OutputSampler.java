package understudy.engine;

/**
 * Sampler of one request's answer: tokens come out one at a time, by {@link #sample()}. Reads of a token that has not
 * been sampled are counted in {@link #numPeeks()}; a run whose counter is not 0 has broken the rule that nothing in
 * control of a request reads its true output.
 */
public final class OutputSampler {
    private final OutputPlan plan;
    private int numSampled;
    private int numPeeks;

    /** Creates the sampler of an answer that has no token yet. */
    public OutputSampler(OutputPlan plan) {
        this.plan = plan;
    }

    /** Samples the next token and returns whether it is the end-of-sequence token. */
    public boolean sample() {
        return ++numSampled == plan.length();
    }

    /** Samples so many tokens, of which none ends the answer. */
    public void sampleMany(int count) {
        numSampled += count;
    }

    /**
     * Returns how many more tokens are sampled until the end-of-sequence token, itself included; 0 if it has come, or
     * never does. Only for what applies the result of steps: nothing that plans one may know.
     */
    public int numUntilEndOfSequence() {
        return plan.length() == OutputPlan.ENDLESS ? 0 : Math.max(0, plan.length() - numSampled);
    }

    /** Returns a token that has been sampled. */
    public int tokenAt(int index) {
        if (index >= numSampled) {
            numPeeks++;
        }
        return plan.tokens().tokenAt(index);
    }

    /** Returns how often a token was read before it was sampled. */
    public int numPeeks() {
        return numPeeks;
    }
}

package understudy.fidelity.probe;

import it.unimi.dsi.fastutil.doubles.DoubleList;

/**
 * Answer to a request of a probe, as its client saw it. Times count from the start of the probe.
 *
 * @param request the request
 * @param sentNanos when it was sent
 * @param numPromptTokens length of its prompt, as the server counts it
 * @param tokenNanos when each token came, in ascending order; one at least
 */
public record ProbedAnswer(ProbeRequest request, double sentNanos, int numPromptTokens, DoubleList tokenNanos) {
    private static final int USUAL_BLOCK = 16;

    double firstNanos() {
        return tokenNanos.getDouble(0);
    }

    double ttftNanos() {
        return firstNanos() - sentNanos;
    }

    /** Returns the tokens at the prompt's beginning that were in whole blocks of the prefix cache. */
    int numCachedTokens() {
        long shared = Math.round((double) request.numWarmWords()
                * numPromptTokens
                / request.prompt().length());
        return (int) (shared / USUAL_BLOCK * USUAL_BLOCK);
    }
}

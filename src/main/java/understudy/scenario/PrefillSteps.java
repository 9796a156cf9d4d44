package understudy.scenario;

import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.routing.PrefillEstimate;

/**
 * Prefill time of a prompt as the sum of its steps, each of them alone in its batch.
 *
 * @param latency how long a step takes
 * @param maxChunkTokens most tokens of a prompt in one step, at least 1
 */
record PrefillSteps(LatencyModel latency, int maxChunkTokens) implements PrefillEstimate {

    @Override
    public double nanos(int numTokens, int numCachedTokens) {
        var batch = new BatchShape.Builder();
        double sum = 0;
        int chunk;
        for (int computed = numCachedTokens; computed < numTokens; computed += chunk) {
            chunk = Math.min(maxChunkTokens, numTokens - computed);
            batch.clear();
            batch.add(chunk, computed, computed + chunk == numTokens);
            sum += latency.stepNanos(batch.build());
        }
        return sum;
    }
}

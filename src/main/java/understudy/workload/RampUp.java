package understudy.workload;

/**
 * Rise of the rate of arrivals from the first request to the last, as {@code vllm bench serve --ramp-up-strategy}: the
 * rate depends on how many requests have arrived, not on the time.
 *
 * @param isExponential whether the rate grows by equal factors; else by equal steps
 * @param startPerSecond rate of the first request, above 0
 * @param endPerSecond rate of the last request, above 0
 * @param numRequests requests in all, at least 1
 */
public record RampUp(boolean isExponential, double startPerSecond, double endPerSecond, long numRequests) {

    /** Returns the rate at which a request comes, given its number from 0; after the last one it stays. */
    public double perSecond(long index) {
        double progress = Math.min(1, (double) index / Math.max(1, numRequests - 1));
        return isExponential
                ? startPerSecond * Math.pow(endPerSecond / startPerSecond, progress)
                : startPerSecond + (endPerSecond - startPerSecond) * progress;
    }
}

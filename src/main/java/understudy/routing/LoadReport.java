package understudy.routing;

import understudy.engine.lora.AdapterUse;

/**
 * Report of a replica on itself, as a router that scrapes its metrics gets it. The queues are those of the time of the
 * report; vLLM's gauges are those of its last step's end.
 *
 * @param atNanos when it was made, in virtual time
 * @param numRunning vLLM's {@code num_requests_running}
 * @param numWaiting vLLM's {@code num_requests_waiting}
 * @param kvCacheUsage share of the KV blocks in use, 0 to 1
 * @param pendingPrefillTokens prompt tokens left to compute of all requests, without regard to what is cached
 * @param adapters LoRA adapters of its requests
 */
public record LoadReport(
        long atNanos,
        int numRunning,
        int numWaiting,
        double kvCacheUsage,
        long pendingPrefillTokens,
        AdapterUse adapters) {
    /** Report of a replica that has not reported yet. */
    public static final LoadReport NONE = new LoadReport(0, 0, 0, 0, 0);

    /** Returns the report with another share of the KV blocks in use. */
    public LoadReport withKvCacheUsage(double usage) {
        return new LoadReport(atNanos, numRunning, numWaiting, usage, pendingPrefillTokens, adapters);
    }

    /** Creates a report of a replica without LoRA. */
    public LoadReport(long atNanos, int numRunning, int numWaiting, double kvCacheUsage, long pendingPrefillTokens) {
        this(atNanos, numRunning, numWaiting, kvCacheUsage, pendingPrefillTokens, AdapterUse.NONE);
    }
}

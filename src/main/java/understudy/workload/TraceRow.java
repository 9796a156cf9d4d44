package understudy.workload;

import understudy.kvcache.TokenSequence;

/**
 * One request of a trace.
 *
 * @param arrivalNanos since the beginning of the trace, at least 0
 * @param prompt at least one token
 * @param numOutputTokens at least 1
 */
public record TraceRow(long arrivalNanos, TokenSequence prompt, int numOutputTokens) {}

package understudy.workload.trace;

import understudy.prompt.TokenSequence;

/**
 * One request of a trace.
 *
 * @param line where it stands in its file, from 1
 * @param arrivalNanos on the clock of the trace, at least 0
 * @param prompt at least one token
 * @param numOutputTokens at least 1
 * @param priority smaller is more urgent; 0 if the trace says nothing
 * @param tenant who pays for it; empty if the trace says nothing
 */
public record TraceRow(
        long line, long arrivalNanos, TokenSequence prompt, int numOutputTokens, int priority, String tenant) {}

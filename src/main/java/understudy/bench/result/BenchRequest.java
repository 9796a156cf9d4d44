package understudy.bench.result;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Record of one request, as its client saw it. Times are nanoseconds since the start of the benchmark.
 *
 * @param id number of the request, in the order of the workload
 * @param priority class of its service level
 * @param end outcome
 * @param times when it was due and sent
 * @param chunkNanos when each chunk of the answer came
 * @param inputTokens prompt tokens as the server counts them, or else as the workload does
 * @param outputTokens answer tokens as the server counts them, or else chunks
 * @param numRetries attempts after the first one
 * @param text the answer so far
 * @param error error message; empty if there was no error
 */
@RecordBuilder
public record BenchRequest(
        long id,
        int priority,
        End end,
        SendTimes times,
        LongList chunkNanos,
        int inputTokens,
        int outputTokens,
        int numRetries,
        String text,
        String error) {

    /** Outcome of a request. */
    public enum End {
        /** It was answered. */
        COMPLETED,
        /** It was refused, or its answer broke off. */
        FAILED,
        /** The client gave it up. */
        ABORTED,
        /** The benchmark was broken off before. */
        UNFINISHED
    }

    /**
     * Times before an answer.
     *
     * @param intendedNanos when the workload wants it sent
     * @param dueNanos when the limit on concurrency lets it be sent; no earlier
     * @param firstSentNanos when the first attempt was sent
     * @param sentNanos when the last attempt was sent
     * @param handedOverNanos when the call that sent the last attempt returned
     */
    public record SendTimes(
            long intendedNanos, long dueNanos, long firstSentNanos, long sentNanos, long handedOverNanos) {}

    public boolean isCompleted() {
        return end == End.COMPLETED;
    }

    /** Returns the time from sending to the first chunk, or 0 if none came. */
    public long ttftNanos() {
        return chunkNanos.isEmpty() ? 0 : chunkNanos.getLong(0) - times.sentNanos;
    }

    /** Returns the time from sending to the last chunk, or 0 if none came. */
    public long e2elNanos() {
        return chunkNanos.isEmpty() ? 0 : lastChunkNanos() - times.sentNanos;
    }

    /** Returns the mean time per token after the first, or 0 if there is none. */
    public double tpotNanos() {
        return outputTokens > 1 ? (double) (e2elNanos() - ttftNanos()) / (outputTokens - 1) : 0;
    }

    /** Returns when the answer ended, or when it was given up or failed without one. */
    public long lastChunkNanos() {
        return chunkNanos.isEmpty() ? times.sentNanos : chunkNanos.getLong(chunkNanos.size() - 1);
    }

    /** Returns how long the limit on concurrency held it back. */
    public long queueNanos() {
        return times.dueNanos - times.intendedNanos;
    }

    /** Returns how late the client sent it. */
    public long lagNanos() {
        return times.firstSentNanos - times.dueNanos;
    }

    /** Returns the part of the latencies before the last attempt was sent. */
    public long beforeSendNanos() {
        return times.sentNanos - times.intendedNanos;
    }
}

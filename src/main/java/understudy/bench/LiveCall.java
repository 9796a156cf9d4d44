package understudy.bench;

import java.net.http.HttpRequest;
import understudy.bench.result.BenchRequest;
import understudy.bench.result.BenchRequest.End;
import understudy.bench.result.BenchRequest.SendTimes;
import understudy.bench.result.BenchRequestBuilder;
import understudy.engine.Request;
import understudy.runtime.Stopwatch;

/** A request under way, with all its attempts. */
final class LiveCall {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double FIRST_PAUSE_SECONDS = 0.5;
    private static final double MAX_PAUSE_SECONDS = 60;
    private static final long NEVER = -1;

    private final Request request;
    private final HttpRequest httpRequest;
    private final int maxChunks;
    private final long intendedNanos;
    private final long dueNanos;
    private Attempt attempt;
    private LiveAnswer answer = new LiveAnswer();
    private long firstSentNanos = NEVER;
    private long sentNanos;
    private long handedOverNanos;
    private long endNanos;
    private long retryNanos;
    private int numRetries;

    LiveCall(Request request, HttpRequest httpRequest, int maxChunks, long intendedNanos, long dueNanos) {
        this.request = request;
        this.httpRequest = httpRequest;
        this.maxChunks = maxChunks;
        this.intendedNanos = intendedNanos;
        this.dueNanos = dueNanos;
        attempt = new Attempt(Stopwatch.start(), maxChunks);
    }

    /** Begins an attempt, which is sent at once. */
    void begin(Stopwatch watch) {
        attempt = new Attempt(watch, maxChunks);
        sentNanos = watch.nanos();
        firstSentNanos = firstSentNanos == NEVER ? sentNanos : firstSentNanos;
    }

    void onHandedOver(long atNanos) {
        handedOverNanos = atNanos;
    }

    void onEnded(LiveAnswer whole, long atNanos) {
        answer = whole;
        endNanos = atNanos;
    }

    /** Plans another attempt: when the server wants it, or after a pause that doubles. */
    void retryLater() {
        var seconds = attempt.retryAfterSeconds();
        double pause = seconds.isPresent()
                ? seconds.getAsLong()
                : Math.min(MAX_PAUSE_SECONDS, Math.scalb(FIRST_PAUSE_SECONDS, numRetries));
        retryNanos = endNanos + Math.round(pause * NANOS_PER_SECOND);
        numRetries++;
    }

    Request request() {
        return request;
    }

    HttpRequest httpRequest() {
        return httpRequest;
    }

    Attempt attempt() {
        return attempt;
    }

    LiveAnswer answer() {
        return answer;
    }

    int numRetries() {
        return numRetries;
    }

    long retryNanos() {
        return retryNanos;
    }

    long endNanos() {
        return endNanos;
    }

    BenchRequest toRecord() {
        return toRecord(answer, answer.result());
    }

    /** Breaks off the call, and returns the record of the answer so far. */
    BenchRequest breakOff() {
        return toRecord(attempt.abort(), End.UNFINISHED);
    }

    private BenchRequest toRecord(LiveAnswer part, End end) {
        int inputTokens =
                part.inputTokens() > 0 ? part.inputTokens() : request.prompt().length();
        return BenchRequestBuilder.builder()
                .id(request.id())
                .priority(request.priority())
                .end(end)
                .times(new SendTimes(intendedNanos, dueNanos, firstSentNanos, sentNanos, handedOverNanos))
                .chunkNanos(part.chunkNanos())
                .inputTokens(inputTokens)
                .outputTokens(part.outputTokens())
                .numRetries(numRetries)
                .text(part.text())
                .error(end == End.UNFINISHED ? "" : part.error())
                .build();
    }
}

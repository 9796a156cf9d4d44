package understudy.chaos.proxy;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.AttemptBuilder;
import understudy.runtime.Stopwatch;

/** The attempts of one scenario, from all its replicas. Any thread may use it. */
public final class AttemptLog {
    private final Stopwatch stopwatch;
    private final List<Attempt> attempts = new ArrayList<>();

    /** @param stopwatch runs since the scenario's start */
    public AttemptLog(Stopwatch stopwatch) {
        this.stopwatch = stopwatch;
    }

    /** Returns the time since the scenario's start. */
    long nowNanos() {
        return stopwatch.nanos();
    }

    /** Begins an attempt, and returns its number. */
    synchronized int begin(String callId, String replica, long connection, boolean hasBadCertificate) {
        attempts.add(AttemptBuilder.builder()
                .callId(callId)
                .replica(replica)
                .connection(connection)
                .hasBadCertificate(hasBadCertificate)
                .acceptedNanos(nowNanos())
                .firstBodyByteNanos(-1)
                .endNanos(-1)
                .retryAfterSeconds(OptionalLong.empty())
                .cachedTokens(-1)
                .promptTokens(-1)
                .ending(Attempt.Ending.OPEN)
                .build());
        return attempts.size() - 1;
    }

    /**
     * Changes what is known of an attempt.
     *
     * @param change is given the attempt as it is, and sets in the builder what is new
     */
    synchronized void change(int number, BiConsumer<Attempt, AttemptBuilder> change) {
        var soFar = attempts.get(number);
        var next = AttemptBuilder.builder(soFar);
        change.accept(soFar, next);
        attempts.set(number, next.build());
    }

    /** Returns the attempts so far, in the order in which they came. */
    public synchronized List<Attempt> attempts() {
        return List.copyOf(attempts);
    }
}

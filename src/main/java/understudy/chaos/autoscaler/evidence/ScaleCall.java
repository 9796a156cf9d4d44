package understudy.chaos.autoscaler.evidence;

import java.util.OptionalInt;

/**
 * One call of the scale subresource.
 *
 * @param atNanos when it came, since the scenario's start; 0 also for what came at once, before that
 * @param method method of HTTP
 * @param status status of the answer; 0 if the caller got none
 * @param replicas {@code spec.replicas} that it asked for; empty for reads, and for what could not be understood
 */
public record ScaleCall(long atNanos, String method, int status, OptionalInt replicas) {
    private static final int OK = 200;
    private static final int MULTIPLE_CHOICES = 300;
    private static final int CONFLICT = 409;
    private static final int INTERNAL_ERROR = 500;

    /** Returns the call with its time counted from a later start; 0 for one before that. */
    public ScaleCall since(long startNanos) {
        return new ScaleCall(Math.max(0, atNanos - startNanos), method, status, replicas);
    }

    /** Returns whether it has set the number of replicas. */
    public boolean isAccepted() {
        return replicas.isPresent() && status >= OK && status < MULTIPLE_CHOICES;
    }

    /** Returns whether it failed in a way that calls for another attempt. */
    public boolean isFailed() {
        return status == 0 || status == CONFLICT || status >= INTERNAL_ERROR;
    }
}

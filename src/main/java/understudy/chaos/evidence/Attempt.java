package understudy.chaos.evidence;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.OptionalLong;

/**
 * One request that the gateway sent to a replica for a call. Times are nanoseconds since the scenario's start; -1 for a
 * point that it never came to.
 *
 * @param callId call that it serves
 * @param replica name of the replica
 * @param connection number of the connection, unique within the scenario
 * @param hasBadCertificate whether the connection began with a certificate of the replica that does not verify
 * @param acceptedNanos when its head had come
 * @param firstBodyByteNanos when the first byte of the response's body was sent
 * @param endNanos when it ended
 * @param status status that the replica sent; 0 if none
 * @param retryAfterSeconds header {@code Retry-After} that it was sent
 * @param bodyBytes bytes of the response's body sent
 * @param cachedTokens prompt tokens that the replica found in its cache; -1 if unknown
 * @param promptTokens prompt tokens; -1 if unknown
 * @param ending how it ended
 */
@RecordBuilder
public record Attempt(
        String callId,
        String replica,
        long connection,
        boolean hasBadCertificate,
        long acceptedNanos,
        long firstBodyByteNanos,
        long endNanos,
        int status,
        OptionalLong retryAfterSeconds,
        long bodyBytes,
        int cachedTokens,
        int promptTokens,
        Ending ending) {

    /** How a request ended for its replica. */
    public enum Ending {
        /** With its whole response. */
        COMPLETED,
        /** With a status that is not 2xx. */
        REFUSED,
        /** With a connection that the replica closed, reset or let hang, as its fault wants. */
        BROKEN_BY_FAULT,
        /** With a connection that the gateway closed before the response had ended. */
        LEFT_BY_GATEWAY,
        /** Not before the scenario's end. */
        OPEN
    }
}

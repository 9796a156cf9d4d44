package understudy.chaos.evidence;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.OptionalLong;

/**
 * One call as the client in front of the gateway saw it. Times are nanoseconds since the scenario's start; a call that
 * never came to a point has -1 there.
 *
 * @param id name of the call, which also stands in its prompt, so that replicas know it whatever a gateway does to
 *     headers
 * @param session name that calls with a common prefix share
 * @param tenant who sends it
 * @param isStreamed whether it asked for server-sent events
 * @param sentNanos when the client sent it
 * @param headNanos when the head of the response came
 * @param firstTokenNanos when the first token came
 * @param endNanos when the call ended, or when the client gave it up
 * @param status status of the response; 0 if no head came
 * @param retryAfterSeconds header {@code Retry-After}, where the response had it in seconds
 * @param ending how the call ended
 * @param expected tokens of the whole answer, in their order
 * @param received tokens that came, in the order in which they came
 * @param error message of the error, or an empty text
 */
@RecordBuilder
public record ClientCall(
        String id,
        String session,
        String tenant,
        boolean isStreamed,
        long sentNanos,
        long headNanos,
        long firstTokenNanos,
        long endNanos,
        int status,
        OptionalLong retryAfterSeconds,
        Ending ending,
        List<String> expected,
        List<String> received,
        String error) {

    public ClientCall {
        expected = List.copyOf(expected);
        received = List.copyOf(received);
    }

    /** How a call ended for its client. */
    public enum Ending {
        /** With a whole answer: a 200 with its body, or a stream with {@code [DONE]}. */
        COMPLETED,
        /** With a status that is not 2xx. */
        REFUSED,
        /** With an error event within the stream. */
        ERROR_EVENT,
        /** With a stream or body that broke off. */
        CUT,
        /** With a stream or body that is not what its format says. */
        MALFORMED,
        /** Without a connection to the gateway. */
        UNREACHABLE,
        /** Not at all within the client's patience. */
        TIMED_OUT,
        /** By the client, which left before the end because the scenario wants it. */
        LEFT_BY_CLIENT
    }
}

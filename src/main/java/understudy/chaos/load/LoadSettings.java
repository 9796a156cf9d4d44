package understudy.chaos.load;

import io.soabase.recordbuilder.core.RecordBuilder;

/**
 * One stream of calls, which come at even distances with some jitter.
 *
 * @param tenant who sends them
 * @param model model that they name
 * @param startNanos when the first comes
 * @param durationNanos time in which they come
 * @param callsPerSecond how many come
 * @param streamedShare share of those that ask for server-sent events, 0 to 1
 * @param sessions sessions, of which each call has one
 * @param prefixWords words of the common prefix of a session
 * @param words words of an answer
 * @param retries how often a call is sent again when it was refused with {@code Retry-After}
 * @param leaveEvery of how many calls the client leaves one in the middle; 0 is none
 */
@RecordBuilder
public record LoadSettings(
        String tenant,
        String model,
        long startNanos,
        long durationNanos,
        double callsPerSecond,
        double streamedShare,
        int sessions,
        int prefixWords,
        int words,
        int retries,
        int leaveEvery) {}

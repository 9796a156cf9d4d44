package understudy.workload.agentic;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.workload.OutputLimit;

/**
 * Options of playing agents' sessions.
 *
 * @param lanes sessions that are live at a time, or 0 for all
 * @param isClosedLoop whether a turn waits for the answer before, and is not sent when the trace says
 * @param maxPauseSeconds longest time from an answer to the next turn or, by timestamps, without any request of the
 *     session; infinite for any
 * @param timeScale factor on pauses and times, above 0
 * @param limit most sessions to read, or 0 for all
 * @param plays sessions to play, from the first on again after the last, or 0 for each once, or for any number if there is
 *     a duration
 * @param durationSeconds after this nothing is sent; infinite for never
 * @param startsAnywhere whether the first session of a lane starts at a random time of its own
 * @param hasPrimer whether such a session begins with the last prompt before, and an answer of one token
 * @param numWarmups how many turns of such a session are then sent without pauses
 * @param sharesSystemPrompt whether tools and system prompt are the same in all sessions
 * @param reusesAcrossPlays whether a session says the same when it is played again
 * @param isShuffled whether the order is drawn
 * @param skipsBad whether a session that cannot be used is passed over, and does not end the run
 * @param outputLimit how answers end
 * @param maxModelLen longest sequence in tokens
 */
@RecordBuilder
public record AgenticOptions(
        int lanes,
        boolean isClosedLoop,
        double maxPauseSeconds,
        double timeScale,
        long limit,
        long plays,
        double durationSeconds,
        boolean startsAnywhere,
        boolean hasPrimer,
        int numWarmups,
        boolean sharesSystemPrompt,
        boolean reusesAcrossPlays,
        boolean isShuffled,
        boolean skipsBad,
        OutputLimit outputLimit,
        int maxModelLen) {
    private static final double NANOS_PER_SECOND = 1e9;

    /** Returns a pause of the trace as it is played. */
    long pauseNanos(double seconds) {
        return Math.round(Math.min(seconds, maxPauseSeconds) * timeScale * NANOS_PER_SECOND);
    }

    /** Returns whether sessions come again. */
    boolean recycles(long numPlayed) {
        return plays > numPlayed || (plays == 0 && durationSeconds < Double.POSITIVE_INFINITY);
    }
}

package understudy.workload.agentic;

import java.io.Closeable;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.workload.RandomStreams;
import understudy.workload.files.TraceException;

/** Sessions in the order in which they are played, each read when it is asked for. */
final class SessionQueue implements Closeable {

    /**
     * Next session to play.
     *
     * @param number number of the session, the same each time it is played
     */
    record Next(long number, AgenticSession session) {}

    private final Path path;
    private final AgenticOptions options;
    private final RandomStreams streams;
    private final Map<String, Integer> numbers = new HashMap<>();
    private SessionTexts texts;
    private long numRead;
    private long numGiven;
    private long numBad;
    private String firstProblem = "";
    private long pass;

    SessionQueue(Path path, AgenticOptions options, RandomStreams streams) {
        this.path = path;
        this.options = options;
        this.streams = streams;
        texts = open();
    }

    private SessionTexts open() {
        return new SessionTexts(path, options.isShuffled() ? streams.stream("order-of-sessions", pass) : null);
    }

    /** Returns how many sessions could not be used, and were passed over, if there were any. */
    Optional<String> warning() {
        return numBad == 0
                ? Optional.empty()
                : Optional.of(
                        "sessions passed over since they cannot be used: " + numBad + "; the first is " + firstProblem);
    }

    /**
     * Returns the next session, or null when there is none left.
     *
     * @param mayRecycle whether it may be one that was there before
     * @throws TraceException if it cannot be used
     */
    @Nullable Next next(boolean mayRecycle) {
        if (options.plays() > 0 && numGiven == options.plays()) {
            return null;
        }
        var next = nextOfPass();
        if (next == null && mayRecycle && numGiven > 0 && options.recycles(numGiven)) {
            rewind();
            next = nextOfPass();
        }
        if (next == null && numGiven == 0) {
            throw new TraceException(path.toString(), "there are no sessions, neither .json nor .jsonl");
        }
        numGiven += next == null ? 0 : 1;
        return next;
    }

    private @Nullable Next nextOfPass() {
        while (options.limit() == 0 || numRead < options.limit()) {
            var text = texts.next();
            if (text == null) {
                return null;
            }
            numRead++;
            try {
                return new Next(numberOf(text), SessionReader.read(text));
            } catch (TraceException e) {
                if (!options.skipsBad()) {
                    throw e;
                }
                noteBad(e);
            }
        }
        return null;
    }

    private void noteBad(TraceException problem) {
        if (pass == 0) {
            firstProblem = numBad == 0 ? String.valueOf(problem.getMessage()) : firstProblem;
            numBad++;
        }
    }

    private int numberOf(SessionText text) {
        int fresh = numbers.size();
        var known = numbers.putIfAbsent(text.file() + ":" + text.line(), fresh);
        return known == null ? fresh : known;
    }

    private void rewind() {
        texts.close();
        pass++;
        numRead = 0;
        texts = open();
    }

    @Override
    public void close() {
        texts.close();
    }
}

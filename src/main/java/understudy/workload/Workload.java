package understudy.workload;

import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.workload.files.TraceException;

/** A source of requests, read lazily; the requests of a run are numbered from 0 on. */
public interface Workload extends AutoCloseable {

    /** Source of a workload: a value, which opens the same workload again for each run. */
    @FunctionalInterface
    interface Source {

        /**
         * Returns the workload from its beginning; the caller closes it.
         *
         * @throws TraceException if it cannot be read
         */
        Workload open();
    }

    /**
     * Returns the next request whose arrival does not depend on the answers to others, in order of arrival, or null
     * when there is none left.
     *
     * @throws TraceException if the source has a line that cannot be used
     */
    @Nullable Request next();

    /**
     * Returns when a request that {@link #next} gave out leaves its sender: at its arrival, or later if it takes the
     * sender time to hand it over. In the order in which they were given out.
     */
    default long sendNanos(Request request) {
        return request.arrivalNanos();
    }

    /** Returns when a request was wanted: when it arrives, or earlier if it had to wait for the end of others. */
    default long intendedNanos(Request request) {
        return request.arrivalNanos();
    }

    /**
     * Returns what the answer to a request leads to: the next turn of its session, which arrives at or after
     * {@code atNanos}, or null.
     *
     * @param request one that this workload gave out, and that has ended
     * @param numOutputTokens length of the answer, in tokens; 0 if there was none
     * @param atNanos when the answer was complete
     */
    @Nullable Request followUp(Request request, int numOutputTokens, long atNanos);

    /** Returns another request that the latest answer leads to, or null when there is none left. */
    default @Nullable Request anotherFollowUp() {
        return null;
    }

    /** Returns how many requests there will be at most, or empty if that is not known. */
    OptionalLong total();

    /**
     * Returns how many requests were announced so far, by giving out the first of each session: those given out, those
     * still to come as follow-ups, and those {@linkplain #numAbandoned abandoned}.
     */
    long numPlanned();

    /** Returns how many follow-ups will never be given out, since a turn before them got no answer. */
    long numAbandoned();

    /** Returns a warning about the requests given out, for readers of the results, or nothing. */
    default Optional<String> warning() {
        return Optional.empty();
    }

    @Override
    void close();
}

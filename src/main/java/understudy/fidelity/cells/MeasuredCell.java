package understudy.fidelity.cells;

import java.util.List;
import java.util.stream.Stream;

/**
 * Cell of a table: mean times of a real server at a fixed concurrency.
 *
 * @param setup the server and load that were measured
 * @param lines of the file that have it
 * @param ttftMillis mean time to first token
 * @param tpotMillis mean time per output token after the first
 */
record MeasuredCell(MeasuredSetup setup, List<Long> lines, double ttftMillis, double tpotMillis) {
    private static final double MILLIS_PER_SECOND = 1e3;

    /** Returns the mean of all rows of two cells with the same setup. */
    MeasuredCell and(MeasuredCell other) {
        double share = (double) lines.size() / (lines.size() + other.lines.size());
        return new MeasuredCell(
                setup,
                Stream.concat(lines.stream(), other.lines.stream()).toList(),
                share * ttftMillis + (1 - share) * other.ttftMillis,
                share * tpotMillis + (1 - share) * other.tpotMillis);
    }

    /** Returns how long a request takes whose answer is of full length. */
    double e2eMillis() {
        return ttftMillis + (setup.outputTokens() - 1) * tpotMillis;
    }

    /** Returns the throughput that follows by Little's law: the requests in flight over the time that each takes. */
    double requestsPerSecond() {
        return setup.concurrency() / e2eMillis() * MILLIS_PER_SECOND;
    }

    /**
     * Returns how many requests wait for something else than the prompts of others, by a cell of the same server with fewer
     * requests in flight. At worst all prompts come at once, so that the time to first token grows as their number does; what
     * it is above that is waited, and Little's law turns the share of a request's time into requests.
     */
    double numWaiting(MeasuredCell fewer) {
        double growth = (double) setup.concurrency() / fewer.setup.concurrency();
        return setup.concurrency() * Math.max(0, ttftMillis - growth * fewer.ttftMillis) / e2eMillis();
    }
}

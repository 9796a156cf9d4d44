package understudy.workload.agentic;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Turns of live sessions that are sent when the trace says, the next one of each branch. */
final class Timetable {
    private final AgenticOptions options;
    private final PriorityQueue<Entry> entries =
            new PriorityQueue<>(Comparator.comparingLong(Entry::atNanos).thenComparingLong(entry -> entry.number));
    private long numEntries;

    /**
     * Turn to be sent.
     *
     * @param number of the entry, from 0
     */
    record Entry(long atNanos, long number, LiveBranch branch, SessionClock clock) {}

    /**
     * Clock of a session that is being played, on which long times without a request have been cut out: when requests were
     * sent, in order, and when they are sent.
     */
    private static final class SessionClock {
        final double[] startSeconds;
        final long[] nanos;

        SessionClock(double[] startSeconds, long[] nanos) {
            this.startSeconds = startSeconds;
            this.nanos = nanos;
        }

        long nanosAt(double seconds) {
            return nanos[Math.max(0, Arrays.binarySearch(startSeconds, seconds))];
        }
    }

    Timetable(AgenticOptions options) {
        this.options = options;
    }

    /** Adds the remaining turns of a session, of which a time is now. */
    void add(SessionPlay play, double fromSeconds, long atNanos) {
        var clock = clock(play, fromSeconds, atNanos);
        for (var branch : play.branches()) {
            addNext(branch, clock, atNanos);
        }
    }

    private SessionClock clock(SessionPlay play, double fromSeconds, long atNanos) {
        double[] starts = play.session().branches().stream()
                .flatMap(branch -> branch.turns().stream())
                .mapToDouble(AgenticSession.Turn::startSeconds)
                .filter(start -> start >= fromSeconds)
                .sorted()
                .toArray();
        var nanos = new long[starts.length];
        long last = atNanos;
        for (int i = 0; i < starts.length; i++) {
            last += options.pauseNanos(starts[i] - (i == 0 ? fromSeconds : starts[i - 1]));
            nanos[i] = last;
        }
        return new SessionClock(starts, nanos);
    }

    private void addNext(LiveBranch branch, SessionClock clock, long notBeforeNanos) {
        if (branch.numTurnsLeft() > 0) {
            long atNanos = clock.nanosAt(branch.nextTurn().startSeconds());
            entries.add(new Entry(Math.max(notBeforeNanos, atNanos), numEntries++, branch, clock));
        }
    }

    /** Removes and returns the turn that is due first, or null if there is none. */
    @Nullable Entry poll() {
        return entries.poll();
    }

    /** Adds the turn after one that was taken. */
    void goOn(Entry entry) {
        addNext(entry.branch, entry.clock, entry.atNanos);
    }
}

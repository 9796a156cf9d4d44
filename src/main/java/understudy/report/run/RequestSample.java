package understudy.report.run;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.TreeMap;
import understudy.report.Outcome;

/**
 * Sample of the requests of a run: those whose number is a multiple of a step, the turns of those sessions whose number
 * is, and the slowest. A step is 1 at first, and twice as large whenever there would be too many.
 */
public final class RequestSample {
    static final int MAX_REQUESTS = 80;
    static final int MAX_SESSIONS = 30;
    static final int MAX_SLOWEST = 20;

    private static final Comparator<RequestStory> BY_TIME = Comparator.<RequestStory>comparingLong(
                    story -> story.ended().e2elNanos())
            .thenComparing(story -> story.ended().requestId(), Comparator.reverseOrder());

    private final Thinned requests = new Thinned(MAX_REQUESTS);
    private final Thinned sessions = new Thinned(MAX_SESSIONS);
    private final PriorityQueue<RequestStory> slowest = new PriorityQueue<>(BY_TIME);

    /** Adds a request that has ended, if it is to be kept. */
    void add(RequestsInFlight.Story story) {
        var ended = story.ended();
        requests.add(ended.requestId(), story);
        if (ended.turn().isInSession()) {
            sessions.add(ended.turn().sessionId(), story);
        }
        if (ended.outcome() == Outcome.COMPLETED && isSlow(ended.e2elNanos())) {
            slowest.add(story.tell());
            if (slowest.size() > MAX_SLOWEST) {
                slowest.remove();
            }
        }
    }

    /** Equally slow ones are compared by their numbers, too. */
    private boolean isSlow(long e2elNanos) {
        return slowest.size() < MAX_SLOWEST
                || e2elNanos >= slowest.element().ended().e2elNanos();
    }

    Thinned requests() {
        return requests;
    }

    Thinned sessions() {
        return sessions;
    }

    /** Returns the answered requests that took longest from arrival to last token, the slowest first. */
    List<RequestStory> slowest() {
        var sorted = new ArrayList<>(slowest);
        sorted.sort(BY_TIME.reversed());
        return sorted;
    }

    /** Rows of requests, by the number that they have in common. */
    static final class Thinned {
        private final int max;
        private final TreeMap<Long, List<RequestStory>> rows = new TreeMap<>();
        private long step = 1;

        Thinned(int max) {
            this.max = max;
        }

        private void add(long number, RequestsInFlight.Story story) {
            if (number % step != 0) {
                return;
            }
            rows.computeIfAbsent(number, n -> new ArrayList<>(1)).add(story.tell());
            while (rows.size() > max) {
                step *= 2;
                rows.keySet().removeIf(each -> each % step != 0);
            }
        }

        /** Returns the distance of the numbers that are kept. */
        long step() {
            return step;
        }

        SortedMap<Long, List<RequestStory>> rows() {
            return Collections.unmodifiableSortedMap(rows);
        }

        Collection<List<RequestStory>> stories() {
            return rows().values();
        }
    }
}

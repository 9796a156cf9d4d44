package understudy.report;

import java.util.List;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Goodput of a run, as {@code vllm bench serve --goodput} defines it: a request is good if it was answered within every
 * limit that is set for it. One that failed or was rejected is not, and counts as a request all the same; one that its
 * own sender gave up, that has not ended, or that was never sent, does not count.
 *
 * @param numGood good requests, those without a limit among them
 * @param classes those that have a limit, in order of priority; empty if none has
 */
public record Goodput(long numGood, List<ServiceClass> classes) {

    /**
     * Attainment of one class.
     *
     * @param priority empty for the class of all priorities that have none of their own
     * @param wanted share of good requests, 0 to 1
     */
    public record ServiceClass(OptionalInt priority, long numRequests, long numGood, double wanted) {

        /** Returns the priority as people read it. */
        public String name() {
            return priority.isPresent() ? String.valueOf(priority.getAsInt()) : "any";
        }

        /** Returns the share of good requests, 0 to 1; none has missed anything if there are none. */
        public double attainment() {
            return numRequests == 0 ? 1 : (double) numGood / numRequests;
        }

        public boolean isMet() {
            return attainment() >= wanted;
        }
    }

    /** Counts the good requests of a log. */
    static Goodput of(RequestLog requests, ServiceLevels levels) {
        if (!levels.areSet()) {
            return new Goodput(0, List.of());
        }
        var byPriority = new TreeMap<Integer, Tally>();
        levels.byPriority()
                .forEach((priority, limits) -> byPriority.put(priority, new Tally(OptionalInt.of(priority), limits)));
        var others = new Tally(OptionalInt.empty(), levels.others());
        requests.stream()
                .filter(request -> request.outcome() != Outcome.ABORTED)
                .forEach(request ->
                        byPriority.getOrDefault(request.priority(), others).add(request));
        return of(Stream.concat(byPriority.values().stream(), Stream.of(others)).toList());
    }

    private static Goodput of(List<Tally> tallies) {
        var judged = tallies.stream().filter(tally -> tally.limits.areSet());
        return new Goodput(
                tallies.stream().mapToLong(tally -> tally.numGood).sum(),
                judged.map(Tally::end).toList());
    }

    /** Returns whether any class has a limit. */
    public boolean isMeasured() {
        return !classes.isEmpty();
    }

    /** Count of one class that goes on. */
    private static final class Tally {
        private final OptionalInt priority;
        private final ServiceLevels.Limits limits;
        private long numRequests;
        private long numGood;

        Tally(OptionalInt priority, ServiceLevels.Limits limits) {
            this.priority = priority;
            this.limits = limits;
        }

        void add(RequestRecord request) {
            numRequests++;
            numGood += limits.areMet(request) ? 1 : 0;
        }

        ServiceClass end() {
            return new ServiceClass(priority, numRequests, numGood, limits.attainment());
        }
    }
}

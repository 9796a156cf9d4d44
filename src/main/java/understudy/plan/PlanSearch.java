package understudy.plan;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Search for the cheapest candidate that keeps the service level, by successive halving, with bounds that make up for
 * what halving drops. It says in rounds what to run next, whatever the order in which the runs of a round end.
 *
 * <ol>
 *   <li>Each unit's fewest replicas that the shortest load does not refute are found by bisection: what misses the
 *       level misses it with fewer replicas, too.
 *   <li>The cheapest of these go on to the next load, one in {@code eta}, and so on up to the whole load. A candidate
 *       that a longer load refutes gives way to the same unit with one replica more.
 *   <li>Whatever was dropped and costs no more than the cheapest that has kept the level is run until it is refuted or
 *       takes its place: what costs more cannot.
 *   <li>The next cheaper candidate, and what is on the front of cost and latency, are run under the whole load if they
 *       were not.
 * </ol>
 */
public final class PlanSearch {
    private static final int MAX_OF_FRONT = 8;

    /** By cost, then by what is used of the level, then in the order of the candidates. */
    private static final Comparator<Tried> BEST_FIRST = Comparator.comparingDouble(
                    (Tried tried) -> tried.candidate().hourCost())
            .thenComparingDouble(tried -> tried.judgement().ratio())
            .thenComparingInt(tried -> tried.candidate().unit().index());

    /** A run of a candidate under one of the loads, with all seeds. */
    public record Trial(Candidate candidate, int load) {}

    /** Judgement of a candidate under the longest load that it was run with. */
    public record Tried(Candidate candidate, int load, Judgement judgement) {}

    private final Loads loads;
    private final boolean isExhaustive;
    private final List<Contender> contenders;
    private final Map<Candidate, Tried> tried = new LinkedHashMap<>();
    private List<Contender> heat;
    private int heatLoad = 1;
    private boolean isFrontRun;
    private long numRequests;
    private int numTrials;

    /**
     * Begins a search.
     *
     * @param counts of each unit, growing
     * @param maxGpus most GPUs of a candidate
     * @param isExhaustive whether every candidate is run under the whole load, for comparison
     */
    public PlanSearch(List<ServingUnit> units, List<Integer> counts, int maxGpus, Loads loads, boolean isExhaustive) {
        this.loads = loads;
        this.isExhaustive = isExhaustive;
        contenders = units.stream()
                .map(unit -> new Contender(
                        unit,
                        counts.stream()
                                .filter(count -> (long) count * unit.numGpus() <= maxGpus)
                                .toList()))
                .toList();
        heat = contenders;
    }

    /** Returns what to run next, and nothing when the search is done. */
    public List<Trial> next() {
        if (isExhaustive) {
            return tried.isEmpty()
                    ? candidates().map(each -> new Trial(each, loads.last())).toList()
                    : List.of();
        }
        return Stream.<Supplier<List<Trial>>>of(
                        this::bisections, this::heats, this::belowBest, this::nextCheaperTrial, this::frontTrials)
                .map(Supplier::get)
                .filter(trials -> !trials.isEmpty())
                .findFirst()
                .orElse(List.of());
    }

    /** Takes the judgement about a trial of the last round. */
    public void add(Trial trial, Judgement judgement) {
        numTrials++;
        numRequests += loads.numRequests(trial.load());
        var candidate = trial.candidate();
        tried.merge(
                candidate,
                new Tried(candidate, trial.load(), judgement),
                (old, now) -> now.load() >= old.load() ? now : old);
        contenders.stream()
                .filter(each -> each.unit.equals(candidate.unit()))
                .forEach(each -> each.add(candidate.count(), trial.load(), judgement.isRefuted()));
    }

    private List<Trial> bisections() {
        return contenders.stream()
                .filter(each -> each.low < each.high)
                .map(each -> new Trial(each.at((each.low + each.high) >>> 1), 0))
                .toList();
    }

    private List<Trial> heats() {
        for (; heatLoad <= loads.last(); heatLoad++) {
            if (heat.isEmpty() || heat.stream().allMatch(each -> each.heat < heatLoad)) {
                heat = cheapest(heat.stream().filter(each -> !each.isOut()).toList());
                heat.forEach(each -> each.heat = heatLoad);
            }
            var trials = heat.stream()
                    .filter(each -> !each.isOut() && each.load < heatLoad && each.lowestCost() <= bestCost())
                    .map(each -> new Trial(each.lowest(), heatLoad))
                    .toList();
            if (!trials.isEmpty()) {
                return trials;
            }
        }
        return List.of();
    }

    /** Returns one in {@code eta}, the cheapest ones. */
    private List<Contender> cheapest(List<Contender> of) {
        return of.stream()
                .sorted(Comparator.comparingDouble(Contender::lowestCost))
                .limit((of.size() + loads.eta() - 1) / loads.eta())
                .toList();
    }

    private List<Trial> belowBest() {
        double best = bestCost();
        var open = contenders.stream()
                .filter(each -> !each.isOut() && each.load < loads.last() && each.lowestCost() <= best)
                .toList();
        return (best == Double.POSITIVE_INFINITY ? cheapest(open) : open)
                .stream().map(each -> new Trial(each.lowest(), each.load + 1)).toList();
    }

    private List<Trial> nextCheaperTrial() {
        return wholeTrials(dearestBelow().stream());
    }

    private List<Trial> frontTrials() {
        if (isFrontRun) {
            return List.of();
        }
        isFrontRun = true;
        var front = front(tried.values());
        return wholeTrials(front.stream().map(Tried::candidate)).stream()
                .limit(MAX_OF_FRONT)
                .toList();
    }

    private List<Trial> wholeTrials(Stream<Candidate> candidates) {
        return candidates
                .filter(each -> !wasRunWhole(each))
                .map(each -> new Trial(each, loads.last()))
                .toList();
    }

    private boolean wasRunWhole(Candidate candidate) {
        return knownLoad(candidate) == loads.last();
    }

    private double bestCost() {
        return winner().map(best -> best.candidate().hourCost()).orElse(Double.POSITIVE_INFINITY);
    }

    /** Returns the dearest candidate that is cheaper than the winner, of several the one that comes closest. */
    private Optional<Candidate> dearestBelow() {
        double best = bestCost();
        return candidates()
                .filter(each -> best < Double.POSITIVE_INFINITY && each.hourCost() < best)
                .max(Comparator.comparingDouble(Candidate::hourCost)
                        .thenComparingInt(this::knownLoad)
                        .thenComparing(
                                Comparator.comparingDouble(this::knownRatio).reversed())
                        .thenComparing(Comparator.comparingInt(
                                        (Candidate each) -> each.unit().index())
                                .reversed()));
    }

    private int knownLoad(Candidate candidate) {
        var known = tried.get(candidate);
        return known == null ? -1 : known.load();
    }

    private double knownRatio(Candidate candidate) {
        var known = tried.get(candidate);
        return known == null ? Double.POSITIVE_INFINITY : known.judgement().ratio();
    }

    /** Returns all candidates, unit by unit. */
    private Stream<Candidate> candidates() {
        return contenders.stream().flatMap(each -> each.counts.stream().map(count -> new Candidate(each.unit, count)));
    }

    private Stream<Tried> whole() {
        return tried.values().stream().filter(each -> each.load() == loads.last());
    }

    /** Returns the cheapest that keeps the level under the whole load, of several the one that uses least of it. */
    public Optional<Tried> winner() {
        return whole().filter(each -> each.judgement().isKept()).min(BEST_FIRST);
    }

    /** Returns the dearest that is cheaper, and misses the level. */
    public Optional<Tried> nextCheaper() {
        return dearestBelow().map(tried::get);
    }

    /** Returns the one that comes closest to the level; none if nothing was run. */
    public Optional<Tried> closest() {
        return whole().min(Comparator.comparingDouble(
                        (Tried each) -> each.judgement().ratio())
                .thenComparing(BEST_FIRST));
    }

    /** Returns those of the whole load that no other one beats both in cost and in what is used of the level. */
    public List<Tried> front() {
        return front(whole().toList());
    }

    private static List<Tried> front(Collection<Tried> of) {
        var front = new ArrayList<Tried>();
        double lowest = Double.POSITIVE_INFINITY;
        for (var each : of.stream().sorted(BEST_FIRST).toList()) {
            if (each.judgement().ratio() < lowest) {
                lowest = each.judgement().ratio();
                front.add(each);
            }
        }
        return front;
    }

    /** Returns everything that was run, the cheapest first, each with its longest load. */
    public List<Tried> all() {
        return tried.values().stream().sorted(BEST_FIRST).toList();
    }

    /** Returns how many candidates there are. */
    public long numCandidates() {
        return candidates().count();
    }

    /** Returns how many runs of a candidate there were, each with all seeds. */
    public int numTrials() {
        return numTrials;
    }

    /** Returns the requests of these runs, with one seed. */
    public long numRequests() {
        return numRequests;
    }

    /** One unit, and the fewest of it that nothing has refuted yet. */
    private static final class Contender {
        private final ServingUnit unit;
        private final List<Integer> counts;
        /** Place of the fewest that are not refuted. */
        private int low;
        /** Place from which on the shortest load refutes nothing. */
        private int high;
        /** Longest load that has not refuted the fewest. */
        private int load;
        /** Last load for which it was chosen. */
        private int heat;

        Contender(ServingUnit unit, List<Integer> counts) {
            this.unit = unit;
            this.counts = counts;
            high = counts.size();
        }

        boolean isOut() {
            return low == counts.size();
        }

        Candidate at(int place) {
            return new Candidate(unit, counts.get(place));
        }

        Candidate lowest() {
            return at(low);
        }

        double lowestCost() {
            return lowest().hourCost();
        }

        void add(int count, int ofLoad, boolean isRefuted) {
            int place = counts.indexOf(count);
            if (isRefuted && place >= low) {
                low = place + 1;
                load = 0;
            } else if (!isRefuted && low < high) {
                high = Math.min(high, place);
            } else if (!isRefuted && place == low) {
                load = Math.max(load, ofLoad);
            }
        }
    }
}

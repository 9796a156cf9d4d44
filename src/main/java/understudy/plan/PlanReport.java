package understudy.plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import understudy.plan.PlanSearch.Trial;
import understudy.plan.PlanSearch.Tried;
import understudy.sweep.SweepRow;

/** Findings of a search, with the runs that they rest on. */
public final class PlanReport {
    private static final double SECONDS_PER_HOUR = 3600;
    private static final double MILLION = 1e6;

    private final Candidates candidates;
    private final Loads loads;
    private final int numSeeds;
    private final PlanSearch search;
    private final Map<Trial, SweepRow> rows = new HashMap<>();

    /** Begins a report of a search, whose rows follow by {@link #add}. */
    public PlanReport(Candidates candidates, Loads loads, int numSeeds, PlanSearch search) {
        this.candidates = candidates;
        this.loads = loads;
        this.numSeeds = numSeeds;
        this.search = search;
    }

    /** Takes the runs of a trial. */
    public void add(Trial trial, SweepRow row) {
        rows.put(trial, row);
    }

    /** Returns the cheapest that keeps the level. */
    public Optional<Tried> winner() {
        return search.winner();
    }

    /** Returns the requests of a trial, with one seed. */
    public long numRequests(Trial trial) {
        return loads.numRequests(trial.load());
    }

    /** Returns whether a trial has the whole load. */
    public boolean isWhole(Trial trial) {
        return trial.load() == loads.last();
    }

    PlanSearch search() {
        return search;
    }

    Map<String, List<String>> refused() {
        return candidates.refused();
    }

    int numUnits() {
        return candidates.units().size();
    }

    Loads loads() {
        return loads;
    }

    int numSeeds() {
        return numSeeds;
    }

    /** Returns the emulated requests, of all seeds. */
    long numRequests() {
        return search.numRequests() * numSeeds;
    }

    /** Returns the requests that all candidates under the whole load come to. */
    long numRequestsOfAll() {
        return search.numCandidates() * loads.numRequests(loads.last()) * numSeeds;
    }

    SweepRow row(Tried tried) {
        var row = rows.get(new Trial(tried.candidate(), tried.load()));
        if (row == null) {
            throw new IllegalStateException("no runs of " + tried.candidate().name());
        }
        return row;
    }

    /** Returns the price of a million answer tokens while the load lasts. */
    double costPerMillionTokens(Tried tried) {
        double perSecond = figure(tried, "output_throughput");
        return perSecond == 0 ? 0 : tried.candidate().hourCost() / SECONDS_PER_HOUR / perSecond * MILLION;
    }

    double figure(Tried tried, String key) {
        return row(tried).figure(key).map(SweepRow.Figure::mean).orElse(0.0);
    }

    Bottleneck bottleneck(Tried tried) {
        return Bottleneck.of(row(tried), tried.judgement().tightest());
    }

    /** Returns a line for each limit: the mean over all seeds, its confidence interval, and what is left. */
    List<String> limits(Tried tried) {
        var lines = new ArrayList<String>();
        for (var use : tried.judgement().uses()) {
            String line = PlanText.limit(use, row(tried).figure(use.key()));
            if (!lines.contains(line)) {
                lines.add(line);
            }
        }
        return lines;
    }
}

package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import understudy.routing.Signal;

/** Scorers of {@link WeightedScorers} by name. */
final class Scorers {
    static final String PRECISE_PREFIX_CACHE = "precise-prefix-cache";
    static final String PREFIX_CACHE = "prefix-cache";
    static final String NO_HIT_LRU = "no-hit-lru";

    private static final double LOAD_AWARE_THRESHOLD = 128;
    private static final double TOKEN_LOAD_THRESHOLD = 4_194_304;

    static final List<Kind> ALL = List.of(
            new Kind(PRECISE_PREFIX_CACHE, Set.of(Signal.KV_EVENTS), () -> cycle -> cycle.each(cycle.precise()::share)),
            ofReports("kv-cache-utilization", Scorers::kvCacheUtilization),
            ofReports("queue", cycle -> cycle.fewestFirst(i -> cycle.report(i).numWaiting())),
            ofReports(
                    "running-requests",
                    cycle -> cycle.fewestFirst(i -> cycle.report(i).numRunning())),
            ofReports(
                    "load-aware",
                    cycle -> cycle.each(i -> loadAware(cycle.report(i).numWaiting()))),
            new Kind("active-request", Set.of(), () -> Scorers::activeRequest),
            new Kind("token-load", Set.of(Signal.PROGRESS), () -> Scorers::tokenLoad),
            new Kind("session-affinity", Set.of(), SessionScorer::new),
            ofReports("lora-affinity", cycle -> cycle.each(i -> loraAffinity(cycle, i))),
            new Kind(NO_HIT_LRU, Set.of(), NoHitLru::new),
            new Kind(PREFIX_CACHE, Set.of(), () -> cycle -> cycle.each(cycle.assumed()::share)));

    /**
     * Kind of scorer.
     *
     * @param signals signals of replicas that it reads, beside what the router itself has sent
     * @param maker makes one without history
     */
    record Kind(String name, Set<Signal> signals, Supplier<Scorer> maker) {}

    private Scorers() {}

    private static Kind ofReports(String name, Scorer scorer) {
        return new Kind(name, Set.of(Signal.LOAD_REPORTS), () -> scorer);
    }

    private static double[] kvCacheUtilization(Scorer.Cycle cycle) {
        return cycle.each(i -> 1 - cycle.report(i).kvCacheUsage());
    }

    private static double loadAware(int numWaiting) {
        return 0.5 * (1 - Math.min(numWaiting, LOAD_AWARE_THRESHOLD) / LOAD_AWARE_THRESHOLD);
    }

    /** As in the Gateway API Inference Extension ({@code lora_affinity.go}): running, has room, waiting, none of them. */
    private static double loraAffinity(Scorer.Cycle cycle, int replica) {
        String name = cycle.request().prompt().loraName();
        var adapters = cycle.report(replica).adapters();
        if (adapters.running().contains(name)) {
            return 1;
        }
        if (adapters.running().size() + adapters.waiting().size() < adapters.maxLoras()) {
            return 0.8;
        }
        return adapters.waiting().contains(name) ? 0.6 : 0;
    }

    private static double[] activeRequest(Scorer.Cycle cycle) {
        var view = cycle.view();
        double max = cycle.candidates()
                .intStream()
                .mapToLong(view::outstanding)
                .max()
                .orElseThrow();
        return cycle.each(i -> view.outstanding(i) <= 0 ? 1 : (max - view.outstanding(i)) / max);
    }

    private static double[] tokenLoad(Scorer.Cycle cycle) {
        return cycle.each(i -> 1 - Math.min(1, cycle.view().promptTokens(i) / TOKEN_LOAD_THRESHOLD));
    }

    /** 1 for the replica that the session was last sent to. */
    private static final class SessionScorer implements Scorer {
        private final SessionReplicas sessions = new SessionReplicas(SessionReplicas.USUAL_SIZE);

        @Override
        public double[] score(Cycle cycle) {
            int last = sessions.find(cycle.request());
            return cycle.each(i -> i == last ? 1 : 0);
        }

        @Override
        public void onChosen(Cycle cycle, int replica) {
            sessions.onChosen(cycle.request(), replica);
        }
    }
}

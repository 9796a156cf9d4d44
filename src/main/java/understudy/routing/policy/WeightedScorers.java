package understudy.routing.policy;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;

/**
 * Sends a request to the replica with the highest weighted sum of scores, each from 0 to 1.
 *
 * <p>The scheduling cycle of llm-d's router, the endpoint picker of the Gateway API Inference Extension: a filter
 * ({@code prefix-cache-affinity-filter}, without its limit on the TTFT), the {@link Scorers}, a picker ({@code
 * max-score-picker} or {@code weighted-random-picker}). Among equal scores {@link LeastOutstanding} chooses, not
 * chance; the weighted draw is one number instead of one per replica. Load reports are as old as the wire has them,
 * and never too old to count. A prompt's blocks are those of the KV cache, not of 64 characters, and the last, partial
 * one does not count. {@code token-load} counts prompts in flight; {@code session-affinity} knows a session by its id,
 * not by a header.
 */
public final class WeightedScorers implements RoutingPolicy {
    static final String NAME = "weighted-scorers";

    private static final int MAX_ASSUMED_BLOCKS = 31_250;
    private static final int MAX_PROMPT_BLOCKS = 256;
    private static final int NO_CANDIDATE = -1;

    private final ScorerOptions options;
    private final List<Scorer> scorers;
    private final CachedPrefixes precise;
    private final CachedPrefixes assumed;
    private final List<CachedPrefixes> lookedUp = new ArrayList<>();
    private final UniformRandomProvider random;
    private final List<double[]> scores = new ArrayList<>();
    private double[] totals = {};

    private WeightedScorers(RoutingPolicyFactory.Cluster cluster, ScorerOptions options) {
        this.options = options;
        scorers = options.scorers().stream()
                .map(weighted -> weighted.scorer().maker().get())
                .toList();
        precise = new CachedPrefixes(cluster, options.hostWeight());
        assumed = new AssumedPrefixes(cluster, MAX_ASSUMED_BLOCKS, Long.MAX_VALUE, MAX_PROMPT_BLOCKS);
        if (options.usesPrecisePrefixes()) {
            lookedUp.add(precise);
        }
        if (options.usesAssumedPrefixes()) {
            lookedUp.add(assumed);
        }
        random = cluster.streams().stream("router-" + NAME);
    }

    static RoutingPolicyFactory factory(PolicySettings settings) {
        return factory(ScorerOptions.read(settings));
    }

    static RoutingPolicyFactory factory(ScorerOptions options) {
        return new RoutingPolicyFactory(NAME, options.signals(), cluster -> new WeightedScorers(cluster, options));
    }

    @Override
    public int choose(Request request, ClusterView view) {
        lookedUp.forEach(prefixes -> prefixes.find(request, view));
        var hits = lookedUp.isEmpty() ? precise : lookedUp.get(0);
        var cycle = new Scorer.Cycle(request, view, candidates(view.readyReplicas(), hits), precise, assumed, hits);
        score(cycle);
        int chosen = options.isDrawn()
                ? ReplicaChoice.drawn(cycle.candidates(), i -> totals[i], random)
                : ReplicaChoice.lowest(view, i -> -totals[i]);
        scorers.forEach(scorer -> scorer.onChosen(cycle, chosen));
        lookedUp.forEach(prefixes -> prefixes.onChosen(chosen, view.nowNanos()));
        return chosen;
    }

    private IntList candidates(IntList ready, CachedPrefixes hits) {
        if (options.affinityThreshold() == 0 || random.nextDouble() < options.exploration()) {
            return ready;
        }
        var having = ready.intStream()
                .filter(i -> hits.share(i) >= options.affinityThreshold())
                .toArray();
        return having.length == 0 ? ready : new IntImmutableList(having);
    }

    private void score(Scorer.Cycle cycle) {
        totals = new double[cycle.view().numReplicas()];
        Arrays.fill(totals, NO_CANDIDATE);
        cycle.candidates().forEach(i -> totals[i] = 0);
        scores.clear();
        for (int s = 0; s < scorers.size(); s++) {
            var byReplica = scorers.get(s).score(cycle);
            double weight = options.scorers().get(s).weight();
            cycle.candidates().forEach(i -> totals[i] += weight * byReplica[i]);
            scores.add(byReplica);
        }
    }

    @Override
    public int cachedTokens(int replica) {
        return lookedUp.isEmpty() ? 0 : lookedUp.get(0).tokens(replica);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        var parts = new ArrayList<RoutingScores.Part>();
        parts.add(part("score", totals, view));
        parts.add(RoutingScores.outstanding(view));
        for (int s = 0; s < scores.size(); s++) {
            parts.add(part(options.scorers().get(s).scorer().name(), scores.get(s), view));
        }
        return new RoutingScores(options.isDrawn() ? "drawn by score" : "highest score", parts);
    }

    private static RoutingScores.Part part(String name, double[] byReplica, ClusterView view) {
        return RoutingScores.Part.of(name + " in 1/1000", view, i -> Math.round(1_000 * byReplica[i]), true);
    }

    @Override
    public void onKvEvents(int replica, List<KvEvent> events) {
        lookedUp.forEach(prefixes -> prefixes.onKvEvents(replica, events));
    }
}

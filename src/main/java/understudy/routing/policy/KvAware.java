package understudy.routing.policy;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;

/**
 * Sends a request where it adds least to the work, in blocks: those left to compute, but for cached ones, and those
 * that decodes hold.
 *
 * <p>The cost of NVIDIA Dynamo's KV router for aggregated workers ({@code lib/kv-router/src/scheduling/selector}).
 * Blocks that several requests hold count for each of them; decode blocks do not grow with the answer, as without
 * {@code router_track_output_blocks}; only the GPU's cache has hits. Among equal costs {@link LeastOutstanding}
 * chooses, not chance. Without KV events each replica's blocks are pruned by themselves. No request waits in the
 * router.
 */
public final class KvAware implements RoutingPolicy {
    static final String NAME = "kv-aware";

    private static final int MAX_ASSUMED_BLOCKS = 1_000_000;

    private final Options options;
    private final CachedPrefixes cached;
    private final UniformRandomProvider random;
    private double[] costs = {};

    /**
     * Dynamo's settings of the same names.
     *
     * @param overlapScoreCredit credit for a cached block, 0 to 1
     * @param overlapScoreCreditDecay how fast that falls with the prefill work above the idlest replica's, in requests
     *     like this one
     * @param prefillLoadScale weight of blocks to compute against blocks that decodes hold
     * @param decodeActiveRequestWeight blocks that a request counts for, whatever its length
     * @param routerTemperature 0 is the lowest cost; more is by chance, in proportion to the exponential of minus the
     *     cost, scaled to 0 to 1, over this
     * @param useKvEvents whether replicas tell what they have cached; if not, it is assumed from what was sent
     * @param routerTtlNanos how long a block is then remembered after its last use
     */
    public record Options(
            double overlapScoreCredit,
            double overlapScoreCreditDecay,
            double prefillLoadScale,
            double decodeActiveRequestWeight,
            double routerTemperature,
            boolean useKvEvents,
            long routerTtlNanos) {
        static Options read(PolicySettings settings) {
            return new Options(
                    settings.number("overlap-score-credit", 0, 1),
                    settings.number("overlap-score-credit-decay", 0, 1e9),
                    settings.number("prefill-load-scale", 0, 1e9),
                    settings.number("decode-active-request-weight", 0, 1e9),
                    settings.number("router-temperature", 0, 1e9),
                    settings.bool("use-kv-events"),
                    Math.round(settings.nanos("router-ttl")));
        }

        /**
         * Returns the cost of a replica in blocks.
         *
         * @param rawPrefillBlocks to compute there, of this request and of others, as if nothing of this one were
         *     cached
         * @param overlapBlocks of this request that are cached
         * @param excess prefill work of others above the idlest replica's, in requests like this one
         * @param decodeBlocks of all requests there, this one included
         * @param activeRequests that have not ended, without this one
         */
        double cost(
                double rawPrefillBlocks,
                double overlapBlocks,
                double excess,
                double decodeBlocks,
                long activeRequests) {
            double decay = 1 / (1 + overlapScoreCreditDecay * excess);
            double credit = overlapScoreCredit * decay * overlapBlocks;
            return prefillLoadScale * Math.max(0, rawPrefillBlocks - credit)
                    + decodeBlocks
                    + decodeActiveRequestWeight * activeRequests;
        }
    }

    private KvAware(RoutingPolicyFactory.Cluster cluster, Options options) {
        this.options = options;
        cached = options.useKvEvents
                ? new CachedPrefixes(cluster)
                : new AssumedPrefixes(cluster, MAX_ASSUMED_BLOCKS, options.routerTtlNanos);
        random = cluster.streams().stream("router-" + NAME);
    }

    /** Returns the factory of the policy with these options. */
    public static RoutingPolicyFactory factory(Options options) {
        var signals = EnumSet.of(Signal.PROGRESS);
        if (options.useKvEvents) {
            signals.add(Signal.KV_EVENTS);
        }
        return new RoutingPolicyFactory(NAME, Set.copyOf(signals), cluster -> new KvAware(cluster, options));
    }

    static RoutingPolicyFactory factory(PolicySettings settings) {
        return factory(Options.read(settings));
    }

    @Override
    public int choose(Request request, ClusterView view) {
        cached.find(request, view);
        var ready = view.readyReplicas();
        costs = costs(request.prompt().length(), ready, view);
        int chosen = options.routerTemperature == 0 ? ReplicaChoice.lowest(view, i -> costs[i]) : drawn(ready);
        cached.onChosen(chosen, view.nowNanos());
        return chosen;
    }

    private double[] costs(int numTokens, IntList ready, ClusterView view) {
        double blockSize = cached.blockSize();
        double requestBlocks = Math.ceil(numTokens / blockSize);
        long minPrefillTokens =
                ready.intStream().mapToLong(view::prefillTokens).min().orElseThrow();
        var byReplica = new double[view.numReplicas()];
        for (int i : ready) {
            byReplica[i] = options.cost(
                    (view.prefillTokens(i) + numTokens) / blockSize,
                    cached.blocks(i),
                    (view.prefillTokens(i) - minPrefillTokens) / blockSize / requestBlocks,
                    (view.promptTokens(i) + numTokens) / blockSize,
                    view.outstanding(i));
        }
        return byReplica;
    }

    private int drawn(IntList ready) {
        var range = ready.intStream().mapToDouble(i -> costs[i]).summaryStatistics();
        double scale = (range.getMax() - range.getMin()) * options.routerTemperature;
        return ReplicaChoice.drawn(ready, i -> scale == 0 ? 1 : Math.exp((range.getMin() - costs[i]) / scale), random);
    }

    @Override
    public int cachedTokens(int replica) {
        return cached.tokens(replica);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return new RoutingScores(
                options.routerTemperature == 0 ? "lowest cost" : "drawn by cost",
                List.of(
                        RoutingScores.Part.of("cost in 1/1000 blocks", view, i -> Math.round(1_000 * costs[i]), false),
                        RoutingScores.outstanding(view),
                        cached.part(view),
                        RoutingScores.Part.of("prefill tokens", view, view::prefillTokens, false),
                        RoutingScores.promptTokens(view)));
    }

    @Override
    public void onKvEvents(int replica, List<KvEvent> events) {
        cached.onKvEvents(replica, events);
    }
}

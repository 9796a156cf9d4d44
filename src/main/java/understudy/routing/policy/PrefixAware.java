package understudy.routing.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;

/**
 * Sends a request where most of its prompt is cached, unless the load is out of balance.
 *
 * <p>The rules of SMG's {@code cache_aware} policy with KV events ({@code model_gateway/src/policies/cache_aware.rs}):
 * if the loads are imbalanced, the least loaded replica; else the one with the most matching leading blocks, the less
 * loaded one among equals; if no replica has enough, the least loaded one.
 */
public final class PrefixAware implements RoutingPolicy {
    static final String NAME = "prefix-aware";

    private static final String LEAST_LOADED = ": fewest outstanding";

    private final Options options;
    private final CachedPrefixes cached;
    private String rule = "";
    private boolean followsCache;

    /**
     * Thresholds for following the cache.
     *
     * @param cacheThreshold share of the prompt's blocks that must match, 0 to 1; more than this
     * @param balance when the load goes first
     * @param hostWeight weight of a block in a host's memory in relation to one on the GPU, 0 to 1 (llm-d: {@code
     *     kvCacheBackendConfigs})
     */
    public record Options(double cacheThreshold, LoadBalance balance, double hostWeight) {
        private static final double HOST_WEIGHT = 0.8;

        /** Creates options with llm-d's weight of blocks in a host's memory. */
        public Options(double cacheThreshold, LoadBalance balance) {
            this(cacheThreshold, balance, HOST_WEIGHT);
        }

        static Options read(PolicySettings settings) {
            return new Options(settings.number("cache-threshold", 0, 1), LoadBalance.read(settings));
        }
    }

    PrefixAware(Options options, CachedPrefixes cached) {
        this.options = options;
        this.cached = cached;
    }

    /** Returns the factory of the policy with these options. */
    public static RoutingPolicyFactory factory(Options options) {
        return new RoutingPolicyFactory(
                NAME,
                Set.of(Signal.KV_EVENTS),
                cluster -> new PrefixAware(options, new CachedPrefixes(cluster, options.hostWeight)));
    }

    static RoutingPolicyFactory factory(PolicySettings settings) {
        var options = Options.read(settings);
        double hostWeight = settings.number("host-weight", 0, 1);
        return factory(new Options(options.cacheThreshold, options.balance, hostWeight));
    }

    @Override
    public int choose(Request request, ClusterView view) {
        cached.find(request, view);
        int chosen = choose(view);
        cached.onChosen(chosen, view.nowNanos());
        return chosen;
    }

    private int choose(ClusterView view) {
        boolean isBalanced = !options.balance.isExceeded(view);
        int best = cached.knowsHosts()
                ? ReplicaChoice.lowest(view, i -> -cached.weightedBlocks(i))
                : cached.mostCached(view);
        followsCache = isBalanced && cached.weightedBlocks(best) > options.cacheThreshold * cached.numBlocks();
        rule = followsCache ? "most cached" : (isBalanced ? "too little cached" : "out of balance") + LEAST_LOADED;
        return followsCache ? best : view.leastLoaded();
    }

    @Override
    public int cachedTokens(int replica) {
        return cached.tokens(replica);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        var load = RoutingScores.outstanding(view);
        var parts =
                cached.knowsHosts() ? List.of(cached.part(view), cached.hostPart(view)) : List.of(cached.part(view));
        var all = new ArrayList<>(parts);
        all.add(followsCache ? all.size() : 0, load);
        return new RoutingScores(rule, all);
    }

    @Override
    public void onKvEvents(int replica, List<KvEvent> events) {
        cached.onKvEvents(replica, events);
    }
}

package understudy.routing;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.Arrays;
import java.util.List;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockHasher;
import understudy.routing.index.PrefixIndex;

/**
 * Sends a request where most of its prompt is cached, unless the load is out of balance.
 *
 * <p>The rules of SMG's {@code cache_aware} policy with KV events ({@code model_gateway/src/policies/cache_aware.rs}):
 * if the loads are imbalanced, the least loaded replica; else the one with the most matching leading blocks, the less
 * loaded one among equals; if no replica has enough, the least loaded one.
 */
public final class PrefixAware implements RoutingPolicy {
    static final String NAME = "prefix-aware";

    private final BlockHasher hasher;
    private final int maxModelLen;
    private final Options options;
    private final PrefixIndex index;
    private int[] overlaps;
    private String rule = "";
    private boolean followsCache;

    /**
     * Thresholds for following the cache.
     *
     * @param cacheThreshold share of the prompt's blocks that must match, 0 to 1; more than this
     * @param balanceAbsThreshold requests by which the most loaded replica must exceed the least loaded one, and
     * @param balanceRelThreshold times by which it must, for the loads to count as imbalanced
     */
    public record Options(double cacheThreshold, long balanceAbsThreshold, double balanceRelThreshold) {
        static Options read(PolicySettings settings) {
            return new Options(
                    settings.number("cache-threshold", 0, 1),
                    settings.wholeNumber("balance-abs-threshold", 0L, Long.MAX_VALUE),
                    settings.number("balance-rel-threshold", 1, 1e9));
        }
    }

    private PrefixAware(RoutingPolicyFactory.Cluster cluster, Options options) {
        maxModelLen = cluster.maxModelLen();
        hasher = cluster.hasher();
        this.options = options;
        index = new PrefixIndex(cluster.numReplicas());
        overlaps = new int[index.maxReplicas()];
    }

    /** Returns the factory of the policy with these options. */
    public static RoutingPolicyFactory factory(Options options) {
        return new RoutingPolicyFactory(NAME, true, cluster -> new PrefixAware(cluster, options));
    }

    static RoutingPolicyFactory factory(PolicySettings settings) {
        return factory(Options.read(settings));
    }

    @Override
    public int choose(Request request, ClusterView view) {
        if (request.prompt().length() > maxModelLen || isImbalanced(view)) {
            rule = "out of balance: fewest outstanding";
            followsCache = false;
            Arrays.fill(overlaps, 0);
            return LeastOutstanding.leastLoaded(view);
        }
        long[] blockHashes = request.prompt().blockHashes(hasher);
        if (overlaps.length < view.numReplicas()) {
            index.growTo(view.numReplicas());
            overlaps = new int[index.maxReplicas()];
        }
        index.match(blockHashes, overlaps);
        int best = mostOverlap(view);
        followsCache = overlaps[best] > options.cacheThreshold * blockHashes.length;
        rule = followsCache ? "most cached" : "too little cached: fewest outstanding";
        return followsCache ? best : LeastOutstanding.leastLoaded(view);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        var cached = new LongArrayList(view.numReplicas());
        for (int i = 0; i < view.numReplicas(); i++) {
            cached.add(overlaps[i]);
        }
        var overlap = new RoutingScores.Part("cached blocks", new LongImmutableList(cached), true);
        var load = RoutingScores.outstanding(view);
        return new RoutingScores(rule, followsCache ? List.of(overlap, load) : List.of(load, overlap));
    }

    @Override
    public void onKvEvents(int replica, List<KvEvent> events) {
        index.growTo(replica + 1);
        index.apply(replica, events);
    }

    private int mostOverlap(ClusterView view) {
        int best = view.firstReady();
        for (int i = best + 1; i < view.numReplicas(); i++) {
            if (!view.isReady(i)) {
                continue;
            }
            int difference = overlaps[i] - overlaps[best];
            if (difference > 0 || (difference == 0 && LeastOutstanding.isLessLoaded(view, i, best))) {
                best = i;
            }
        }
        return best;
    }

    private boolean isImbalanced(ClusterView view) {
        long min = Long.MAX_VALUE;
        long max = 0;
        for (int i = 0; i < view.numReplicas(); i++) {
            if (view.isReady(i)) {
                min = Math.min(min, view.outstanding(i));
                max = Math.max(max, view.outstanding(i));
            }
        }
        return max - min > options.balanceAbsThreshold && max > min * options.balanceRelThreshold;
    }
}

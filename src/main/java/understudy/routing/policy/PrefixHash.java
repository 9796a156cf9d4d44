package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;

/**
 * The replica that a {@link HashRing} has for the first tokens of the prompt, unless it has more than its share of the
 * load: then the least loaded one (SMG, {@code model_gateway/src/policies/prefix_hash.rs}).
 *
 * <p>The share is that of the loads with one request more, times a factor. SMG goes back to the ring if no replica is
 * within it, which takes a factor below 1, and that is not allowed here. SMG knows no capacities: here loads and shares
 * are in relation to them. LoRA adapter and cache salt belong to the hash, since KV blocks are not shared across them.
 */
final class PrefixHash implements RoutingPolicy {
    static final String NAME = "prefix-hash";

    private final Options options;
    private final HashRing ring = new HashRing();
    private int next;
    private boolean isMoved;

    /**
     * Length of the hashed prefix, and limit of the load.
     *
     * @param prefixTokens of the prompt, at least 1
     * @param loadFactor times of its share that a replica may have, at least 1
     */
    record Options(int prefixTokens, double loadFactor) {
        static Options read(PolicySettings settings) {
            return new Options(
                    (int) settings.wholeNumber("prefix-tokens", 1, 1 << 20), settings.number("load-factor", 1, 1e9));
        }
    }

    private PrefixHash(Options options) {
        this.options = options;
    }

    static RoutingPolicyFactory factory(PolicySettings settings) {
        var options = Options.read(settings);
        return new RoutingPolicyFactory(NAME, Set.of(), cluster -> new PrefixHash(options));
    }

    @Override
    public int choose(Request request, ClusterView view) {
        next = ring.find(Long.toHexString(hash(request.prompt())), view);
        isMoved = view.load(next) > mostLoad(view);
        return isMoved ? view.leastLoaded() : next;
    }

    private long hash(Prompt prompt) {
        var prefix = new int[Math.min(options.prefixTokens, prompt.length())];
        prompt.tokens().copy(0, prefix.length, prefix, 0);
        return new Xxh3BlockHasher(prefix.length).start(prompt).next(prefix);
    }

    private double mostLoad(ClusterView view) {
        var ready = view.readyReplicas();
        long numRequests = ready.intStream().mapToLong(view::outstanding).sum() + 1;
        double capacity = ready.intStream()
                .mapToDouble(replica -> view.traits(replica).weight())
                .sum();
        return options.loadFactor * numRequests / capacity;
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        var isNext = RoutingScores.Part.ofThose("next on the ring", view, replica -> replica == next);
        var load = RoutingScores.outstanding(view);
        return isMoved
                ? new RoutingScores("too much load: fewest outstanding", List.of(load, isNext))
                : new RoutingScores("next on the ring", List.of(isNext, load));
    }
}

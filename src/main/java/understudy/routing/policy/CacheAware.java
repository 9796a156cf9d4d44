package understudy.routing.policy;

import java.util.Set;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicyFactory;

/**
 * The rules of {@link PrefixAware} without KV events: a replica is assumed to have cached what was sent to it. This is
 * {@code cache_aware}, the default policy of SGLang's router and of SMG ({@code model_gateway/src/policies/cache_aware.rs},
 * {@code tree.rs}).
 *
 * <p>Their tree has characters, and this one has full blocks of tokens. They ask it for one replica with the longest match,
 * whether it takes requests or not; here it is looked for among those that do, and the less loaded one wins among equals.
 * They cut each replica's part of the tree to its limit every 120 s, and here that is never exceeded; in both, what was
 * unused longest goes first.
 */
final class CacheAware {
    static final String NAME = "cache-aware";

    private CacheAware() {}

    static RoutingPolicyFactory factory(PolicySettings settings) {
        var options = PrefixAware.Options.read(settings);
        long maxTokens = settings.wholeNumber("max-tree-tokens", 1, Integer.MAX_VALUE);
        return new RoutingPolicyFactory(NAME, Set.of(), cluster -> {
            int maxBlocks = (int) Math.max(1, maxTokens / cluster.hasher().blockSize());
            return new PrefixAware(options, new AssumedPrefixes(cluster, maxBlocks, Long.MAX_VALUE));
        });
    }
}

package understudy.scenario;

import java.time.Duration;
import understudy.prompt.BlockHasher;
import understudy.routing.LeastOutstanding;
import understudy.routing.PrefixAware;
import understudy.routing.RoundRobin;
import understudy.routing.RoutingPolicy;

/**
 * The section {@code router}.
 *
 * @param policy chooses a replica
 * @param prefixAware settings of the policy of that name
 * @param kvEventDelay how long KV events are under way
 */
record RouterSettings(Policy policy, PrefixAware.Options prefixAware, Duration kvEventDelay) {
    /** The policies by name. */
    enum Policy {
        ROUND_ROBIN,
        LEAST_OUTSTANDING,
        PREFIX_AWARE
    }

    static RouterSettings read(Section router) {
        var prefixAware = router.section("prefix-aware");
        return new RouterSettings(
                router.choice("policy", Policy.class),
                new PrefixAware.Options(
                        prefixAware.number("cache-threshold", 0, 1),
                        prefixAware.wholeNumber("balance-abs-threshold", 0L, Long.MAX_VALUE),
                        prefixAware.number("balance-rel-threshold", 1, 1e9)),
                Duration.ofNanos(Math.round(prefixAware.nanos("kv-event-delay"))));
    }

    boolean usesKvEvents() {
        return policy == Policy.PREFIX_AWARE;
    }

    RoutingPolicy create(BlockHasher hasher, int numReplicas, int maxModelLen) {
        return switch (policy) {
            case ROUND_ROBIN -> new RoundRobin();
            case LEAST_OUTSTANDING -> new LeastOutstanding();
            case PREFIX_AWARE -> new PrefixAware(hasher, numReplicas, maxModelLen, prefixAware);
        };
    }
}

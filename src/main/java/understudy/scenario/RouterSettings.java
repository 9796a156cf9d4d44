package understudy.scenario;

import java.time.Duration;
import understudy.routing.RoutingPolicies;
import understudy.routing.RoutingPolicyFactory;

/**
 * The section {@code router}.
 *
 * @param policy chooses a replica
 * @param kvEventDelay how long KV events are under way
 */
record RouterSettings(RoutingPolicyFactory policy, Duration kvEventDelay) {

    static RouterSettings read(Section router) {
        String name = router.choice("policy", RoutingPolicies.names());
        return new RouterSettings(
                RoutingPolicies.read(name, router.sectionOrEmpty(name)),
                Duration.ofNanos(Math.round(router.section("prefix-aware").nanos("kv-event-delay"))));
    }
}

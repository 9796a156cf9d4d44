package understudy.scenario;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import understudy.routing.RoutingPolicies;
import understudy.routing.RoutingPolicyFactory;

/**
 * The section {@code router}.
 *
 * @param policy chooses a replica
 * @param kvEventDelay delay of KV events on their way to the router
 */
record RouterSettings(RoutingPolicyFactory policy, Duration kvEventDelay) {

    static RouterSettings read(Section router) {
        String name = router.choice("policy", RoutingPolicies.names());
        // Everything is checked, also what this policy does not use.
        var policies = RoutingPolicies.names().stream()
                .collect(Collectors.toMap(
                        Function.identity(), each -> RoutingPolicies.read(each, router.sectionOrEmpty(each))));
        return new RouterSettings(
                Objects.requireNonNull(policies.get(name)),
                Duration.ofNanos(Math.round(router.section("prefix-aware").nanos("kv-event-delay"))));
    }
}

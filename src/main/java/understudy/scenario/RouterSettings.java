package understudy.scenario;

import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import understudy.routing.RouterSpec;
import understudy.routing.Wire;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.policy.RoutingPolicies;
import understudy.workload.RandomStreams;

/** The section {@code router}. */
final class RouterSettings {
    private RouterSettings() {}

    static RouterSpec read(Section router, long seed, AdmissionSpec admission) {
        String name = router.choice("policy", RoutingPolicies.names());
        // Everything is checked, also what this policy does not use.
        var policies = RoutingPolicies.names().stream()
                .collect(Collectors.toMap(
                        Function.identity(), each -> RoutingPolicies.read(each, router.sectionOrEmpty(each))));
        return new RouterSpec(
                Objects.requireNonNull(policies.get(name)),
                wire(router.section("wire")),
                admission.signals(),
                new RandomStreams(seed));
    }

    private static Wire wire(Section wire) {
        return new Wire(
                Math.round(wire.nanos("load-report-interval")),
                Math.round(wire.nanos("load-report-delay")),
                Math.round(wire.nanos("kv-event-delay")),
                wire.number("kv-event-loss", 0, 1),
                wire.text("kv-event-replay").equals("off")
                        ? OptionalLong.empty()
                        : OptionalLong.of(Math.round(wire.nanos("kv-event-replay"))));
    }
}

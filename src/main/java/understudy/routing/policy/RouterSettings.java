package understudy.routing.policy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.ServiceConfigurationError;
import understudy.routing.DisaggregationSpec;
import understudy.routing.PolicySettings;
import understudy.routing.RouterSpec;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingPolicyProvider;
import understudy.routing.Wire;
import understudy.routing.admission.AdmissionSpec;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.RandomStreams;

/** The section {@code router}. */
public final class RouterSettings {
    private static final int MAX_TOKENS = 100_000_000;

    private RouterSettings() {}

    private enum PrefillFailure {
        FAIL,
        DECODE_LOCALLY
    }

    /**
     * All settings are checked, also those that the policy does not use.
     *
     * @param isDisaggregated whether some replicas only compute prompts
     */
    public static RouterSpec read(Section router, long seed, AdmissionSpec admission, boolean isDisaggregated) {
        var policies = policies();
        var names = List.copyOf(policies.keySet());
        String name = router.choice("policy", names);
        var disaggregation = router.section("disaggregation");
        boolean isSame = disaggregation.text("prefill-policy").equals("auto");
        String prefillName = isSame ? name : disaggregation.choice("prefill-policy", names);
        var factories = new HashMap<String, RoutingPolicyFactory>();
        policies.forEach((each, policy) -> {
            if (each.equals(name) || each.equals(prefillName) || router.has(each)) {
                factories.put(each, policy.read(PolicySettings.of(router.sectionOrEmpty(each))));
            }
        });
        var prefill = disaggregation(disaggregation, Objects.requireNonNull(factories.get(prefillName)));
        return new RouterSpec(
                Objects.requireNonNull(factories.get(name)),
                wire(router.section("wire")),
                admission.signals(),
                new RandomStreams(seed),
                router.wholeNumber("peer-fetch-min-tokens", 0, MAX_TOKENS),
                isDisaggregated ? prefill : null);
    }

    private static DisaggregationSpec disaggregation(Section section, RoutingPolicyFactory policy) {
        return new DisaggregationSpec(
                section.choice("decider", DisaggregationSpec.Decider.class),
                section.wholeNumber("uncached-tokens", 0, MAX_TOKENS),
                section.wholeNumber("max-local-prefill-length", 0, MAX_TOKENS),
                section.wholeNumber("max-prefill-queue-size", 1, MAX_TOKENS),
                section.choice("on-prefill-failure", PrefillFailure.class) == PrefillFailure.DECODE_LOCALLY,
                policy);
    }

    private static Map<String, RoutingPolicyProvider> policies() {
        try {
            return RoutingPolicies.byName();
        } catch (IllegalArgumentException | ServiceConfigurationError e) {
            throw new ScenarioException(String.valueOf(e.getMessage()));
        }
    }

    /** Returns whether a key is the section of a policy that is not ours, of whose keys nothing is known. */
    public static boolean isOfAnotherPolicy(String key) {
        String prefix = "router.";
        String name = key.startsWith(prefix) ? key.substring(prefix.length()) : "";
        return !name.isEmpty()
                && !RoutingPolicies.builtInNames().contains(name)
                && policies().containsKey(name);
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

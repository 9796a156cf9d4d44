package understudy.routing.policy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.regex.Pattern;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingPolicyProvider;

/** The routing policies by name. A new one is a class of its own, and a line here. */
public final class RoutingPolicies {
    private static final List<RoutingPolicyProvider> BUILT_IN = List.of(
            Entry.plain(RoundRobin.FACTORY),
            Entry.plain(LeastOutstanding.FACTORY),
            new Entry(SessionAffinity.NAME, SessionAffinity::factory),
            new Entry(PrefixAware.NAME, PrefixAware::factory),
            Entry.plain(RandomChoice.FACTORY),
            Entry.plain(LeastTokens.FACTORY),
            Entry.plain(PowerOfTwo.FACTORY),
            new Entry(ConsistentHash.NAME, ConsistentHash::factory),
            new Entry(PrefixHash.NAME, PrefixHash::factory),
            new Entry(CacheAware.NAME, CacheAware::factory),
            new Entry(KvAware.NAME, KvAware::factory),
            new Entry(WeightedScorers.NAME, WeightedScorers::factory),
            Entry.plain(TtftEstimate.FACTORY),
            Entry.plain(Oracle.FACTORY));

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");

    /** Name of a policy, and the reader of its settings. */
    private record Entry(String name, Function<PolicySettings, RoutingPolicyFactory> reader)
            implements RoutingPolicyProvider {
        static Entry plain(RoutingPolicyFactory factory) {
            return new Entry(factory.name(), settings -> factory);
        }

        @Override
        public RoutingPolicyFactory read(PolicySettings settings) {
            return reader.apply(settings);
        }
    }

    private RoutingPolicies() {}

    /** Returns the names of the policies that are part of Understudy, in the order of the manual. */
    public static List<String> builtInNames() {
        return BUILT_IN.stream().map(RoutingPolicyProvider::name).toList();
    }

    /**
     * Returns all policies by name: the built-in ones in the order of the manual, then those of others on the class path.
     *
     * @throws IllegalArgumentException if one of those has a name that it must not have
     * @throws java.util.ServiceConfigurationError if one of those cannot be made
     */
    public static Map<String, RoutingPolicyProvider> byName() {
        return byName(ServiceLoader.load(RoutingPolicyProvider.class, RoutingPolicies.class.getClassLoader()));
    }

    static Map<String, RoutingPolicyProvider> byName(Iterable<RoutingPolicyProvider> others) {
        var all = new ArrayList<>(BUILT_IN);
        others.forEach(all::add);
        var byName = new LinkedHashMap<String, RoutingPolicyProvider>();
        for (var policy : all) {
            String where = policy.getClass().getName() + " names its routing policy \"" + policy.name() + "\", ";
            if (!NAME.matcher(policy.name()).matches()) {
                throw new IllegalArgumentException(where + "which must be in lower case and with hyphens");
            }
            if (byName.putIfAbsent(policy.name(), policy) != null) {
                throw new IllegalArgumentException(where + "which is the name of another one");
            }
        }
        return byName;
    }
}

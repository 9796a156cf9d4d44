package understudy.routing.policy;

import java.util.List;
import java.util.function.Function;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicyFactory;

/** The routing policies by name. A new one is a class of its own, and a line here. */
public final class RoutingPolicies {
    private static final List<Entry> ALL = List.of(
            Entry.plain(RoundRobin.FACTORY),
            Entry.plain(LeastOutstanding.FACTORY),
            Entry.plain(SessionAffinity.FACTORY),
            new Entry(PrefixAware.NAME, PrefixAware::factory),
            new Entry(KvAware.NAME, KvAware::factory),
            new Entry(WeightedScorers.NAME, WeightedScorers::factory),
            Entry.plain(TtftEstimate.FACTORY),
            Entry.plain(Oracle.FACTORY));

    /** Name of a policy, and the reader of its settings. */
    private record Entry(String name, Function<PolicySettings, RoutingPolicyFactory> reader) {
        static Entry plain(RoutingPolicyFactory factory) {
            return new Entry(factory.name(), settings -> factory);
        }
    }

    private RoutingPolicies() {}

    /** Returns the names, in the order of the manual. */
    public static List<String> names() {
        return ALL.stream().map(Entry::name).toList();
    }

    /** Reads the settings of a policy, by one of {@link #names}. */
    public static RoutingPolicyFactory read(String name, PolicySettings settings) {
        return ALL.stream()
                .filter(entry -> entry.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name))
                .reader
                .apply(settings);
    }
}

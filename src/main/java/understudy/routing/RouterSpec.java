package understudy.routing;

import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.prompt.BlockHasher;
import understudy.workload.RandomStreams;

/**
 * Specification of a router. A value: any number of routers may be built with it.
 *
 * @param policy factory of the policy that chooses among replicas
 * @param ownWire delay and loss of the signals from replicas
 * @param alsoWanted signals that are wanted whatever the policy
 * @param streams source of its random numbers
 * @param minPeerFetchTokens tokens that another replica has more than the chosen one, from which on they are fetched from its
 *     host's memory; 0 is never
 * @param disaggregation when prompts are computed by another replica than the one that answers; null for never
 */
public record RouterSpec(
        RoutingPolicyFactory policy,
        Wire ownWire,
        Set<Signal> alsoWanted,
        RandomStreams streams,
        int minPeerFetchTokens,
        @Nullable DisaggregationSpec disaggregation) {

    /** Creates a router of replicas that do everything. */
    public RouterSpec(RoutingPolicyFactory policy, Wire ownWire, Set<Signal> alsoWanted, RandomStreams streams) {
        this(policy, ownWire, alsoWanted, streams, 0, null);
    }

    /** Returns a router on an exact wire. */
    public static RouterSpec of(RoutingPolicyFactory policy) {
        return new RouterSpec(policy, Wire.EXACT, Set.of(), new RandomStreams(0));
    }

    /** Returns the policy's name in a scenario. */
    public String policyName() {
        return policy.name();
    }

    /** Returns whether a signal is wanted. */
    public boolean wants(Signal signal) {
        return policy.wants(signal)
                || alsoWanted.contains(signal)
                || (disaggregation != null && disaggregation.policy().wants(signal));
    }

    /** Returns the wire, which is as good as it can be for a policy that wants that. */
    public Wire wire() {
        return wants(Signal.EXACT) ? Wire.EXACT : ownWire;
    }

    /** Makes the policy of a run; see {@link RoutingPolicyFactory.Cluster}. */
    public RoutingPolicy createPolicy(BlockHasher hasher, int numReplicas, int maxModelLen) {
        return create(policy, hasher, numReplicas, maxModelLen);
    }

    private RoutingPolicy create(RoutingPolicyFactory factory, BlockHasher hasher, int numReplicas, int maxModelLen) {
        return factory.create(new RoutingPolicyFactory.Cluster(hasher, numReplicas, maxModelLen, streams));
    }

    /**
     * Makes the lanes of a run, without replicas.
     *
     * @param guard wraps a policy of this name
     */
    public Lanes createLanes(
            BlockHasher hasher,
            int numReplicas,
            int maxModelLen,
            BiFunction<String, RoutingPolicy, RoutingPolicy> guard) {
        Function<RoutingPolicyFactory, Lanes.Lane> lane = factory -> new Lanes.Lane(
                new ClusterView(), guard.apply(factory.name(), create(factory, hasher, numReplicas, maxModelLen)));
        return new Lanes(lane.apply(policy), disaggregation == null ? null : lane.apply(disaggregation.policy()));
    }
}

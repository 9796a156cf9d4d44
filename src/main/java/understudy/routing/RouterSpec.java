package understudy.routing;

import java.util.Set;
import understudy.prompt.BlockHasher;
import understudy.workload.RandomStreams;

/**
 * Specification of a router. A value: any number of routers may be built with it.
 *
 * @param policy makes what chooses among replicas
 * @param ownWire how late, and how complete, what the router knows is
 * @param alsoWanted signals that are wanted whatever the policy
 * @param streams where its random numbers come from
 */
public record RouterSpec(RoutingPolicyFactory policy, Wire ownWire, Set<Signal> alsoWanted, RandomStreams streams) {

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
        return policy.wants(signal) || alsoWanted.contains(signal);
    }

    /** Returns the wire, which is as good as it can be for a policy that wants that. */
    public Wire wire() {
        return wants(Signal.EXACT) ? Wire.EXACT : ownWire;
    }

    /** Makes the policy of a run; see {@link RoutingPolicyFactory.Cluster}. */
    public RoutingPolicy createPolicy(BlockHasher hasher, int numReplicas, int maxModelLen) {
        return policy.create(new RoutingPolicyFactory.Cluster(hasher, numReplicas, maxModelLen, streams));
    }
}

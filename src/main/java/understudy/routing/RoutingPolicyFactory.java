package understudy.routing;

import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import understudy.prompt.BlockHasher;
import understudy.workload.RandomStreams;

/**
 * Factory of a routing policy with its settings. It is a value: each run makes a policy of its own with it.
 *
 * @param name the policy's name in a scenario
 * @param signals signals of replicas that the policy reads; no others are collected
 * @param maker makes a policy without history
 */
public record RoutingPolicyFactory(String name, Set<Signal> signals, Function<Cluster, RoutingPolicy> maker) {

    /**
     * Facts about the cluster that a policy is made for.
     *
     * @param hasher hashes prompts as the replicas do
     * @param numReplicas replicas at the start, at least 1
     * @param maxModelLen longest sequence in tokens that the replicas take; longer prompts are turned away
     * @param streams source of its random numbers
     */
    public record Cluster(BlockHasher hasher, int numReplicas, int maxModelLen, RandomStreams streams) {}

    /** Returns the factory of a policy that needs to know neither settings nor the cluster. */
    public static RoutingPolicyFactory of(String name, Supplier<RoutingPolicy> maker) {
        return new RoutingPolicyFactory(name, Set.of(), cluster -> maker.get());
    }

    /** Returns whether the policy wants a signal. */
    public boolean wants(Signal signal) {
        return signals.contains(signal);
    }

    /** Makes a policy without history. */
    public RoutingPolicy create(Cluster cluster) {
        return maker.apply(cluster);
    }
}

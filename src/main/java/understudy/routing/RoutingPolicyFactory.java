package understudy.routing;

import java.util.function.Function;
import java.util.function.Supplier;
import understudy.prompt.BlockHasher;

/**
 * Factory of a routing policy with its settings. It is a value: each run makes a policy of its own with it.
 *
 * @param name the policy's name in a scenario
 * @param usesKvEvents whether the policy wants the KV events of replicas; if not, they are not collected
 * @param maker makes a policy without history
 */
public record RoutingPolicyFactory(String name, boolean usesKvEvents, Function<Cluster, RoutingPolicy> maker) {

    /**
     * Facts about the cluster that a policy is made for.
     *
     * @param hasher hashes prompts as the replicas do
     * @param numReplicas replicas at the start, at least 1
     * @param maxModelLen longest sequence in tokens that the replicas take; longer prompts are turned away
     */
    public record Cluster(BlockHasher hasher, int numReplicas, int maxModelLen) {}

    /** Returns the factory of a policy that needs to know neither settings nor the cluster. */
    public static RoutingPolicyFactory of(String name, Supplier<RoutingPolicy> maker) {
        return new RoutingPolicyFactory(name, false, cluster -> maker.get());
    }

    /** Makes a policy without history. */
    public RoutingPolicy create(Cluster cluster) {
        return maker.apply(cluster);
    }
}

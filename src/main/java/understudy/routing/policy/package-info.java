/**
 * The routing policies, one file each, with the source of its rule.
 *
 * <p>{@link understudy.routing.policy.RoutingPolicies} knows them all. Views that several of them share are classes of
 * their own: {@link understudy.routing.policy.CachedPrefixes}, {@link understudy.routing.policy.SessionReplicas},
 * {@link understudy.routing.policy.LoadBalance} and {@link understudy.routing.policy.HashRing}; {@link
 * understudy.routing.policy.ReplicaChoice} makes choices by a cost.
 */
@NullMarked
package understudy.routing.policy;

import org.jspecify.annotations.NullMarked;

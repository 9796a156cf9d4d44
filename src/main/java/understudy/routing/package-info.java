/**
 * Chooses a replica for each request.
 *
 * <p>Start with {@link understudy.routing.RoutingPolicy}. A policy sees what a real router could see: what it has sent,
 * what replicas have reported, and their KV events.
 */
@NullMarked
package understudy.routing;

import org.jspecify.annotations.NullMarked;

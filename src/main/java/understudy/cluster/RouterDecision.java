package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import understudy.routing.RoutingScores;

/**
 * A choice of the router, told to whoever watches it.
 *
 * @param replicaIndex the chosen one
 * @param atNanos virtual time
 * @param ready the replicas that could have been chosen, in ascending order
 * @param scores as they were when the choice was made, before the request counted
 */
public record RouterDecision(long requestId, int replicaIndex, long atNanos, IntList ready, RoutingScores scores) {}

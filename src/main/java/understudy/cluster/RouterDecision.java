package understudy.cluster;

import understudy.routing.RoutingScores;

/**
 * A choice of the router, told to whoever watches it.
 *
 * @param replicaIndex the chosen one
 * @param atNanos virtual time
 * @param scores as they were when the choice was made, before the request counted
 */
public record RouterDecision(long requestId, int replicaIndex, long atNanos, RoutingScores scores) {}

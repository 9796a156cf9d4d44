package understudy.cluster.lockstep;

import understudy.latency.LatencyModel;

/**
 * Data-parallel group of like replicas, with consecutive indices.
 *
 * @param size replicas in it, at least 2
 * @param latency how long a step takes each of them
 */
public record DataParallelSpec(int size, LatencyModel latency) {}

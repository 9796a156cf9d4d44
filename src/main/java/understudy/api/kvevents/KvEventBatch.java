package understudy.api.kvevents;

import java.util.List;
import understudy.kvcache.KvEvent;

/**
 * Changes of a replica's prefix table in one step, in order; never empty.
 *
 * @param atNanos virtual time
 * @param blockSize tokens per block
 */
record KvEventBatch(int replicaIndex, long atNanos, int blockSize, List<KvEvent> events) {}

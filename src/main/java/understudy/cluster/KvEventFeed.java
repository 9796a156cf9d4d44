package understudy.cluster;

import java.util.List;
import understudy.kvcache.KvEvent;

/**
 * What somebody outside of the cluster hears of the replicas' prefix tables, in order for each replica. Any thread may read
 * it. Times are virtual nanoseconds.
 */
public sealed interface KvEventFeed {

    /** A replica has begun, or has begun anew after a crash, with an empty table. */
    record Started(int replicaIndex) implements KvEventFeed {}

    /**
     * The changes of one step, in order; never empty.
     *
     * @param blockSize tokens per block
     */
    record Batch(int replicaIndex, long atNanos, int blockSize, List<KvEvent> events) implements KvEventFeed {

        static Batch of(int replicaIndex, long atNanos, int blockSize, List<KvEvent> events) {
            var detached =
                    events.stream().map(event -> event.detached(blockSize)).toList();
            return new Batch(replicaIndex, atNanos, blockSize, detached);
        }
    }
}

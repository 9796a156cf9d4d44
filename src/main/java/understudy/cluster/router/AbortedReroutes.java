package understudy.cluster.router;

import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.BitSet;

/**
 * Requests given up while a replica that has crashed may still send requests back: an abort that the dead replica has
 * not heeded may be meant for one of these.
 */
final class AbortedReroutes {
    private final BitSet replicas = new BitSet();
    private final LongOpenHashSet aborted = new LongOpenHashSet();

    /** A replica has crashed; until its end it may send requests back. */
    void begin(int replicaIndex) {
        replicas.set(replicaIndex);
    }

    /** A replica has sent back all that it will. */
    void end(int replicaIndex) {
        replicas.clear(replicaIndex);
        if (replicas.isEmpty()) {
            aborted.clear();
        }
    }

    void onAbort(long requestId) {
        if (!replicas.isEmpty()) {
            aborted.add(requestId);
        }
    }

    boolean isAborted(long requestId) {
        return aborted.contains(requestId);
    }
}

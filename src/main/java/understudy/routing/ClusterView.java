package understudy.routing;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.BitSet;

/** Router's view of its replicas, by index from 0: its own counts, and the latest reports. */
public final class ClusterView {
    private final LongArrayList dispatched = new LongArrayList();
    private final LongArrayList ended = new LongArrayList();
    private final BitSet ready = new BitSet();

    /** Adds a replica, which is ready, and returns its index: the next one. */
    public int addReplica() {
        int index = dispatched.size();
        ready.set(index);
        dispatched.add(0);
        ended.add(0);
        return index;
    }

    /** Records whether a replica takes requests. */
    public void setReady(int replica, boolean isReady) {
        ready.set(replica, isReady);
    }

    /** Returns whether a replica takes requests; it does not while it starts or drains, or when it has crashed. */
    public boolean isReady(int replica) {
        return ready.get(replica);
    }

    /** Returns the lowest index of a replica that takes requests; there must be one. */
    public int firstReady() {
        return ready.nextSetBit(0);
    }

    /** Returns how many replicas take requests. */
    public int numReady() {
        return ready.cardinality();
    }

    /** Returns the replicas that take requests, in ascending order. */
    public IntList readyReplicas() {
        return new IntImmutableList(ready.stream().toArray());
    }

    /** Returns how many replicas there are, ready or not. */
    public int numReplicas() {
        return dispatched.size();
    }

    /** Counts a request that was sent to a replica. */
    public void onDispatched(int replica) {
        dispatched.set(replica, dispatched.getLong(replica) + 1);
    }

    /** Records a replica's count of its requests that have ended since the start. */
    public void onEnded(int replica, long numEnded) {
        ended.set(replica, numEnded);
    }

    /** Returns how many requests were sent to a replica. */
    public long dispatched(int replica) {
        return dispatched.getLong(replica);
    }

    /** Returns how many requests were sent to a replica and have not been reported as ended. */
    public long outstanding(int replica) {
        return dispatched.getLong(replica) - ended.getLong(replica);
    }
}

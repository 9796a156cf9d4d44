package understudy.routing;

import it.unimi.dsi.fastutil.longs.LongArrayList;

/** What a router knows of its replicas, by index from 0: its own counts, and the latest reports. */
public final class ClusterView {
    private final LongArrayList dispatched = new LongArrayList();
    private final LongArrayList ended = new LongArrayList();

    /** Adds a replica, which gets the next index. */
    public void addReplica() {
        dispatched.add(0);
        ended.add(0);
    }

    public int numReplicas() {
        return dispatched.size();
    }

    /** Takes note that a request was sent to a replica. */
    public void onDispatched(int replica) {
        dispatched.set(replica, dispatched.getLong(replica) + 1);
    }

    /** Takes a replica's report of how many of its requests have ended since the start. */
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

package understudy.transfer;

import it.unimi.dsi.fastutil.longs.Long2LongLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;

/** Leases on the blocks of requests that other replicas are to read. Times are nanoseconds. */
public final class KvLeases {
    private final KvLease lease;
    private final Long2LongLinkedOpenHashMap expiries = new Long2LongLinkedOpenHashMap();

    public KvLeases(KvLease lease) {
        this.lease = lease;
    }

    public void begin(long requestId, long nowNanos) {
        expiries.put(requestId, nowNanos + lease.durationNanos());
    }

    /** Makes a lease longer, if there is one; never shorter. */
    public void renew(long requestId, long nowNanos) {
        expiries.computeIfPresent(requestId, (id, atNanos) -> Math.max(atNanos, nowNanos + lease.renewedNanos()));
    }

    public void end(long requestId) {
        expiries.remove(requestId);
    }

    /** Returns when the first lease ends, or {@link Long#MAX_VALUE} if there is none. */
    public long nextNanos() {
        long next = Long.MAX_VALUE;
        for (long atNanos : expiries.values()) {
            next = Math.min(next, atNanos);
        }
        return next;
    }

    /** Removes the leases that have ended, and returns their requests, in the order in which they began. */
    public LongList expired(long nowNanos) {
        var expired = new LongArrayList();
        expiries.long2LongEntrySet().forEach(entry -> {
            if (entry.getLongValue() <= nowNanos) {
                expired.add(entry.getLongKey());
            }
        });
        expired.forEach(expiries::remove);
        return expired;
    }
}

package understudy.routing;

import it.unimi.dsi.fastutil.ints.IntComparator;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import understudy.engine.Request;

/**
 * Router's view of its replicas, by index from 0: requests sent without an answer yet, and the latest report of each.
 */
public final class ClusterView {
    private final List<ReplicaTraits> traits = new ArrayList<>();
    private final List<LoadReport> reports = new ArrayList<>();
    private final SentRequests sent = new SentRequests();
    private long nowNanos;
    private final LongArrayList dispatched = new LongArrayList();
    private final LongArrayList ended = new LongArrayList();
    private final BitSet wanted = new BitSet();
    private final BitSet ejected = new BitSet();

    /** Those that are wanted and not ejected. */
    private final BitSet ready = new BitSet();

    private final Tournament leastLoaded = new Tournament(this::compareLoads);
    private final Tournament mostLoaded = new Tournament((one, other) -> Double.compare(load(other), load(one)));

    /** Adds a replica, which is ready, and returns its index: the next one. */
    public int addReplica() {
        return addReplica(ReplicaTraits.PLAIN);
    }

    /** Adds a replica of a kind, which is ready, and returns its index: the next one. */
    public int addReplica(ReplicaTraits kind) {
        int index = dispatched.size();
        traits.add(kind);
        reports.add(LoadReport.NONE);
        sent.addReplica();
        dispatched.add(0);
        ended.add(0);
        setReady(index, true);
        return index;
    }

    /** Sets the virtual time of the next decision. */
    public void setNow(long atNanos) {
        nowNanos = atNanos;
    }

    /** Returns the virtual time of the decision. */
    public long nowNanos() {
        return nowNanos;
    }

    /** Returns the traits of a replica that the router is configured with. */
    public ReplicaTraits traits(int replica) {
        return traits.get(replica);
    }

    /** Records whether a replica takes requests. */
    public void setReady(int replica, boolean isReady) {
        wanted.set(replica, isReady);
        ready.set(replica, isReady && !ejected.get(replica));
        loadChanged(replica);
    }

    /** Takes a replica out of the choice, or puts it back, whatever it says of itself. */
    public void setEjected(int replica, boolean isEjected) {
        ejected.set(replica, isEjected);
        ready.set(replica, wanted.get(replica) && !isEjected);
        loadChanged(replica);
    }

    /** Returns whether a replica takes requests, ejected or not. */
    public boolean takesRequests(int replica) {
        return wanted.get(replica);
    }

    public boolean isEjected(int replica) {
        return ejected.get(replica);
    }

    public int numEjected() {
        return ejected.cardinality();
    }

    /** Returns whether a replica takes requests; it does not while it starts or drains, or when it has crashed. */
    public boolean isReady(int replica) {
        return replica >= 0 && ready.get(replica);
    }

    /** Returns the lowest index of a replica that takes requests; there must be one. */
    public int firstReady() {
        return ready.nextSetBit(0);
    }

    /**
     * Returns the least loaded of the replicas that take requests: among equals the one that has been sent the fewest so far,
     * then the one with the lowest index. There must be one.
     */
    public int leastLoaded() {
        return leastLoaded.first();
    }

    /** Returns the greatest load of a replica that takes requests; there must be one. */
    public double greatestLoad() {
        return load(mostLoaded.first());
    }

    /** Returns a negative number if one replica comes before another one among {@link #leastLoaded}. */
    public int compareLoads(int replica, int other) {
        int order = Double.compare(load(replica), load(other));
        return order != 0 ? order : Long.compare(dispatched(replica), dispatched(other));
    }

    /** Returns the replica that comes first in an order of those that take requests, the lowest among equals. */
    public int bestReady(IntComparator order) {
        int best = firstReady();
        for (int i = ready.nextSetBit(best + 1); i >= 0; i = ready.nextSetBit(i + 1)) {
            if (order.compare(i, best) < 0) {
                best = i;
            }
        }
        return best;
    }

    /** Returns how many replicas take requests. */
    public int numReady() {
        return ready.cardinality();
    }

    /** Returns the replicas that take requests, in ascending order. */
    public IntList readyReplicas() {
        var replicas = new int[ready.cardinality()];
        int count = 0;
        for (int i = ready.nextSetBit(0); i >= 0; i = ready.nextSetBit(i + 1)) {
            replicas[count++] = i;
        }
        return new IntImmutableList(replicas);
    }

    /** Returns how many replicas there are, ready or not. */
    public int numReplicas() {
        return dispatched.size();
    }

    /** Counts a request that was sent to a replica. */
    public void onDispatched(int replica) {
        dispatched.set(replica, dispatched.getLong(replica) + 1);
        loadChanged(replica);
    }

    /** Records a replica's count of its requests that have ended since the start. */
    public void onEnded(int replica, long numEnded) {
        ended.set(replica, numEnded);
        loadChanged(replica);
    }

    private void loadChanged(int replica) {
        leastLoaded.update(replica, ready.get(replica));
        mostLoaded.update(replica, ready.get(replica));
    }

    /** Returns how many requests were sent to a replica. */
    public long dispatched(int replica) {
        return dispatched.getLong(replica);
    }

    /** Returns how many requests were sent to a replica and have not been reported as ended. */
    public long outstanding(int replica) {
        return dispatched.getLong(replica) - ended.getLong(replica);
    }

    /** Returns the same in relation to the replica's capacity. */
    public double load(int replica) {
        return outstanding(replica) / traits.get(replica).weight();
    }

    /**
     * Adds a request that was sent to a replica to the account of tokens, which is kept for policies that want {@link
     * Signal#PROGRESS}.
     *
     * @param numCachedTokens of its prompt, as far as the policy knows
     */
    public void onSent(int replica, Request request, int numCachedTokens) {
        int numTokens = request.prompt().length();
        long nanos = Math.round(traits(replica).prefillNanos(numTokens, numCachedTokens));
        int numPrefillTokens = Math.max(0, numTokens - numCachedTokens);
        sent.onSent(request.id(), new SentRequests.Entry(replica, numTokens, numPrefillTokens, nanos));
    }

    /** Records that a request has got its first token. */
    public void onFirstToken(long requestId) {
        sent.onFirstToken(requestId);
    }

    /** Records that a request has ended, or has left its replica. */
    public void onEnded(long requestId) {
        sent.onEnded(requestId);
    }

    /** Returns the prompt tokens of the requests that were sent to a replica and have not ended. */
    public long promptTokens(int replica) {
        return sent.promptTokens(replica);
    }

    /** Returns the prompt tokens, but for cached ones, of those of them that have no token yet. */
    public long prefillTokens(int replica) {
        return sent.prefillTokens(replica);
    }

    /** Returns how long their prefills take one after the other, as {@link ReplicaTraits#prefillNanos} has it. */
    public long prefillNanos(int replica) {
        return sent.prefillNanos(replica);
    }

    /** Returns all prompt tokens in relation to the replica's capacity. */
    public double tokenLoad(int replica) {
        return promptTokens(replica) / traits.get(replica).weight();
    }

    /** Records the latest report of a replica. */
    public void onReport(int replica, LoadReport report) {
        reports.set(replica, report);
    }

    /** Returns the latest report of a replica, or {@link LoadReport#NONE}. */
    public LoadReport report(int replica) {
        return reports.get(replica);
    }
}

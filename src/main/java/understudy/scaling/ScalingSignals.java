package understudy.scaling;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import understudy.faults.ReplicaState;
import understudy.report.latency.LatencyStats;
import understudy.scaling.ScalingMetrics.ReplicaLoad;

/** Signals that an autoscaler gets from a cluster, put together for its evaluations. */
public final class ScalingSignals {
    private final long ttftWindowNanos;
    private final List<ReplicaLoad> loads = new ArrayList<>();
    private final Long2IntOpenHashMap inflightTokens = new Long2IntOpenHashMap();
    private final Deque<FirstToken> firstTokens = new ArrayDeque<>();
    private List<ReplicaState> states;
    private long sumInflightTokens;
    private int numHeld;

    private record FirstToken(long atNanos, long ttftNanos) {}

    /** Begins with replicas in these states, without load; a TTFT counts for so long. */
    public ScalingSignals(List<ReplicaState> states, long ttftWindowNanos) {
        this.states = states;
        this.ttftWindowNanos = ttftWindowNanos;
    }

    public void onStates(List<ReplicaState> now) {
        states = now;
    }

    public void onLoad(int replica, int numWaiting, int numRunning) {
        set(replica, new ReplicaLoad(numWaiting, numRunning, load(replica).kvUsage()));
    }

    public void onKvUsage(int replica, double usage) {
        var load = load(replica);
        set(replica, new ReplicaLoad(load.numWaiting(), load.numRunning(), usage));
    }

    /** So many requests wait in the router. */
    public void onHeld(int numRequests) {
        numHeld = numRequests;
    }

    /** A request was sent to a replica, for the first time or again, which is to compute so many tokens of its prompt. */
    public void onRouted(long requestId, int numTokens) {
        sumInflightTokens += numTokens - inflightTokens.put(requestId, numTokens);
    }

    public void onFirstToken(long requestId, long atNanos, long ttftNanos) {
        onPrefilled(requestId);
        firstTokens.add(new FirstToken(atNanos, ttftNanos));
    }

    /** Nothing of a request's prompt is left to compute. */
    public void onPrefilled(long requestId) {
        onEnded(requestId);
    }

    public void onEnded(long requestId) {
        sumInflightTokens -= inflightTokens.remove(requestId);
    }

    /** Returns the metrics of now. */
    public ScalingMetrics metrics(long nowNanos) {
        while (!firstTokens.isEmpty() && firstTokens.element().atNanos <= nowNanos - ttftWindowNanos) {
            firstTokens.remove();
        }
        var ready = in(ReplicaState.READY).mapToObj(this::load).toList();
        var ttftNanos = firstTokens.stream().mapToDouble(FirstToken::ttftNanos).toArray();
        int numStarting = (int) in(ReplicaState.STARTING).count();
        return new ScalingMetrics(nowNanos, ready, numStarting, sumInflightTokens, LatencyStats.of(ttftNanos), numHeld);
    }

    /**
     * Returns the replicas that go when there are to be {@code count} fewer, in order: those that start before those
     * that are ready, as a Kubernetes ReplicaSet does it, and the youngest first.
     */
    public List<Integer> leaving(int count) {
        return IntStream.concat(youngestFirst(ReplicaState.STARTING), youngestFirst(ReplicaState.READY))
                .limit(count)
                .boxed()
                .toList();
    }

    private IntStream youngestFirst(ReplicaState state) {
        return in(state).map(index -> -index).sorted().map(index -> -index);
    }

    private IntStream in(ReplicaState state) {
        return IntStream.range(0, states.size()).filter(index -> states.get(index) == state);
    }

    private ReplicaLoad load(int replica) {
        return replica < loads.size() ? loads.get(replica) : ReplicaLoad.NONE;
    }

    private void set(int replica, ReplicaLoad load) {
        while (loads.size() <= replica) {
            loads.add(ReplicaLoad.NONE);
        }
        loads.set(replica, load);
    }
}

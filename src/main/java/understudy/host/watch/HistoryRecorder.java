package understudy.host.watch;

import java.util.List;
import understudy.cluster.ClusterEvent;
import understudy.kvcache.connector.TierState;
import understudy.report.run.RunHistory;

/** Recorder of a run's history, from the events of its cluster. */
public final class HistoryRecorder {
    private final RunHistory history = new RunHistory();
    private long nowNanos;

    /** Handles an event, on the emulation's thread. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            onStep(step);
        } else if (event instanceof ClusterEvent.LoadChanged changed) {
            onLoad(changed.replicaIndex(), changed.load());
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            onKvCache(changed.replicaIndex(), changed.kvCache());
        } else if (event instanceof ClusterEvent.RequestEnded request) {
            history.ended(request.ended());
        } else if (event instanceof ClusterEvent.Routed routed) {
            at(routed.atNanos());
            history.inFlight().routed(routed.requestId(), () -> RoutingExplanation.words(routed));
        } else if (event instanceof ClusterEvent.RequestsHeld held) {
            history.held(at(held.atNanos()), held.numRequests());
        } else if (event instanceof ClusterEvent.KvMoved moved) {
            onMoved(moved);
        }
    }

    private void onStep(ClusterEvent.StepEnded step) {
        long endNanos = at(step.endNanos());
        history.stepEnded(endNanos, step.numTokens(), step.numAnswerTokens());
        history.own(endNanos, step.own());
        history.gaps(endNanos, step.gapNanos(), step.gapCounts());
        onLoad(step.replicaIndex(), step.load());
        step.ended().forEach(history::ended);
    }

    /** Queues have no time of their own: they are those of the latest event that has one. */
    private void onLoad(int replicaIndex, ClusterEvent.EngineLoad load) {
        history.load(nowNanos, replicaIndex, load.numRunning(), load.numWaiting(), load.numPreemptions());
    }

    private void onKvCache(int replicaIndex, ClusterEvent.KvCacheState kvCache) {
        var traffic = kvCache.traffic();
        List<TierState> tiers = traffic == null ? List.of() : traffic.tiers();
        history.kvCache(at(kvCache.atNanos()), replicaIndex, kvCache.blocks(), kvCache.prefixCache(), tiers);
    }

    private void onMoved(ClusterEvent.KvMoved moved) {
        history.moved(at(moved.endNanos()), moved.bytes());
        if (moved.isWaitedFor()) {
            history.inFlight().loaded(moved.requestId(), moved.startNanos(), moved.endNanos());
        }
    }

    private long at(long nanos) {
        nowNanos = Math.max(nowNanos, nanos);
        return nowNanos;
    }

    /** Returns the history so far. */
    public RunHistory history() {
        return history;
    }
}

package understudy.host.watch;

import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import understudy.cluster.ClusterEvent;
import understudy.faults.ReplicaState;
import understudy.report.RequestRecord;
import understudy.report.run.RequestsInFlight;
import understudy.report.trace.TraceWriter;

/**
 * Recorder of a run's trace for Perfetto, from the events of its cluster. The router is a process, and each replica is
 * one: with its steps, with the phases of the requests that have ended there, with moves of KV and with counters.
 */
public final class TraceRecorder implements Closeable {
    /** The router's process; those of the replicas follow. */
    private static final int ROUTER = 1;

    private static final int FIRST_REPLICA = ROUTER + 1;
    private static final int STEPS = 1;
    private static final int STATES = 2;
    private static final double PERCENT = 100;

    private final TraceWriter trace;
    private final IntFunction<String> groupName;
    private final RequestsInFlight inFlight = new RequestsInFlight();
    private final List<ReplicaTrack> replicas = new ArrayList<>();
    private List<ReplicaState> states = List.of();
    private long numMoves;
    private long nowNanos;

    /** State of a replica as last written, so that only changes are written. */
    private static final class ReplicaTrack {
        private ClusterEvent.EngineLoad load = ClusterEvent.EngineLoad.NONE;
        private double kvPercent;
    }

    /**
     * Begins a trace.
     *
     * @param out is closed with it
     * @param groupName says what group a replica belongs to, by its index; empty if to none
     */
    public TraceRecorder(Writer out, IntFunction<String> groupName) {
        trace = new TraceWriter(out);
        this.groupName = groupName;
        trace.process(ROUTER, "router");
        trace.thread(ROUTER, STEPS, "decisions");
    }

    /** Handles an event, on the emulation's thread. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            onStep(step);
        } else if (event instanceof ClusterEvent.LoadChanged changed) {
            onLoad(changed.replicaIndex(), changed.load());
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            onKvCache(changed.replicaIndex(), changed.kvCache());
        } else if (event instanceof ClusterEvent.RequestEnded request) {
            onEnded(request.ended());
        } else if (event instanceof ClusterEvent.Routed routed) {
            onRouted(routed);
        } else if (event instanceof ClusterEvent.RequestsHeld held) {
            trace.counter(ROUTER, "requests held", at(held.atNanos()), "held", held.numRequests());
        } else if (event instanceof ClusterEvent.KvMoved moved) {
            onMoved(moved);
        } else if (event instanceof ClusterEvent.ReplicasChanged changed) {
            onStates(changed);
        }
    }

    private void onStep(ClusterEvent.StepEnded step) {
        int process = process(step.replicaIndex());
        at(step.endNanos());
        if (step.numTokens() > 0) {
            trace.slice(
                    process,
                    STEPS,
                    step.kind().isEmpty() ? "step" : step.kind(),
                    step.startNanos(),
                    step.endNanos(),
                    "requests",
                    step.numRequests(),
                    "tokens",
                    step.numTokens(),
                    "sampled",
                    step.numSampled());
        }
        onLoad(step.replicaIndex(), step.load());
        step.ended().forEach(this::onEnded);
    }

    private void onLoad(int replicaIndex, ClusterEvent.EngineLoad load) {
        int process = process(replicaIndex);
        var track = replicas.get(replicaIndex);
        if (load.numRunning() != track.load.numRunning() || load.numWaiting() != track.load.numWaiting()) {
            trace.counter(process, "requests", nowNanos, "running", load.numRunning(), "waiting", load.numWaiting());
        }
        long numPreempted = load.numPreemptions() - track.load.numPreemptions();
        if (numPreempted > 0) {
            trace.instant(process, STEPS, "preemption", nowNanos, "requests", numPreempted);
        }
        track.load = load;
    }

    private void onKvCache(int replicaIndex, ClusterEvent.KvCacheState kvCache) {
        int process = process(replicaIndex);
        var track = replicas.get(replicaIndex);
        double percent = Math.rint(kvCache.usage() * PERCENT * 100) / 100;
        if (percent != track.kvPercent) {
            trace.counter(process, "KV cache in use (%)", at(kvCache.atNanos()), "used", percent);
            track.kvPercent = percent;
        }
    }

    private void onRouted(ClusterEvent.Routed routed) {
        inFlight.routed(routed.requestId(), () -> "");
        trace.instant(
                ROUTER,
                STEPS,
                "route",
                at(routed.atNanos()),
                "request",
                routed.requestId(),
                "replica",
                routed.replicaIndex(),
                "uncached tokens",
                routed.numUncachedTokens(),
                "why",
                RoutingExplanation.words(routed));
    }

    private void onMoved(ClusterEvent.KvMoved moved) {
        if (moved.isWaitedFor()) {
            inFlight.loaded(moved.requestId(), moved.startNanos(), moved.endNanos());
        }
        trace.asyncSlice(
                process(moved.replicaIndex()),
                "kv",
                numMoves++,
                "KV " + word(moved.kind()),
                moved.startNanos(),
                at(moved.endNanos()),
                "request",
                moved.requestId(),
                "bytes",
                moved.bytes(),
                "failed",
                moved.isFailed());
    }

    private void onStates(ClusterEvent.ReplicasChanged changed) {
        for (int i = 0; i < changed.states().size(); i++) {
            var state = changed.states().get(i);
            if (i >= states.size() || state != states.get(i)) {
                int process = process(i);
                trace.thread(process, STATES, "state");
                trace.instant(process, STATES, word(state), at(changed.atNanos()));
            }
        }
        states = changed.states();
    }

    private void onEnded(RequestRecord ended) {
        at(ended.endNanos());
        var story = inFlight.ended(ended);
        if (story == null) {
            return;
        }
        int process = ended.replicaIndex() == RequestRecord.NO_REPLICA ? ROUTER : process(ended.replicaIndex());
        long number = ended.requestId();
        trace.asyncSlice(
                process,
                "request",
                number,
                "request",
                ended.arrivalNanos(),
                ended.endNanos(),
                "request",
                number,
                "outcome",
                word(ended.outcome()),
                "prompt tokens",
                ended.numPromptTokens(),
                "cached tokens",
                ended.numCachedTokens(),
                "output tokens",
                ended.numOutputTokens(),
                "preemptions",
                ended.numPreemptions(),
                "session",
                ended.turn().sessionId(),
                "turn",
                ended.turn().turn());
        for (var phase : story.phases()) {
            trace.asyncSlice(process, "request", number, phase.kind().word(), phase.startNanos(), phase.endNanos());
        }
    }

    private int process(int replicaIndex) {
        while (replicas.size() <= replicaIndex) {
            int index = replicas.size();
            replicas.add(new ReplicaTrack());
            String group = groupName.apply(index);
            trace.process(FIRST_REPLICA + index, "replica " + index + (group.isEmpty() ? "" : " (" + group + ")"));
            trace.thread(FIRST_REPLICA + index, STEPS, "steps");
        }
        return FIRST_REPLICA + replicaIndex;
    }

    private long at(long nanos) {
        nowNanos = Math.max(nowNanos, nanos);
        return nowNanos;
    }

    private static String word(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Ends the trace, or throws the failure that has kept it from being written. */
    @Override
    public void close() throws IOException {
        trace.close();
    }
}

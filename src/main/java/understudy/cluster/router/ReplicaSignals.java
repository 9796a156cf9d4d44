package understudy.cluster.router;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.KvBlockManager;
import understudy.cluster.Router;
import understudy.kvcache.KvEvent;
import understudy.routing.KvEventChannel;
import understudy.routing.Lanes;
import understudy.routing.LoadReport;
import understudy.routing.RouterSpec;
import understudy.routing.Wire;
import understudy.routing.admission.SlowReplicas;
import understudy.runtime.Clock;
import understudy.workload.RandomStreams;

/**
 * Signals of replicas on their way into the router's view, and to its policy: some are late, and some batches of KV events
 * are lost. Signals under way when a replica goes down never arrive.
 */
final class ReplicaSignals {
    private final Clock clock;
    private final ActorRef<Router.Command> router;
    private final Wire wire;
    private final RandomStreams streams;
    private final Lanes lanes;
    private final SlowReplicas slowReplicas;
    private final List<Line> lines = new ArrayList<>();

    /** Connection to one replica. */
    private static final class Line {
        final KvEventChannel kvEvents;
        boolean isUp;
        int numDowns;

        Line(KvEventChannel kvEvents) {
            this.kvEvents = kvEvents;
        }
    }

    ReplicaSignals(
            Clock clock, ActorRef<Router.Command> router, RouterSpec spec, Lanes lanes, SlowReplicas slowReplicas) {
        this.clock = clock;
        this.router = router;
        wire = spec.wire();
        streams = spec.streams();
        this.lanes = lanes;
        this.slowReplicas = slowReplicas;
    }

    void onUp(int replicaIndex) {
        while (lines.size() <= replicaIndex) {
            lines.add(new Line(new KvEventChannel(wire, streams.stream("kv-event-loss", lines.size()))));
        }
        lines.get(replicaIndex).isUp = true;
    }

    void onDown(int replicaIndex) {
        var line = lines.get(replicaIndex);
        line.isUp = false;
        line.numDowns++;
        line.kvEvents.clear();
        var lane = lanes.of(replicaIndex);
        lane.view().onReport(replicaIndex, LoadReport.NONE);
        slowReplicas.onDown(replicaIndex, lane.view());
        lane.policy().onKvEvents(replicaIndex, List.of(new KvEvent.Cleared()));
    }

    /** Requests have got tokens or have ended, which the router sees at once, since it forwards the answers. */
    void onProgress(Router.ReplicaProgress progress) {
        var view = lanes.of(progress.replicaIndex()).view();
        view.onEnded(progress.replicaIndex(), progress.numEnded());
        progress.firstTokens().forEach(view::onFirstToken);
        progress.ended().forEach(view::onEnded);
        slowReplicas.onAnswers(progress.replicaIndex(), progress.decodeNanos(), progress.decodeTokens());
    }

    void onReported(Router.LoadReported reported) {
        var line = lines.get(reported.replicaIndex());
        if (line.isUp && isImmediate(wire.loadReportDelayNanos(), new Router.LoadArrived(reported, line.numDowns))) {
            lanes.of(reported.replicaIndex()).view().onReport(reported.replicaIndex(), reported.report());
        }
    }

    void onArrived(Router.LoadArrived arrived) {
        int index = arrived.report().replicaIndex();
        if (lines.get(index).numDowns == arrived.numDowns()) {
            lanes.of(index).view().onReport(index, arrived.report().report());
        }
    }

    void onEvents(KvBlockManager.KvEvents batch) {
        var line = lines.get(batch.replicaIndex());
        if (line.isUp && isImmediate(wire.kvEventDelayNanos(), new Router.KvEventsArrived(batch, line.numDowns))) {
            offer(line, batch);
        }
    }

    void onArrived(Router.KvEventsArrived arrived) {
        var line = lines.get(arrived.events().replicaIndex());
        if (line.numDowns == arrived.numDowns()) {
            offer(line, arrived.events());
        }
    }

    void onArrived(Router.ReplayArrived arrived) {
        var line = lines.get(arrived.replicaIndex());
        if (line.numDowns == arrived.numDowns()) {
            lanes.of(arrived.replicaIndex()).policy().onKvEvents(arrived.replicaIndex(), line.kvEvents.replay());
        }
    }

    private void offer(Line line, KvBlockManager.KvEvents batch) {
        boolean wasReplayWanted = line.kvEvents.isReplayWanted();
        var events = line.kvEvents.offer(batch.events());
        if (!events.isEmpty()) {
            lanes.of(batch.replicaIndex()).policy().onKvEvents(batch.replicaIndex(), events);
        }
        if (line.kvEvents.isReplayWanted() && !wasReplayWanted) {
            long replayNanos = wire.kvEventReplayNanos().orElseThrow();
            clock.tellAfter(replayNanos, router, new Router.ReplayArrived(batch.replicaIndex(), line.numDowns));
        }
    }

    /** Returns whether a signal has arrived already; if not, the router is told when it has. */
    private boolean isImmediate(long delayNanos, Router.Command arrived) {
        if (delayNanos > 0) {
            clock.tellAfter(delayNanos, router, arrived);
        }
        return delayNanos == 0;
    }
}

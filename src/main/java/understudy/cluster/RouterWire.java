package understudy.cluster;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.kvcache.KvEvent;
import understudy.routing.KvEventChannel;
import understudy.routing.RouterSpec;
import understudy.routing.Wire;
import understudy.runtime.Clock;
import understudy.workload.RandomStreams;

/**
 * Signals of replicas on their way to the router: some are late, and some batches of KV events are lost. What is under
 * way when a replica goes down never arrives.
 */
final class RouterWire {
    private final Clock clock;
    private final ActorRef<Router.Command> router;
    private final Wire wire;
    private final RandomStreams streams;
    private final List<Line> lines = new ArrayList<>();

    /** What leads to one replica. */
    private static final class Line {
        final KvEventChannel kvEvents;
        int numDowns;

        Line(KvEventChannel kvEvents) {
            this.kvEvents = kvEvents;
        }
    }

    RouterWire(Clock clock, ActorRef<Router.Command> router, RouterSpec spec) {
        this.clock = clock;
        this.router = router;
        wire = spec.wire();
        streams = spec.streams();
    }

    void addReplica() {
        lines.add(new Line(new KvEventChannel(wire, streams.stream("kv-event-loss", lines.size()))));
    }

    void onDown(int replicaIndex) {
        var line = lines.get(replicaIndex);
        line.numDowns++;
        line.kvEvents.clear();
    }

    /** Returns whether a replica has not been down since a signal was sent. */
    boolean isCurrent(int replicaIndex, int numDowns) {
        return lines.get(replicaIndex).numDowns == numDowns;
    }

    /** Returns whether a report has arrived already; if not, the router is told when it has. */
    boolean isImmediate(Router.LoadReported reported) {
        int numDowns = lines.get(reported.replicaIndex()).numDowns;
        return isImmediate(wire.loadReportDelayNanos(), new Router.LoadArrived(reported, numDowns));
    }

    /** Returns whether events have arrived already; if not, the router is told when they have. */
    boolean isImmediate(KvBlockManager.KvEvents events) {
        int numDowns = lines.get(events.replicaIndex()).numDowns;
        return isImmediate(wire.kvEventDelayNanos(), new Router.KvEventsArrived(events, numDowns));
    }

    private boolean isImmediate(long delayNanos, Router.Command arrived) {
        if (delayNanos > 0) {
            clock.tellAfter(delayNanos, router, arrived);
        }
        return delayNanos == 0;
    }

    /** Returns what the router is to apply now that a batch has arrived, or was lost. */
    List<KvEvent> offer(KvBlockManager.KvEvents batch) {
        var line = lines.get(batch.replicaIndex());
        boolean wasReplayWanted = line.kvEvents.isReplayWanted();
        var events = line.kvEvents.offer(batch.events());
        if (line.kvEvents.isReplayWanted() && !wasReplayWanted) {
            long replayNanos = wire.kvEventReplayNanos().orElseThrow();
            clock.tellAfter(replayNanos, router, new Router.ReplayArrived(batch.replicaIndex(), line.numDowns));
        }
        return events;
    }

    /** Returns what a replica has sent again. */
    List<KvEvent> replay(int replicaIndex) {
        return lines.get(replicaIndex).kvEvents.replay();
    }
}

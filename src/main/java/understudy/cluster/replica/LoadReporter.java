package understudy.cluster.replica;

import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.engine.EngineLoad;
import understudy.routing.LoadReport;
import understudy.runtime.Clock;

/**
 * Load reports of a replica: one at each multiple of an interval before which anything has changed, as a router would
 * scrape them, so that a replica without work says nothing; or at the end of every instant in which something has changed.
 */
final class LoadReporter {
    private final ReplicaPeers peers;
    private final boolean areWanted;
    private final EngineLoad requests;
    private final ActorRef<KvBlockManager.Command> kvBlockManager;
    private final ActorRef<Replica.Command> replica;
    private final Clock clock;
    private @Nullable Cancellable due;

    LoadReporter(
            ReplicaPeers peers,
            EngineLoad requests,
            ActorRef<KvBlockManager.Command> kvBlockManager,
            ActorRef<Replica.Command> replica,
            Clock clock) {
        this.peers = peers;
        areWanted = peers.wantsLoadReports();
        this.requests = requests;
        this.kvBlockManager = kvBlockManager;
        this.replica = replica;
        this.clock = clock;
    }

    /** The queues or the memory have changed. */
    void onChange() {
        if (!areWanted || due != null) {
            return;
        }
        long interval = peers.loadReportIntervalNanos();
        // Even without an interval it comes after all work of the instant: the memory has freed what has ended by
        // then.
        long delayNanos = interval == 0 ? 0 : interval - clock.nowNanos() % interval;
        due = clock.tellAfter(delayNanos, replica, Replica.ReportLoad.NOW);
    }

    void onDue() {
        due = null;
        report();
    }

    void stop() {
        if (due != null) {
            due.cancel();
        }
    }

    /** Has the memory report to the router, since it knows its own state best. */
    private void report() {
        kvBlockManager.tell(new KvBlockManager.ReportLoad(new LoadReport(
                clock.nowNanos(),
                requests.numRunning(),
                requests.numWaiting(),
                0,
                requests.pendingPrefillTokens(),
                requests.adapterUse())));
    }
}

package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.List;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineLoad;
import understudy.engine.EngineRequest;
import understudy.engine.StepResult;
import understudy.engine.lora.AdapterUse;
import understudy.kvcache.KvBlockCounts;
import understudy.report.ReplicaCounters;
import understudy.report.RequestRecord;
import understudy.report.transfers.PromptTokens;
import understudy.routing.LoadReport;
import understudy.runtime.Clock;

/** Events of one replica, told to its subscriber, to the collector of the run's figures, and to the router. */
final class ReplicaEvents {
    private final int replicaIndex;
    private final ReplicaCounters counters;
    private final EngineLoad requests;
    private final ActorRef<KvBlockManager.Command> kvBlockManager;
    private final ReplicaPeers peers;
    private final ClusterEvent.@Nullable Subscriber subscriber;
    private ClusterEvent.EngineLoad toldLoad;
    private long toldEnded;
    private boolean mayHaveKvEvents;
    private final LongArrayList firstTokens = new LongArrayList();
    private final LongArrayList ended = new LongArrayList();
    private long decodeNanos;
    private long decodeTokens;
    private final LoadReporter loadReporter;

    ReplicaEvents(
            ReplicaCounters counters,
            EngineLoad requests,
            ActorRef<KvBlockManager.Command> kvBlockManager,
            ReplicaPeers peers,
            LoadReporter loadReporter) {
        replicaIndex = counters.replicaIndex();
        this.counters = counters;
        this.requests = requests;
        this.kvBlockManager = kvBlockManager;
        this.peers = peers;
        this.loadReporter = loadReporter;
        subscriber = peers.subscriber();
        toldLoad = ClusterEvent.EngineLoad.NONE;
    }

    /** Takes note that the memory is told something that may change its prefix table. */
    void memoryTouched() {
        mayHaveKvEvents = peers.wantKvEvents();
    }

    /**
     * Publishes a step; its subscriber hears of it from the memory, together with the state of that.
     *
     * @return what the memory is to be told, or null for nothing
     */
    KvBlockManager.@Nullable Settle stepEnded(
            StepResult result, ClusterEvent.Step ran, List<RequestRecord> endedWithIt) {
        var step = ClusterEvent.StepEnded.of(replicaIndex, ran, result, endedWithIt);
        counters.onVerified(step.drafts());
        peers.metrics().tell(step);
        if (peers.wantsProgress()) {
            noteProgress(result, endedWithIt);
        }
        tellRouter();
        loadReporter.onChange();
        var settlement = result.toSettle();
        if (subscriber != null) {
            toldLoad = load();
            return new KvBlockManager.Settle(
                    settlement,
                    step.with()
                            .firstTokens(firstTokens(result.sampledAlone(), ran.endNanos()))
                            .load(toldLoad)
                            .build());
        }
        boolean concernsMemory = settlement != null || mayHaveKvEvents;
        mayHaveKvEvents = false;
        return concernsMemory ? new KvBlockManager.Settle(settlement, null) : null;
    }

    /** Publishes the queues, if they have changed. */
    void loadChanged() {
        tellRouter();
        loadReporter.onChange();
        if (subscriber != null && hasChanged()) {
            toldLoad = load();
            subscriber.tell(new ClusterEvent.LoadChanged(replicaIndex, toldLoad));
        }
    }

    /** Publishes a request that has ended without a step. */
    void requestEnded(RequestRecord record) {
        var event = new ClusterEvent.RequestEnded(record);
        if (peers.wantsProgress()) {
            ended.add(record.requestId());
        }
        peers.metrics().tell(event);
        if (subscriber != null) {
            subscriber.tell(event);
        }
    }

    /** Has the memory publish its state. */
    void kvCacheChanged(long atNanos) {
        if (subscriber != null) {
            kvBlockManager.tell(new KvBlockManager.TellState(atNanos));
        }
    }

    /** Publishes the end of the replica's queues and memory, once its counters have the memory's lookups. */
    void gone() {
        if (subscriber != null) {
            var nothing = new ClusterEvent.EngineLoad(
                    0, 0, 0, counters.numRequests(), counters.numPreemptions(), AdapterUse.NONE);
            subscriber.tell(new ClusterEvent.LoadChanged(replicaIndex, nothing));
            var lookups = counters.prefixCacheOfPredecessors();
            subscriber.tell(new ClusterEvent.KvCacheChanged(
                    replicaIndex,
                    new ClusterEvent.KvCacheState(0, 0, KvBlockCounts.NONE, lookups, 1, List.of(), null)));
        }
    }

    private void noteProgress(StepResult result, List<RequestRecord> records) {
        for (var request : result.sampledAlone()) {
            if (request.numOutputTokens() == 1) {
                firstTokens.add(request.request().id());
            }
        }
        for (var record : records) {
            ended.add(record.requestId());
        }
        // Of a request that began on another replica only what it has got here.
        for (var request : result.finished()) {
            decodeNanos += request.lastTokenNanos() - request.firstTokenNanos();
            decodeTokens += request.numOutputTokens() - 1;
        }
    }

    /** Tells the router, which counts outstanding requests, of first tokens and ends, if there are any. */
    void tellRouter() {
        if (counters.numEnded() != toldEnded || !firstTokens.isEmpty()) {
            toldEnded = counters.numEnded();
            peers.router()
                    .tell(new Router.ReplicaProgress(
                            replicaIndex, toldEnded, taken(firstTokens), taken(ended), decodeNanos, decodeTokens));
            decodeNanos = 0;
            decodeTokens = 0;
        }
    }

    private static LongList taken(LongArrayList ids) {
        if (ids.isEmpty()) {
            return LongLists.EMPTY_LIST;
        }
        var taken = new LongImmutableList(ids);
        ids.clear();
        return taken;
    }

    private boolean hasChanged() {
        return requests.numRunning() != toldLoad.numRunning()
                || requests.numWaiting() != toldLoad.numWaiting()
                || requests.numSkipped() != toldLoad.numDeferred()
                || counters.numRequests() != toldLoad.numRequests()
                || counters.numPreemptions() != toldLoad.numPreemptions();
    }

    private ClusterEvent.EngineLoad load() {
        return new ClusterEvent.EngineLoad(
                requests.numRunning(),
                requests.numWaiting(),
                requests.numSkipped(),
                counters.numRequests(),
                counters.numPreemptions(),
                requests.adapterUse());
    }

    private static ClusterEvent.FirstTokens firstTokens(List<EngineRequest> sampledAlone, long atNanos) {
        var requestIds = new LongArrayList();
        var resumedIds = new LongArrayList();
        var ttftNanos = new LongArrayList();
        var promptTokens = PromptTokens.NONE;
        var legTokens = PromptTokens.NONE;
        for (var request : sampledAlone) {
            if (request.request().isPrefillLeg()) {
                legTokens = legTokens.plus(PromptTokens.of(request));
            } else if (request.numAnswerTokens() == 1) {
                requestIds.add(request.request().id());
                ttftNanos.add(atNanos - request.request().arrivalNanos());
                promptTokens = promptTokens.plus(PromptTokens.of(request));
            } else if (request.numOutputTokens() == 1) {
                resumedIds.add(request.request().id());
            }
        }
        return ttftNanos.isEmpty() && resumedIds.isEmpty() && legTokens.total() == 0
                ? ClusterEvent.FirstTokens.NONE
                : new ClusterEvent.FirstTokens(
                        new LongImmutableList(requestIds),
                        new LongImmutableList(ttftNanos),
                        promptTokens,
                        legTokens,
                        new LongImmutableList(resumedIds));
    }

    /**
     * Load reports of a replica: one at each multiple of an interval before which anything has changed, as a router would
     * scrape them, so that a replica without work says nothing; or at the end of every instant in which something has changed.
     */
    static final class LoadReporter {
        private final ReplicaPeers peers;
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
            this.requests = requests;
            this.kvBlockManager = kvBlockManager;
            this.replica = replica;
            this.clock = clock;
        }

        /** The queues or the memory have changed. */
        void onChange() {
            if (!peers.wantsLoadReports() || due != null) {
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
}

package understudy.cluster.replica;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.KvBlockManager;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.Router;
import understudy.engine.EngineLoad;
import understudy.engine.EngineRequest;
import understudy.engine.StepResult;
import understudy.engine.lora.AdapterUse;
import understudy.kvcache.KvBlockCounts;
import understudy.report.ReplicaCounters;
import understudy.report.RequestRecord;
import understudy.report.transfers.PromptTokens;

/** Events of one replica, told to its subscriber, to the collector of the run's figures, and to the router. */
final class ReplicaEvents {
    private final int replicaIndex;
    private final ReplicaCounters counters;
    private final EngineLoad requests;
    private final ActorRef<KvBlockManager.Command> kvBlockManager;
    private final ReplicaPeers peers;
    private final ClusterEvent.@Nullable Subscriber subscriber;
    private final boolean tellsKvCaches;
    private final boolean wantsProgress;
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
        tellsKvCaches = peers.tells(ClusterEvent.Detail.KV_CACHES);
        wantsProgress = peers.wantsProgress();
        toldLoad = ClusterEvent.EngineLoad.NONE;
    }

    /** Records that the memory was sent a message that may change its prefix table. */
    void memoryTouched() {
        mayHaveKvEvents = peers.wantKvEvents();
    }

    /**
     * Publishes a step.
     *
     * @return message for the memory, which then publishes its own state; null for none
     */
    KvBlockManager.@Nullable Settle stepEnded(
            StepResult result, ClusterEvent.Step ran, List<RequestRecord> endedWithIt) {
        var firstTokens = ClusterEvent.FirstTokens.NONE;
        var load = ClusterEvent.EngineLoad.NONE;
        if (subscriber != null) {
            firstTokens = firstTokens(result.sampledAlone(), ran.endNanos());
            toldLoad = load();
            load = toldLoad;
        }
        var step =
                ClusterEvent.StepEnded.of(replicaIndex, ran, result, endedWithIt, firstTokens, load, requests.course());
        counters.onVerified(step.drafts());
        peers.tell(step);
        if (wantsProgress) {
            noteProgress(result, endedWithIt);
        }
        tellRouter();
        loadReporter.onChange();
        var settlement = result.toSettle();
        boolean concernsMemory = settlement != null || mayHaveKvEvents || tellsKvCaches;
        mayHaveKvEvents = false;
        return concernsMemory ? new KvBlockManager.Settle(settlement, ran.endNanos()) : null;
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
        if (wantsProgress) {
            ended.add(record.requestId());
        }
        peers.tell(event);
    }

    /** Has the memory publish its state. */
    void kvCacheChanged(long atNanos) {
        if (tellsKvCaches) {
            kvBlockManager.tell(new KvBlockManager.TellState(atNanos));
        }
    }

    /** Publishes the end of the replica's queues and memory, once its counters have the memory's lookups. */
    void gone() {
        if (subscriber != null) {
            var nothing = new ClusterEvent.EngineLoad(
                    0, 0, 0, counters.numRequests(), counters.numPreemptions(), AdapterUse.NONE, List.of());
            subscriber.tell(new ClusterEvent.LoadChanged(replicaIndex, nothing));
        }
        if (tellsKvCaches) {
            var lookups = counters.prefixCacheOfPredecessors();
            peers.tellSubscriber(new ClusterEvent.KvCacheChanged(
                    replicaIndex,
                    new ClusterEvent.KvCacheState(0, 0, KvBlockCounts.NONE, lookups, 1, List.of(), List.of(), null)));
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
                requests.adapterUse(),
                requests.queues());
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
}

package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.RequestBook;
import understudy.engine.StepResult;
import understudy.kvcache.KvBlockCounts;
import understudy.report.ReplicaCounters;
import understudy.report.RequestRecord;

/** Events of one replica, told to its subscriber, to the collector of the run's figures, and to the router. */
final class ReplicaEvents {
    private final int replicaIndex;
    private final ReplicaCounters counters;
    private final RequestBook requests;
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
            RequestBook requests,
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
            StepResult result, int numTokens, List<RequestRecord> endedWithIt, long endNanos) {
        var step = ClusterEvent.StepEnded.of(replicaIndex, endNanos, numTokens, result, endedWithIt);
        peers.metrics().tell(step);
        if (peers.wantsProgress()) {
            noteProgress(result.sampledAlone(), endedWithIt);
        }
        tellRouter();
        loadReporter.onChange();
        var settlement =
                result.settlement().isEmpty() ? null : result.settlement().build();
        if (subscriber != null) {
            toldLoad = load();
            return new KvBlockManager.Settle(
                    settlement, step.with(firstTokens(result.sampledAlone(), endNanos), toldLoad));
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
            var nothing = new ClusterEvent.EngineLoad(0, 0, counters.numRequests(), counters.numPreemptions());
            subscriber.tell(new ClusterEvent.LoadChanged(replicaIndex, nothing));
            var lookups = counters.prefixCacheOfPredecessors();
            subscriber.tell(new ClusterEvent.KvCacheChanged(
                    replicaIndex, new ClusterEvent.KvCacheState(0, 0, KvBlockCounts.NONE, lookups, 1, List.of())));
        }
    }

    private void noteProgress(List<EngineRequest> sampledAlone, List<RequestRecord> records) {
        for (var request : sampledAlone) {
            if (request.numOutputTokens() == 1) {
                firstTokens.add(request.request().id());
            }
        }
        for (var record : records) {
            ended.add(record.requestId());
            if (record.numOutputTokens() > 1) {
                decodeNanos += record.lastTokenNanos() - record.firstTokenNanos();
                decodeTokens += record.numOutputTokens() - 1;
            }
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
                || counters.numRequests() != toldLoad.numRequests()
                || counters.numPreemptions() != toldLoad.numPreemptions();
    }

    private ClusterEvent.EngineLoad load() {
        return new ClusterEvent.EngineLoad(
                requests.numRunning(), requests.numWaiting(), counters.numRequests(), counters.numPreemptions());
    }

    private static ClusterEvent.FirstTokens firstTokens(List<EngineRequest> sampledAlone, long atNanos) {
        var requestIds = new LongArrayList();
        var ttftNanos = new LongArrayList();
        long numPromptTokens = 0;
        long numCachedTokens = 0;
        for (var request : sampledAlone) {
            if (request.numAnswerTokens() == 1) {
                requestIds.add(request.request().id());
                ttftNanos.add(atNanos - request.request().arrivalNanos());
                numPromptTokens += request.numPromptTokens();
                numCachedTokens += request.numCachedTokens();
            }
        }
        return ttftNanos.isEmpty()
                ? ClusterEvent.FirstTokens.NONE
                : new ClusterEvent.FirstTokens(
                        new LongImmutableList(requestIds),
                        new LongImmutableList(ttftNanos),
                        numPromptTokens,
                        numCachedTokens);
    }
}

package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Settlement;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.KvTransferParams;

/**
 * The KV memory of vLLM V1 with a connector: KV may come from elsewhere, and blocks may stay for a transfer (vLLM {@code
 * v1/core/sched/scheduler.py} and {@code kv_cache_manager.py}).
 */
public final class ConnectedKvCacheManager extends KvCacheManager {
    private static final Admission.Refused REFUSED = new Admission.Refused();
    private static final Admission.Deferred DEFERRED = new Admission.Deferred();

    private final KvConnector connector;
    private final LeftBlocks left;
    private final Long2ObjectOpenHashMap<ConnectedSequence> byRequest = new Long2ObjectOpenHashMap<>();
    private final TransferredBlocks transferred;
    private PrefixCacheStats externalStats = PrefixCacheStats.NONE;

    /** Creates an empty cache with the connector of its settings. */
    public ConnectedKvCacheManager(ContentConfig config) {
        this(config, spec(config).create(config.blockSize(), config.enablePrefixCaching()));
    }

    /** Creates an empty cache with a connector that the caller has made. */
    public ConnectedKvCacheManager(ContentConfig config, KvConnector connector) {
        super(config);
        this.connector = connector;
        left = new LeftBlocks(pool, spec(config).defersFrees());
        transferred = new TransferredBlocks(connector, pool, left, byRequest);
    }

    private static ConnectorSpec spec(ContentConfig config) {
        return Objects.requireNonNull(config.connector());
    }

    @Override
    KvSequence create(PrefixLookup request) {
        return new ConnectedSequence(request, config.hasher(), room);
    }

    @Override
    public Admission admit(AdmissionRequest request) {
        var sequence = (ConnectedSequence) sequenceOf(request.lookup());
        sequence.note(request);
        byRequest.put(sequence.requestId(), sequence);
        return request.load().numLoadedTokens() > 0 ? admitLoaded(request, sequence) : lookUp(request, sequence);
    }

    /** Caches the blocks whose KV has come, and admits the request if there are blocks for the rest of it. */
    private Admission admitLoaded(AdmissionRequest request, ConnectedSequence sequence) {
        int numLoaded = request.load().numLoadedTokens();
        cacheAhead(sequence, numLoaded);
        int scheduled = request.tokensNow(numLoaded);
        int numSlots = request.numSlots(numLoaded, scheduled);
        if (scheduled == 0 || !fits(request, numSlots, sequence.numBlocks(), 0, 0)) {
            return REFUSED;
        }
        sequence.take(pool, blocksFor(numSlots) - sequence.numBlocks());
        cacheAhead(sequence, Math.min(numLoaded + scheduled, request.numTokens()));
        connector.onAllocated(sequence, numLoaded, 0);
        return new Admission.Admitted(numLoaded, scheduled, PrefixCacheEvents.NONE);
    }

    private Admission lookUp(AdmissionRequest request, ConnectedSequence sequence) {
        sequence.releaseTo(pool, 0); // what a load that has failed has left
        lookUp(request.lookup());
        int numLocal = hits.size() * blockSize;
        var external = connector.match(sequence, numLocal);
        if (external.isLater()) {
            return DEFERRED;
        }
        return external.isAsync()
                ? load(request, sequence, numLocal, external)
                : admit(request, sequence, numLocal, external);
    }

    private Admission admit(
            AdmissionRequest request, ConnectedSequence sequence, int numLocal, ExternalMatch external) {
        int numCached = numLocal + external.numTokens();
        int scheduled = request.tokensNow(numCached);
        int numSlots = request.numSlots(numCached, scheduled);
        if (scheduled == 0 || !fits(request, numSlots, hits.size(), hits.countFree(), 0)) {
            return REFUSED;
        }
        boolean findsOwn = attach(sequence, numSlots, Math.min(numCached + scheduled, request.numTokens()));
        onAllocated(request, sequence, numLocal, external.numTokens());
        var events = events(request, numLocal, findsOwn, false);
        return new Admission.Admitted(numCached, external, scheduled, events);
    }

    /** Allocates blocks for what is here and what is on its way, and for nothing else; caches nothing yet. */
    private Admission load(AdmissionRequest request, ConnectedSequence sequence, int numLocal, ExternalMatch external) {
        int numCached = numLocal + external.numTokens();
        if (!fits(
                request,
                numCached,
                hits.size(),
                hits.countFree(),
                request.load().numReservedBlocks())) {
            return REFUSED;
        }
        boolean findsOwn = hits.attach(sequence);
        sequence.take(pool, blocksFor(numCached) - hits.size());
        sequence.setLoading(true);
        onAllocated(request, sequence, numLocal, external.numTokens());
        var events = events(request, numLocal, findsOwn, false);
        return new Admission.Loading(numCached, external, events);
    }

    private void onAllocated(AdmissionRequest request, ConnectedSequence sequence, int numLocal, int numExternal) {
        connector.onAllocated(sequence, numLocal, numExternal);
        count(request, request.numTokens(), numLocal);
        externalStats = externalStats.plus(request.isResumed(), request.numTokens() - numLocal, numExternal);
    }

    private boolean fits(AdmissionRequest request, int numTokens, int numHeld, int numEvictable, int numReserved) {
        int numAvailable =
                pool.numFree() - (request.isAnythingRunning() ? config.blocks().watermarkBlocks() : 0) - numEvictable;
        int numOfAll = request.reserveFullSequence() ? blocksFor(request.numTokens()) : 0;
        return numOfAll - numHeld <= numAvailable
                && Math.max(0, blocksFor(numTokens) - numHeld) <= numAvailable - numReserved;
    }

    @Override
    public void settle(Settlement settlement) {
        left.onStepDone(settlement.step());
        super.settle(settlement);
    }

    @Override
    void end(int handle, int numTokens, long lastStep) {
        var sequence = (ConnectedSequence) known(handle);
        sequence.setNumTokens(numTokens);
        leave(handle, sequence, lastStep, true);
    }

    @Override
    public void free(int handle, long lastStep) {
        var sequence = (ConnectedSequence) find(handle);
        if (sequence == null) {
            return;
        }
        if (isOfConnector(sequence)) {
            leave(handle, sequence, lastStep, false);
        } else {
            forget(handle);
        }
    }

    /** Returns whether admission was asked for: a queue in order of cached prefixes looks up others, too. */
    private boolean isOfConnector(@Nullable ConnectedSequence sequence) {
        return sequence != null && byRequest.get(sequence.requestId()) == sequence;
    }

    @Override
    public void abort(long requestId, @Nullable KvTransferParams params, int handle, long lastStep) {
        if (!isOfConnector((ConnectedSequence) find(handle))) {
            connector.onUnservedEnded(requestId, params);
        }
        free(handle, lastStep);
    }

    private void leave(int handle, ConnectedSequence sequence, long lastStep, boolean isComplete) {
        boolean isForOthers = connector.onEnded(sequence, isComplete);
        int[] blocks = sequence.takeBlocks();
        if (isForOthers || sequence.isLoading()) {
            left.hold(sequence.requestId(), blocks, lastStep, isForOthers);
        } else {
            left.free(blocks, lastStep);
        }
        byRequest.remove(sequence.requestId());
        forget(handle);
    }

    @Override
    public void release(int handle, long lastStep) {
        var sequence = (ConnectedSequence) find(handle);
        if (sequence != null) {
            connector.onPreempted(sequence);
            left.free(sequence.takeBlocks(), lastStep);
        }
    }

    @Override
    public void endPlan(KvAsk.EndPlan end) {
        if (end.computes()) {
            left.onStepPlanned(end.step());
        }
        var scheduled = new ArrayList<ConnectedSequence>(end.scheduled().size());
        for (int i = 0; i < end.scheduled().size(); i++) {
            var sequence = (ConnectedSequence) known(end.scheduled().getInt(i));
            sequence.setNumTokens(end.numTokens().getInt(i));
            scheduled.add(sequence);
        }
        transferred.begin(connector.onPlanned(scheduled, end.numComputedTokens().toIntArray()));
        if (!config.recordsEvents()) {
            connector.drainChanges(); // drops them, so that they do not pile up
        }
    }

    @Override
    public ConnectedBlocks connected() {
        return transferred;
    }

    @Override
    public PrefixCacheStats externalStats() {
        return externalStats;
    }

    /** Those of the host's memory follow those of the GPU. */
    @Override
    public List<KvEvent> drainEvents() {
        var changes = connector.drainChanges();
        if (changes.isEmpty() || !config.recordsEvents()) {
            return super.drainEvents();
        }
        var all = new ArrayList<>(super.drainEvents());
        for (var change : changes) {
            all.add(change.isStored() ? new KvEvent.HostStored(change.keys()) : new KvEvent.HostRemoved(change.keys()));
        }
        return all;
    }

    @Override
    public KvCacheAudit audit() {
        connector.audit();
        return super.audit();
    }

    @Override
    List<int[]> leftTables() {
        return left.tables();
    }
}

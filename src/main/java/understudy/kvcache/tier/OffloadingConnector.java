package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongRBTreeSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierChange;
import understudy.kvcache.connector.TierState;
import understudy.kvcache.connector.TransferJob;

/**
 * Scheduler's side of vLLM's {@code OffloadingConnector} ({@code v1/kv_offload}, {@code
 * kv_connector/v1/offloading/scheduler.py}): chunks of KV are written to host memory when they are complete, and read
 * back at every admission behind the local hits.
 */
public final class OffloadingConnector implements KvConnector {
    private final OffloadingSpec spec;
    private final int blockSize;
    private final int chunkTokens;
    private final Consumer<StoreAttempt> observer;
    private final Long2ObjectOpenHashMap<OffloadedRequest> requests = new Long2ObjectOpenHashMap<>();
    private final OffloadingJobs jobs = new OffloadingJobs();
    private final HostMemory host;
    private final List<TransferJob> loads = new ArrayList<>();
    private final LongRBTreeSet endedRequests = new LongRBTreeSet();
    private final Long2ObjectOpenHashMap<LongList> cascades = new Long2ObjectOpenHashMap<>();
    private final StoreFences fences = new StoreFences();

    /** @param observer receives the outcome of each attempt to store chunks */
    public OffloadingConnector(
            OffloadingSpec spec, int blockSize, boolean enablePrefixCaching, Consumer<StoreAttempt> observer) {
        this.spec = spec;
        this.blockSize = blockSize;
        chunkTokens = blockSize * spec.blocksPerChunk();
        this.observer = observer;
        host = new HostMemory(spec.tier(), chunkTokens, enablePrefixCaching);
    }

    /** Attempt to store chunks of a request, so many of which were offered. */
    public record StoreAttempt(long requestId, int numOffered, PrepareStoreOutput output) {}

    /** Returns the content of the host memory. */
    public TierCache tier() {
        return host.tier();
    }

    @Override
    public ExternalMatch match(ConnectedRequest request, int numLocalTokens) {
        var state = requests.computeIfAbsent(request.requestId(), id -> new OffloadedRequest(request));
        state.blocks.clear();
        if (!state.jobs.isEmpty()) {
            return ExternalMatch.LATER;
        }
        if (state.hasGivenUp()) {
            return ExternalMatch.NONE;
        }
        state.numLocalTokens = numLocalTokens;
        var keys = state.keys(blockSize, spec.blocksPerChunk());
        var match = host.find(keys, request.numTokens(), numLocalTokens);
        host.tier().touch(keys);
        boolean isSettled = match.isLater() || !promote(state, keys, numLocalTokens + match.numTokens());
        return isSettled ? state.withSource(match) : ExternalMatch.LATER;
    }

    /**
     * Asks the slower memories, and the replica that the router has named, for the chunks behind those that are here, once;
     * returns whether it does.
     */
    private boolean promote(OffloadedRequest state, LongList keys, int numTokensHere) {
        int first = numTokensHere / chunkTokens;
        var params = state.request.transferParams();
        int source = params != null && params.isKvSource() ? params.remoteReplica() : -1;
        if ((spec.numStores() == 0 && source < 0) || state.isPromoted || first >= keys.size()) {
            return false;
        }
        state.beginPromotion(numTokensHere);
        var wanted = new LongArrayList(keys.subList(first, keys.size()));
        long job = jobs.begin(new OffloadingJobs.Job(state, LongList.of(), true, new IntArrayList()));
        loads.add(TransferJob.ofChunks(job, TransferJob.Kind.PROMOTE, state.request.requestId(), wanted, -1, source));
        return true;
    }

    @Override
    public LongList lend(LongList keys) {
        return host.lend(keys);
    }

    @Override
    public void takeBack(LongList keys) {
        keys.forEach(host.tier()::completeLoad);
    }

    @Override
    public LongList acceptPromotion(long id, LongList keys, KvSource source) {
        var job = jobs.running(id);
        if (host.beginStore(keys) instanceof PrepareStoreOutput.Prepared prepared) {
            job.owner().promotedFrom = source;
            jobs.replace(id, new OffloadingJobs.Job(job.owner(), prepared.keys(), true, job.gpuBlocks()));
            return prepared.keys();
        }
        return LongList.of();
    }

    @Override
    public void onAllocated(ConnectedRequest request, int numLocalTokens, int numExternalTokens) {
        if (numExternalTokens == 0) {
            return;
        }
        var state = request(request.requestId());
        int numTokens = state.numLocalTokens + numExternalTokens;
        int numBlocks = up(numTokens, blockSize);
        int firstBlock = Math.min(request.numCachedBlocks(), numBlocks);
        for (int i = 0; i < request.numBlocks(); i++) {
            fences.addNew(request.block(i));
        }
        var keys = state.keys(blockSize, spec.blocksPerChunk())
                .subList(firstBlock / spec.blocksPerChunk(), up(numTokens, chunkTokens));
        var loadedKeys = new LongArrayList(keys);
        var target = new IntArrayList();
        for (int i = firstBlock; i < numBlocks; i++) {
            target.add(request.block(i));
        }
        state.numConsidered = up(numTokens, chunkTokens);
        state.numComputedTokens = numTokens;
        long job = jobs.begin(new OffloadingJobs.Job(state, loadedKeys, false, new IntArrayList()));
        var source = host.beginLoad(loadedKeys);
        loads.add(state.job(job, TransferJob.Kind.LOAD, target, source, blockSize));
    }

    @Override
    public void onPreempted(ConnectedRequest request) {
        var state = requests.get(request.requestId());
        if (state != null) {
            fences.flush(state.jobs);
            state.numComputedTokens = 0;
            state.isPromoted = false;
        }
    }

    @Override
    public boolean onEnded(ConnectedRequest request, boolean isComplete) {
        var state = requests.get(request.requestId());
        if (state != null) {
            state.isEnded = true;
            state.isComplete = isComplete;
            endedRequests.add(request.requestId());
            state.jobs.forEach(job -> fences.add(job, jobs.running(job).gpuBlocks()));
        }
        return false;
    }

    @Override
    public List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens) {
        for (int i = 0; i < scheduled.size(); i++) {
            note(scheduled.get(i), numComputedTokens[i]);
        }
        fences.flushOverwritten();
        var begun = new ArrayList<>(loads);
        scheduled.forEach(request -> store(request(request.requestId()), begun));
        endedRequests.forEach(id -> storeLast(request(id), begun));
        fences.endStep();
        loads.clear();
        endedRequests.clear();
        return begun;
    }

    /** Takes over the blocks that a request has got since it was scheduled before. */
    private void note(ConnectedRequest request, int numComputedTokens) {
        var state = request(request.requestId());
        state.numComputedTokens = numComputedTokens;
        for (int i = state.blocks.size(); i < request.numBlocks(); i++) {
            state.blocks.add(request.block(i));
            fences.addNew(request.block(i));
        }
    }

    private void storeLast(OffloadedRequest state, List<TransferJob> begun) {
        store(state, begun);
        state.isOver = true;
        forgetIfOver(state);
    }

    private void forgetIfOver(OffloadedRequest state) {
        if (state.isOver && state.jobs.isEmpty()) {
            requests.remove(state.request.requestId());
        }
    }

    private void store(OffloadedRequest state, List<TransferJob> begun) {
        int numChunks = Math.min(
                state.numChunksToStore(chunkTokens, spec.offloadPromptOnly(), spec.usesEagle()),
                state.blocks.size() / spec.blocksPerChunk());
        if (numChunks <= state.numConsidered) {
            return;
        }
        var keys = state.keys(blockSize, spec.blocksPerChunk());
        var offered = new LongArrayList(keys.subList(state.numConsidered, numChunks));
        var output = host.beginStore(offered);
        observer.accept(new StoreAttempt(state.request.requestId(), offered.size(), output));
        if (!(output instanceof PrepareStoreOutput.Prepared prepared)) {
            return; // tried again when the request is scheduled next
        }
        if (!prepared.keys().isEmpty()) {
            host.tier().touch(keys);
            begun.add(begin(state, prepared, state.blocksOf(offered, prepared.keys(), spec.blocksPerChunk())));
        }
        state.numConsidered = numChunks;
    }

    private TransferJob begin(OffloadedRequest state, PrepareStoreOutput.Prepared prepared, IntArrayList blocks) {
        long job = jobs.begin(new OffloadingJobs.Job(state, prepared.keys(), true, blocks));
        if (state.isEnded) {
            fences.add(job, blocks);
            fences.flushIfOverwritten(job, blocks);
        }
        return state.job(job, TransferJob.Kind.STORE, blocks, prepared.blocks(), blockSize);
    }

    @Override
    public long[] jobsToFlush() {
        return fences.flushed();
    }

    @Override
    public List<TransferJob> onJobEnded(long id, boolean isFailed) {
        var cascaded = cascades.remove(id);
        if (cascaded != null) {
            cascaded.forEach(host.tier()::completeLoad);
            return List.of();
        }
        var job = jobs.running(id);
        jobs.remove(id);
        if (job.isStore()) {
            host.endStore(job.keys(), isFailed);
        } else {
            host.endLoad(job.keys());
            job.owner().numFailedLoads += isFailed ? 1 : 0;
        }
        if (job.owner().isEnded) {
            fences.remove(id, job.gpuBlocks());
        }
        job.owner().jobs.rem(id);
        forgetIfOver(job.owner());
        return job.isStore() && !isFailed && !job.gpuBlocks().isEmpty() ? cascade(job) : List.of();
    }

    /** Starts the transfers of chunks that the GPU has stored in the host's memory to all slower memories. */
    private List<TransferJob> cascade(OffloadingJobs.Job stored) {
        var begun = new ArrayList<TransferJob>();
        for (int store = 0; store < spec.numStores(); store++) {
            host.tier().prepareLoad(stored.keys());
            long next = jobs.nextNumber();
            cascades.put(next, stored.keys());
            long requestId = stored.owner().request.requestId();
            begun.add(TransferJob.ofChunks(next, TransferJob.Kind.CASCADE, requestId, stored.keys(), store, -1));
        }
        return begun;
    }

    @Override
    public List<TierChange> drainChanges() {
        return host.drainChanges();
    }

    @Override
    public List<TierState> tiers() {
        return List.of(host.state());
    }

    @Override
    public void lose(LongPredicate isLost) {
        host.lose(isLost);
    }

    @Override
    public void audit() {
        host.audit();
    }

    private OffloadedRequest request(long id) {
        return Objects.requireNonNull(requests.get(id), () -> "request " + id + " is unknown");
    }

    private static int up(int value, int unit) {
        return (value + unit - 1) / unit;
    }
}

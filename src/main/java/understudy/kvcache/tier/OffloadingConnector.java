package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongRBTreeSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvConnector;
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
    private final TierCache tier;
    private final Long2ObjectOpenHashMap<OffloadedRequest> requests = new Long2ObjectOpenHashMap<>();
    private final Long2ObjectOpenHashMap<Job> jobs = new Long2ObjectOpenHashMap<>();
    private final ChunkLookup chunks;
    private final List<TransferJob> loads = new ArrayList<>();
    private final LongRBTreeSet endedRequests = new LongRBTreeSet();
    private final LongArrayList preemptedRequests = new LongArrayList();

    private final StoreFences fences = new StoreFences();
    private long nextJob;

    /** @param observer is told what becomes of chunks that are to be stored */
    public OffloadingConnector(
            OffloadingSpec spec, int blockSize, boolean enablePrefixCaching, Consumer<StoreAttempt> observer) {
        this.spec = spec;
        this.blockSize = blockSize;
        chunkTokens = blockSize * spec.blocksPerChunk();
        this.observer = observer;
        tier = new TierCache(spec.tier());
        chunks = new ChunkLookup(tier, chunkTokens, enablePrefixCaching);
    }

    /** Attempt to store chunks of a request, so many of which were offered. */
    public record StoreAttempt(long requestId, int numOffered, PrepareStoreOutput output) {}

    /** Transfer under way; a store reads {@code gpuBlocks}. */
    private record Job(OffloadedRequest owner, LongList keys, boolean isStore, IntArrayList gpuBlocks) {}

    /** Returns the content of the host memory. */
    public TierCache tier() {
        return tier;
    }

    @Override
    public ExternalMatch match(ConnectedRequest request, int numLocalTokens) {
        var state = requests.get(request.requestId());
        if (state == null) {
            state = new OffloadedRequest(request);
            requests.put(request.requestId(), state);
        }
        state.blocks.clear();
        if (!state.jobs.isEmpty()) {
            return ExternalMatch.LATER;
        }
        state.numLocalTokens = numLocalTokens;
        var keys = state.keys(blockSize, spec.blocksPerChunk());
        var match = chunks.find(keys, request.numTokens(), numLocalTokens);
        tier.touch(keys);
        return match;
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
        long job = begin(new Job(state, loadedKeys, false, new IntArrayList()));
        var source = tier.prepareLoad(loadedKeys);
        loads.add(job(job, TransferJob.Kind.LOAD, state, target, source));
        chunks.beginLoad(loadedKeys);
    }

    private long begin(Job job) {
        jobs.put(nextJob, job);
        job.owner.jobs.add(nextJob);
        return nextJob++;
    }

    private TransferJob job(
            long job, TransferJob.Kind kind, OffloadedRequest state, IntArrayList gpuBlocks, IntList tierBlocks) {
        return new TransferJob(
                job, kind, state.request.requestId(), gpuBlocks.size() * blockSize, gpuBlocks, tierBlocks, -1);
    }

    @Override
    public void onPreempted(ConnectedRequest request) {
        preemptedRequests.add(request.requestId());
        var state = requests.get(request.requestId());
        if (state != null) {
            state.numComputedTokens = 0;
        }
    }

    @Override
    public boolean onEnded(ConnectedRequest request, boolean isComplete) {
        var state = requests.get(request.requestId());
        if (state != null) {
            state.isEnded = true;
            state.isComplete = isComplete;
            endedRequests.add(request.requestId());
            state.jobs.forEach(job -> fences.add(job, runningJob(job).gpuBlocks));
        }
        return false;
    }

    @Override
    public List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens) {
        for (int i = 0; i < scheduled.size(); i++) {
            note(scheduled.get(i), numComputedTokens[i]);
        }
        collectFlushes();
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

    private void collectFlushes() {
        preemptedRequests.forEach(id -> {
            var state = requests.get(id);
            if (state != null) {
                fences.flush(state.jobs);
            }
        });
        preemptedRequests.clear();
        fences.flushOverwritten();
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
                state.numTokensToStore(spec.offloadPromptOnly()) / chunkTokens,
                state.blocks.size() / spec.blocksPerChunk());
        if (numChunks <= state.numConsidered) {
            return;
        }
        var keys = state.keys(blockSize, spec.blocksPerChunk());
        var offered = new LongArrayList(keys.subList(state.numConsidered, numChunks));
        var output = tier.prepareStore(offered);
        observer.accept(new StoreAttempt(state.request.requestId(), offered.size(), output));
        if (!(output instanceof PrepareStoreOutput.Prepared prepared)) {
            return; // tried again when the request is scheduled next
        }
        if (!prepared.keys().isEmpty()) {
            tier.touch(keys);
            begun.add(begin(state, prepared, chunks(state, offered, prepared)));
        }
        state.numConsidered = numChunks;
    }

    /** Returns the blocks of the offered chunks that are stored. */
    private IntArrayList chunks(OffloadedRequest state, LongList offered, PrepareStoreOutput.Prepared prepared) {
        var stored = new LongOpenHashSet(prepared.keys());
        var blocks = new IntArrayList();
        for (int i = 0; i < offered.size(); i++) {
            if (stored.contains(offered.getLong(i))) {
                int first = (state.numConsidered + i) * spec.blocksPerChunk();
                blocks.addAll(state.blocks.subList(first, first + spec.blocksPerChunk()));
            }
        }
        return blocks;
    }

    private TransferJob begin(OffloadedRequest state, PrepareStoreOutput.Prepared prepared, IntArrayList blocks) {
        long job = begin(new Job(state, prepared.keys(), true, blocks));
        if (state.isEnded) {
            fences.add(job, blocks);
            fences.flushIfOverwritten(job, blocks);
        }
        return job(job, TransferJob.Kind.STORE, state, blocks, prepared.blocks());
    }

    @Override
    public long[] jobsToFlush() {
        return fences.flushed();
    }

    @Override
    public void onJobEnded(long id, boolean isFailed) {
        var job = runningJob(id);
        jobs.remove(id);
        job.keys.forEach(key -> complete(job, key, isFailed));
        if (job.owner.isEnded) {
            fences.remove(id, job.gpuBlocks);
        }
        job.owner.jobs.rem(id);
        forgetIfOver(job.owner);
    }

    private void complete(Job job, long key, boolean isFailed) {
        if (!job.isStore) {
            tier.completeLoad(key);
            chunks.endLoad(key);
        } else if (isFailed) {
            tier.failStore(key);
        } else {
            tier.completeStore(key);
        }
    }

    @Override
    public void lose(LongPredicate isLost) {
        tier.lose(isLost);
    }

    @Override
    public void audit() {
        var audit = tier.audit();
        if (!audit.isConserved()) {
            throw new IllegalStateException("block conservation: the host memory has " + audit);
        }
    }

    private OffloadedRequest request(long id) {
        return Objects.requireNonNull(requests.get(id), () -> "request " + id + " is unknown");
    }

    private Job runningJob(long id) {
        return Objects.requireNonNull(jobs.get(id), () -> "job " + id + " is not running");
    }

    private static int up(int value, int unit) {
        return (value + unit - 1) / unit;
    }
}

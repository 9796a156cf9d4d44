package understudy.kvcache.content;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvSnapshot;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.PrefixLookup;
import understudy.prompt.BlockRoom;

/**
 * Base of memories whose blocks have ids and come from one pool: the tables of requests by handle, and counts.
 *
 * @param <S> state that the memory keeps of a request
 * @param <C> settings of the memory
 */
public abstract class PooledKvCache<S extends HashedSequence, C extends PoolConfig> implements KvCache {
    /** Settings of the memory. */
    protected final C config;

    final int blockSize;

    private final int maxModelLen;
    private final boolean cachesPrefixes;

    /** Changes of the cached content since they were drained last. */
    protected final KvEventLog events;

    /** All blocks. */
    protected final BlockPool pool;

    /** Where the hashes of all requests are made. */
    protected final BlockRoom room = new BlockRoom();

    private final ObjectArrayList<@Nullable S> sequences = new ObjectArrayList<>();
    private PrefixCacheStats stats = PrefixCacheStats.NONE;
    private long numStoredByPlans;

    /** Creates a memory whose blocks are all free. */
    protected PooledKvCache(C config, KvEventLog events) {
        this.config = config;
        this.events = events;
        blockSize = config.blockSize();
        maxModelLen = config.maxModelLen();
        cachesPrefixes = config.enablePrefixCaching();
        pool = new BlockPool(config, events);
    }

    @Override
    public void release(int handle, long lastStep) {
        var sequence = find(handle);
        if (sequence != null) {
            sequence.releaseTo(pool, lastStep);
        }
    }

    @Override
    public void free(int handle, long lastStep) {
        release(handle, lastStep);
        forget(handle);
    }

    /** Drops the state of a request without blocks. */
    void forget(int handle) {
        if (handle < sequences.size()) {
            sequences.set(handle, null);
        }
    }

    @Override
    public boolean resetPrefixCache() {
        return pool.reset();
    }

    @Override
    public List<KvEvent> drainEvents() {
        return events.drain();
    }

    @Override
    public double usage() {
        return 1 - (double) pool.numFree() / (pool.numBlocks() - 1);
    }

    @Override
    public KvBlockCounts blockCounts() {
        return pool.counts();
    }

    @Override
    public PrefixCacheStats stats() {
        return stats;
    }

    @Override
    public KvSnapshot snapshot(IntList handles) {
        var tables = new ArrayList<IntList>(handles.size());
        for (int i = 0; i < handles.size(); i++) {
            tables.add(new IntImmutableList(known(handles.getInt(i)).blockTable()));
        }
        return new KvSnapshot(tables, pool.numFree(), numStoredByPlans, numEvicted());
    }

    /** Returns how often cached content has been lost since the start. */
    protected long numEvicted() {
        return pool.numEvicted();
    }

    @Override
    public int[] freeOrder() {
        return pool.freeOrder();
    }

    @Override
    public long[] blockHashes() {
        return pool.prefixTable().hashes();
    }

    @Override
    public KvCacheAudit audit() {
        return BlockPoolAudit.of(pool, sequences.toArray(new @Nullable HashedSequence[0]), leftTables());
    }

    /** Returns the blocks that no request in a table holds, and that are not free. */
    List<int[]> leftTables() {
        return List.of();
    }

    /** Returns the state of a request, or null if it is not here. */
    protected @Nullable S find(int handle) {
        return handle < sequences.size() ? sequences.get(handle) : null;
    }

    /** Returns the state of a request, which must be here. */
    protected S known(int handle) {
        var sequence = find(handle);
        if (sequence == null) {
            throw new IllegalArgumentException("no request with handle " + handle);
        }
        return sequence;
    }

    /** Keeps something of a request. */
    protected void register(int handle, S sequence) {
        if (handle >= sequences.size()) {
            sequences.size(handle + 1);
        }
        sequences.set(handle, sequence);
    }

    /** Counts the lookup of a request that was admitted. */
    protected void count(AdmissionRequest request, int numTokens, int numCachedTokens) {
        if (cachesPrefixes) {
            stats = stats.plus(request.isResumed(), numTokens, numCachedTokens);
        }
    }

    /** Counts blocks that have become findable while a step was planned. */
    protected void countStoredByPlan(int numBlocks) {
        numStoredByPlans += numBlocks;
    }

    /** Returns whether a request may use what is cached. */
    protected final boolean mayRead(PrefixLookup request) {
        return cachesPrefixes && request.readsCache();
    }

    int blocksFor(int numTokens) {
        return (Math.min(numTokens, maxModelLen) + blockSize - 1) / blockSize;
    }
}

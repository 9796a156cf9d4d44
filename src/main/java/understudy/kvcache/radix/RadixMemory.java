package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.figure.OwnFigure;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.PushWord;

/**
 * SGLang's KV memory: tables of requests, the tree, and the pool ({@code mem_cache/common.py}, {@code radix_cache.py},
 * {@code chunk_cache.py}). It does what a {@link RadixAsk} decides, and never decides who runs. Sizes are in tokens.
 */
public class RadixMemory {
    /** Tokens for which room is made for each request that is left after a retraction. */
    private static final int RETRACT_DECODE_STEPS = 20;

    private final RadixConfig config;
    private final int pageSize;
    private final PagePool pool;
    private final RadixTree tree;
    private final boolean isCaching;
    private PrefixCacheStats stats = PrefixCacheStats.NONE;
    private final ObjectArrayList<@Nullable RadixSequence> sequences = new ObjectArrayList<>();
    private List<PushWord> pushWords = List.of();

    RadixMemory(RadixConfig config, PagePool pool, RadixTree tree) {
        this.config = config;
        this.pool = pool;
        this.tree = tree;
        pageSize = config.pageSize();
        isCaching = !config.disableRadixCache();
    }

    /** Creates an empty memory. */
    public static RadixMemory create(RadixConfig config) {
        if (config.window() != null) {
            return WindowRadixMemory.of(config, config.window());
        }
        if (config.hierarchy() != null) {
            return HostRadixMemory.of(config, config.hierarchy());
        }
        int numPages = config.maxTotalTokens() / config.pageSize();
        var pool = new PagePool(config.pageSize(), 1, numPages, config.needSort());
        return new RadixMemory(
                config,
                pool,
                new RadixTree(config.pageSize(), pool, config.evictionPolicy(), config.eagleReserve() > 0));
    }

    /** Has all changes of what is cached told from now on. */
    final void tell(BlockEvents events) {
        tree.events = events;
    }

    /** Answers a question. */
    public final RadixAnswer answer(RadixAsk ask) {
        return ask.decide(this);
    }

    public final RadixConfig config() {
        return config;
    }

    /** Returns whether prefixes are shared. */
    public final boolean isCaching() {
        return isCaching;
    }

    /** Returns the tokens that requests may get: free ones, and evictable ones. */
    public int numAvailable() {
        return pool.size() + tree.evictable();
    }

    /** Returns the share of the tokens that are in use, in the fuller one of two pools; what can be evicted is not. */
    public final double tokenUsage() {
        double usage = shareInUse(config.maxTotalTokens(), numAvailable());
        var window = config.window();
        return window == null ? usage : Math.max(usage, shareInUse(config.windowTokens(), numWindowAvailable()));
    }

    private static double shareInUse(int numTokens, int numAvailable) {
        return (double) (numTokens - numAvailable) / numTokens;
    }

    /** Returns the free tokens. */
    public final int numFree() {
        return pool.size();
    }

    /** Returns the free tokens of the pool for full attention; the same where there is one pool. */
    public int numFullFree() {
        return pool.size();
    }

    public final int numEvictable() {
        return tree.evictable();
    }

    /** Returns the cached tokens that are locked ({@code protected_size}). */
    public final int numProtected() {
        return tree.locked();
    }

    /** Returns the tokens of layers with a window that requests may get; without such layers there is no limit. */
    public int numWindowAvailable() {
        return Integer.MAX_VALUE;
    }

    /** Returns the free tokens of the window's pool. */
    public int numWindowFree() {
        return 0;
    }

    /** Returns the cached tokens of the window's pool that may be evicted. */
    public int numWindowEvictable() {
        return 0;
    }

    /** Returns the cached tokens of the window's pool that are locked. */
    public int numWindowProtected() {
        return 0;
    }

    /** Returns how many pages of the window's pool are not where they belong. */
    int numBadWindowPages() {
        return 0;
    }

    /** Returns the free pages of the window's pool, next to be given out first. */
    public int[] windowFreeOrder() {
        return new int[0];
    }

    /** Returns who has left the window since the last call: handle, from which token, to which; in threes. */
    public IntList takeWindowed() {
        return IntList.of();
    }

    /** Says which turn of the scheduler this is: copies to and from the host last a number of turns. */
    public void setTurn(long turn) {}

    /** Says how late it is, where copies last as long as their bytes take. */
    public void setNow(long nowNanos) {}

    /** Acknowledges all copies at once, where they last as long as their bytes take. */
    public void finishCopies() {}

    /** Begins to fetch the KV of a request that has come from the storage behind the host, if there is one. */
    public void beginFetch(RadixLookup lookup, long requestId, int numTokens) {}

    /** Ends the fetch for a request, if it may end; returns whether the request has none any more. */
    public boolean endFetch(int handle) {
        return true;
    }

    /** Drops the fetch for a request that will not be prefilled. */
    public void dropFetch(int handle) {}

    /** Returns the storage behind the host, or null if there is none. */
    @Nullable HostStorage storage() {
        return null;
    }

    /** Returns the nodes that are locked by a copy to or from the host. */
    List<RadixNode> lockedByCopies() {
        return List.of();
    }

    /** Returns whether a copy to or from the host is not acknowledged yet, or has not begun. */
    public boolean hasPendingCopies() {
        return false;
    }

    /** Returns what happened between device and host since the last call, or null if there are no copies on the host. */
    public @Nullable HostActivity takeHostActivity() {
        return null;
    }

    /** Returns the free pages of the host's pool, next to be given out first. */
    public int[] hostFreeOrder() {
        return new int[0];
    }

    /** Returns the pages that have become findable since the start. */
    public final long numStored() {
        return tree.numStored;
    }

    /** Returns the pages that have ceased to be findable since the start. */
    public final long numRemoved() {
        return tree.numRemoved;
    }

    /** Returns how large the tree is. */
    public final TreeSize treeSize() {
        return tree.size();
    }

    /** Returns what has been counted since the start that only SGLang has; nothing without a tree. */
    List<OwnFigure> ownFigures() {
        if (!isCaching) {
            return List.of();
        }
        var largest = tree.largestSize();
        return List.of(
                OwnFigure.largest("largest_tree_nodes", "Most nodes of a radix tree", largest.numNodes()),
                OwnFigure.largest("largest_tree_tokens", "Most tokens of a radix tree", largest.numTokens()),
                OwnFigure.tokens("evicted_tokens", "Evicted from the tree", tree.numRemoved * pageSize));
    }

    /** Returns how full the memories behind the device are. */
    List<OwnFigure> levels() {
        return List.of();
    }

    /** Returns the lookups of admitted requests since the start. */
    public final PrefixCacheStats stats() {
        return stats;
    }

    /**
     * Counts the lookup of a request that was admitted.
     *
     * @param isAgain whether it has lost its places before
     */
    public final void count(boolean isAgain, int numTokens, int numFound) {
        if (isCaching) {
            stats = stats.plus(isAgain, numTokens, numFound);
        }
    }

    /** Hands words on to those who move KV; see {@link #takePushWords}. */
    public final void say(List<PushWord> words) {
        pushWords = words;
    }

    /** Returns the words of the last question that had any, if it was put since the last call. */
    final List<PushWord> takePushWords() {
        var taken = pushWords;
        pushWords = List.of();
        return taken;
    }

    final RadixTree tree() {
        return tree;
    }

    final PagePool pool() {
        return pool;
    }

    final int pageSize() {
        return pageSize;
    }

    final int ceil(int tokens) {
        return (tokens + pageSize - 1) / pageSize * pageSize;
    }

    /** Returns the pages that hold so many tokens. */
    final int numPages(int tokens) {
        return (tokens + pageSize - 1) / pageSize;
    }

    /** Makes room for so many tokens by eviction, as far as can be ({@code evict_from_tree_cache}). */
    public void makeRoom(int numTokens) {
        if (pool.size() < numTokens && isCaching) {
            tree.evict(numTokens);
        }
    }

    /** Returns the sequence of a request that has one. */
    public final RadixSequence sequence(int handle) {
        var sequence = find(handle);
        if (sequence == null) {
            throw new IllegalArgumentException("no request has the handle " + handle);
        }
        return sequence;
    }

    final @Nullable RadixSequence find(int handle) {
        return handle < sequences.size() ? sequences.get(handle) : null;
    }

    /** Begins the sequence of a request that holds nothing yet. */
    // Another request may have had the handle before, with an equal lookup.
    @SuppressWarnings("ReferenceEquality")
    public final RadixSequence open(RadixLookup lookup) {
        while (sequences.size() <= lookup.handle()) {
            sequences.add(null);
        }
        var before = find(lookup.handle());
        var sequence = new RadixSequence(lookup, tree.root);
        sequence.isAbandoned = before != null && before.lookup == lookup && before.isAbandoned;
        sequences.set(lookup.handle(), sequence);
        return sequence;
    }

    /** Finds the prefix of a request's first tokens, and returns its length with what is on the host. */
    public final int match(RadixSequence sequence, int numTokens) {
        sequence.numPrefixTokens = 0;
        sequence.hostHit = 0;
        if (isCaching) {
            tree.match(sequence.lookup.tokens(), sequence.lookup.extraKey(), Math.max(numTokens, 0));
            sequence.node = tree.matched;
            sequence.numPrefixTokens = tree.matchedLength;
            onMatched(sequence);
        }
        sequence.numProtected = sequence.numPrefixTokens;
        return sequence.numPrefixTokens + sequence.hostHit;
    }

    void onMatched(RadixSequence sequence) {}

    /** Locks the matched node for the time of a trial. */
    public final void hold(RadixSequence sequence) {
        sequence.held = sequence.node;
        sequence.heldMark = lock(sequence.node);
    }

    /** Ends such a lock. */
    public final void letGo(RadixSequence sequence) {
        unlock(Objects.requireNonNull(sequence.held), sequence.heldMark);
        sequence.held = null;
    }

    int lock(RadixNode node) {
        tree.lock(node);
        return 0;
    }

    void unlock(RadixNode node, int mark) {
        tree.unlock(node);
    }

    /** Brings what a trial has found on the host back to the device, if it can; the prefix is longer then. */
    public void loadBack(RadixSequence sequence) {}

    /** Begins the copies of what was brought back, as one, and returns how long it lasts if no other ones are begun. */
    public long startLoading() {
        return 0;
    }

    /** Returns how long the scheduler has waited for copies to the host since the last call. */
    public long takeWaitNanos() {
        return 0;
    }

    /** Returns how many pages of the host's memory are lost or there twice; none without one. */
    int numBadHostPages() {
        return 0;
    }

    /** Admits a request with its prefix: it locks its node from now on, and its table has the prefix. */
    public final void admit(RadixSequence sequence, int end) {
        sequence.end = end;
        sequence.isAdmitted = true;
        if (!isCaching) {
            return;
        }
        sequence.windowMark = lock(sequence.node);
        sequence.leaveToTree(numPages(sequence.numPrefixTokens));
        sequence.numPlaces = sequence.numPrefixTokens;
    }

    /** Sets up to which token the next batch computes a request whose prefill goes on. */
    public final void setEnd(RadixSequence sequence, int end) {
        sequence.end = end;
    }

    /**
     * Gives each request of a prefill batch its places ({@code alloc_for_extend}).
     *
     * @throws KvOutOfMemoryException if there are too few: admission does not look where a prefill goes on
     */
    public final void extend(ObjectArrayList<RadixSequence> batch) {
        int numTokens = 0;
        int numNewPages = 0;
        for (int i = 0; i < batch.size(); i++) {
            var sequence = batch.get(i);
            numTokens += sequence.end - sequence.numPrefixTokens;
            numNewPages += Math.max(0, numPages(sequence.end) - sequence.numPages());
        }
        makeRoom(numTokens + (pageSize == 1 ? 0 : pageSize * batch.size()));
        requireFree(numNewPages, "Prefill", numTokens);
        pool.ready(pageSize == 1 ? numTokens : numTokens / pageSize + batch.size() + 1);
        for (int i = 0; i < batch.size(); i++) {
            var sequence = batch.get(i);
            grow(sequence, sequence.end);
            sequence.numCommitted = sequence.end;
        }
    }

    /** Gives a request the places of its first tokens, whose KV comes from elsewhere ({@code disaggregation/decode.py}). */
    public final void allocate(RadixLookup lookup, int numTokens) {
        var sequence = open(lookup);
        sequence.isAdmitted = true;
        pool.ready(pageSize == 1 ? numTokens : numTokens / pageSize + 2);
        grow(sequence, numTokens);
        sequence.end = numTokens;
        sequence.numCommitted = numTokens;
    }

    /** Takes pages from the front until so many tokens have a place. */
    void grow(RadixSequence sequence, int numTokens) {
        sequence.takePages(pool, numPages(numTokens));
        sequence.numPlaces = numTokens;
    }

    /** Makes room for one more step of running requests, and returns whether there is any. */
    public final boolean fits(int[] handles, int count) {
        int need = 0;
        for (int i = 0; i < count; i++) {
            var sequence = sequence(handles[i]);
            if (config.eagleReserve() > 0) {
                need += ceil(Math.max(sequence.numPlaces, sequence.numCommitted + config.eagleReserve()))
                        - ceil(sequence.numPlaces);
            } else if (sequence.numCommitted % pageSize == 0) {
                need += pageSize;
            }
        }
        makeRoom(need);
        return pool.size() >= need;
    }

    private void requireFree(int numNewPages, String mode, int numTokens) {
        if (numNewPages * pageSize > pool.size()) {
            throw new KvOutOfMemoryException((pageSize == 1 ? "Out" : mode + " out")
                    + " of memory. Try to lower your batch size. Try to allocate "
                    + numTokens + " tokens. Available tokens: " + numAvailable() + " (available_size="
                    + numFree() + " + evictable_size=" + numEvictable() + ")");
        }
    }

    /**
     * Gives each running request the places of its next step ({@code alloc_for_decode}).
     *
     * @throws KvOutOfMemoryException if there are too few: a mixed batch does not ask before
     */
    public final void decode(int[] handles, int count) {
        if (config.eagleReserve() > 0) {
            reserveDrafts(handles, count);
            return;
        }
        makeRoom(count * pageSize);
        int numNewPages = 0;
        for (int i = 0; i < count; i++) {
            var sequence = sequence(handles[i]);
            numNewPages += Math.max(0, numPages(sequence.numCommitted + 1) - sequence.numPages());
        }
        requireFree(numNewPages, "Decode", count);
        pool.ready(count);
        for (int i = 0; i < count; i++) {
            var sequence = sequence(handles[i]);
            sequence.numDecodes++;
            grow(sequence, ++sequence.numCommitted);
        }
    }

    /** The same with drafts ({@code speculative/eagle_info_v2.py}): up to whole pages beyond what is committed. */
    private void reserveDrafts(int[] handles, int count) {
        int need = 0;
        for (int i = 0; i < count; i++) {
            var sequence = sequence(handles[i]);
            need += draftEnd(sequence) - sequence.numPlaces;
        }
        if (need == 0) {
            return;
        }
        makeRoom(pageSize == 1 ? need : need + pageSize * count);
        for (int i = 0; i < count; i++) {
            var sequence = sequence(handles[i]);
            grow(sequence, draftEnd(sequence));
        }
    }

    private int draftEnd(RadixSequence sequence) {
        return Math.max(sequence.numPlaces, ceil(sequence.numCommitted + config.eagleReserve()));
    }

    /** Frees the places of running requests that have left the window; there are none without one. */
    public void leaveWindow(int handle, int numTokens) {}

    /** Acknowledges copies to the host that are done. */
    public void acknowledgeWrites() {}

    /** Acknowledges copies from the host that are done. */
    public void acknowledgeLoads() {}

    /**
     * Retracts a request: its places are freed without being cached, and room is made for those that are left ({@code
     * release_req}).
     */
    public final void retract(int handle, int numLeft) {
        var sequence = sequence(handle);
        release(handle, false);
        if (sequence.isAbandoned) {
            open(sequence.lookup).isAbandoned = true;
        }
        makeRoom(numLeft * RETRACT_DECODE_STEPS);
    }

    /** Counts accepted tokens as computed. */
    public final void commit(int handle, int numTokens) {
        sequence(handle).numCommitted += numTokens;
    }

    /** Collects what is freed until {@link #endGroup}. */
    public final void beginGroup() {
        pool.beginGroup();
    }

    /** Frees together what was collected. */
    public final void endGroup() {
        pool.endGroup();
    }

    /** Caches what is computed of a request that goes on ({@code cache_unfinished_req}). */
    public final void cacheUnfinished(int handle, boolean isChunked) {
        var sequence = sequence(handle);
        if (!isCaching) {
            if (config.chunksPrefill()) {
                sequence.numPrefixTokens = sequence.end;
            }
            return;
        }
        var lookup = sequence.lookup;
        insert(sequence, sequence.end, isChunked);
        int length = tree.keyLength(sequence.end);
        tree.match(lookup.tokens(), lookup.extraKey(), length + tree.numExtraTokens());
        var node = tree.matched;
        int numMatched = tree.matchedLength;
        sequence.leaveToTree(numMatched / pageSize);
        sequence.numProtected = numMatched;
        unlock(sequence.node, sequence.windowMark);
        sequence.windowMark = lock(node);
        sequence.node = node;
        sequence.numPrefixTokens = sequence.end;
    }

    /** Inserts the first tokens of a sequence, and frees its pages of what was there already. */
    void insert(RadixSequence sequence, int numTokens, boolean isChunked) {
        if (tree.events != null) {
            tree.events.begin(sequence.lookup);
        }
        int known = tree.insert(sequence, numTokens, isChunked);
        sequence.free(pool, sequence.numProtected / pageSize, known / pageSize);
    }

    /** Releases a request ({@code release_kv_cache}), which has no sequence any more; unknown ones are fine. */
    public final void release(int handle, boolean isCached) {
        var sequence = find(handle);
        if (sequence == null) {
            return;
        }
        int numCommitted = sequence.numCommitted;
        if (isCaching) {
            if (isCached) {
                insert(sequence, numCommitted, false);
            }
            freeUncached(sequence, isCached);
            unlock(sequence.node, sequence.windowMark);
        } else {
            sequence.free(pool, sequence.numProtected / pageSize, numPages(numCommitted));
        }
        sequence.free(pool, numPages(numCommitted), sequence.numPages());
        sequences.set(handle, null);
    }

    void freeUncached(RadixSequence sequence, boolean isCached) {
        int length = tree.keyLength(sequence.numCommitted) / pageSize;
        if (!isCached) {
            sequence.free(pool, sequence.numProtected / pageSize, length);
        }
        sequence.free(pool, length, Math.min(numPages(sequence.numCommitted), sequence.numPages()));
    }

    /**
     * Ends a request before its time: one that was only tried is forgotten, another one is released when the scheduler
     * says so.
     */
    final void abandon(int handle) {
        var sequence = find(handle);
        if (sequence != null && sequence.isAdmitted) {
            sequence.isAbandoned = true;
        } else if (sequence != null) {
            sequences.set(handle, null);
        }
    }

    /** Returns whether any request holds pages. */
    final boolean isHeld() {
        return sequences.stream().anyMatch(sequence -> sequence != null && sequence.isAdmitted);
    }

    /** Returns the sequences of requests by handle; null for those that are not here. */
    final ObjectArrayList<@Nullable RadixSequence> sequences() {
        return sequences;
    }

    /** Returns the pages of a request, in order; none if it holds nothing. */
    public final int[] table(int handle) {
        var sequence = find(handle);
        return sequence == null ? new int[0] : sequence.pages();
    }

    /** Returns the pages of the window's pool that belong to pages of the full one, 0 for those that are gone. */
    public IntList windowPages(IntList pages) {
        return IntList.of();
    }

    /** Returns the tokens of a request that are committed. */
    public final int numCommitted(int handle) {
        return sequence(handle).numCommitted;
    }

    /** Returns the tokens of a request that have a place. */
    public final int numPlaces(int handle) {
        return sequence(handle).numPlaces;
    }

    /** Returns the nodes of the tree without its root, parents before their children. */
    public final List<RadixNodeState> nodes() {
        return tree.states();
    }

    /** Returns the free pages, next to be given out first. */
    public final int[] freeOrder() {
        return pool.order().toArray();
    }

    /** Adds the free pages to those that were seen, and returns how many were seen before or do not exist. */
    final int addFreeTo(BitSet seen, int numPages) {
        return pool.addTo(seen, numPages);
    }

    /** Returns the pages that are freed and not sorted yet. */
    public final int[] releaseOrder() {
        return pool.releaseOrder();
    }
}

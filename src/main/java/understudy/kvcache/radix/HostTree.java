package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.radix.RadixConfig.WritePolicy;
import understudy.prompt.TokenSource;

/**
 * Radix tree over device and host (SGLang {@code mem_cache/hiradix_cache.py}). A node has its KV on the device, on the
 * host, or on both; below one that is not on the device there is none that is.
 *
 * <p>In a run a copy is done when its bytes are through a {@link HostLink}, and a write-back holds the scheduler up until
 * then; in a recording it is done after so many turns.
 */
final class HostTree extends RadixTree {
    /** Shorter runs are not loaded ({@code load_back_threshold}). */
    private static final int LOAD_BACK_THRESHOLD = 10;

    /** Tokens behind the matched node that are on the host, and the last node that has some. */
    int hostHit;

    RadixNode best;

    private final PageList hostFree;
    private final int hostSize;
    private final RadixConfig.Hierarchy config;
    private final boolean writesBack;
    private final int writeThreshold;
    private final ArrayDeque<Write> writing = new ArrayDeque<>();
    private final ArrayDeque<Load> loading = new ArrayDeque<>();
    private ObjectArrayList<RadixNode> loads = new ObjectArrayList<>();
    private int numTokensToLoad;

    /** Link in a run; null if time is counted in turns. */
    private final @Nullable HostLink link;

    /** Storage behind the host, or null if there is none. */
    final @Nullable HostStorage storage;

    private long turn;
    private long waitNanos;

    private final IntArrayList backups = new IntArrayList();
    private final IntArrayList evictions = new IntArrayList();
    private final IntArrayList loadBacks = new IntArrayList();
    private final IntArrayList refusedLoads = new IntArrayList();
    private int numRefusedBackups;
    private int numAcknowledgedWrites;
    private int numAcknowledgedLoads;
    private int numHostStored;
    private int numHostRemoved;

    private long numWrittenTokens;
    private long numLoadedTokens;
    private long numHostEvictedTokens;

    /** Copy to the host. */
    private record Write(long copy, RadixNode node, int numPages, LongList blockHashes) {}

    /** Copies from the host that were begun together. */
    private record Load(long copy, ObjectArrayList<RadixNode> nodes) {}

    /** Node that is copied and leaves the device. */
    private record Staged(RadixNode node, PageSpan pages) {}

    /** Pages of a node. */
    private static final class PageSpan {
        private final int[] pages;

        private PageSpan(int[] pages) {
            this.pages = pages;
        }
    }

    HostTree(RadixConfig config, RadixConfig.Hierarchy hierarchy, PagePool pool) {
        super(config.pageSize(), pool, config.evictionPolicy(), config.eagleReserve() > 0);
        this.config = hierarchy;
        link = hierarchy.link() == null ? null : new HostLink(hierarchy.link());
        int numPages = hierarchy.hostTokens() / pageSize + 1;
        hostFree = new PageList(0, numPages);
        hostSize = numPages * pageSize;
        var behind = hierarchy.storage();
        storage = behind == null ? null : new HostStorage(behind, pageSize, hostSize, this);
        writesBack = hierarchy.writePolicy() == WritePolicy.WRITE_BACK;
        writeThreshold = hierarchy.writePolicy() == WritePolicy.WRITE_THROUGH ? 1 : 2;
        best = root;
    }

    void setTurn(long newTurn) {
        turn = newTurn;
    }

    /** Says how late it is, unless time is counted in turns. */
    void setNow(long nowNanos) {
        if (link != null) {
            link.advance(nowNanos);
        }
        if (storage != null) {
            storage.setNow(nowNanos);
        }
    }

    /** Begins a copy, and returns its number on the link, or the turn after which it is done. */
    private long begin(HostLink.Way way, int numTokens, int numTurns) {
        return link == null ? turn + numTurns : link.begin(way, numTokens);
    }

    private boolean isDone(HostLink.Way way, long copy) {
        return link == null ? copy <= turn : link.isDone(way, copy);
    }

    /** Returns how long the scheduler has waited for copies since the last call. */
    long takeWaitNanos() {
        long taken = waitNanos;
        waitNanos = 0;
        return taken;
    }

    /**
     * Acknowledges all copies at once, though their bytes may still be on the way; not if time is counted in turns.
     */
    void finishCopies() {
        if (link != null) {
            startLoading();
            while (!writing.isEmpty()) {
                unlock(acknowledge(writing.removeFirst()));
            }
            while (!loading.isEmpty()) {
                acknowledge(loading.removeFirst());
            }
        }
    }

    /** Returns the nodes that are locked by a copy which is not acknowledged. */
    List<RadixNode> lockedByCopies() {
        var nodes = new ObjectArrayList<>(loads);
        loading.forEach(load -> nodes.addAll(load.nodes()));
        if (!writesBack) {
            writing.forEach(write -> nodes.add(write.node()));
        }
        return nodes;
    }

    boolean hasPendingCopies() {
        return !writing.isEmpty() || !loads.isEmpty() || !loading.isEmpty() || (storage != null && storage.isBusy());
    }

    /** Returns the tokens whose copies to the host were begun since the start. */
    long numWrittenTokens() {
        return numWrittenTokens;
    }

    /** Returns the tokens that were brought back since the start. */
    long numLoadedTokens() {
        return numLoadedTokens;
    }

    /** Returns the tokens that made way for others on the host since the start. */
    long numHostEvictedTokens() {
        return numHostEvictedTokens;
    }

    int[] hostFreeOrder() {
        return hostFree.toArray();
    }

    @Override
    void match(TokenSource tokens, String extraKey, int numTokens) {
        matched = root;
        matchedLength = 0;
        hostHit = 0;
        best = root;
        int length = keyLength(numTokens);
        if (length == 0) {
            return;
        }
        var node = root;
        int at = 0;
        while (at < length) {
            var child = child(node, tokens, extraKey, at);
            if (child == null) {
                break;
            }
            child.access = tick();
            int common = common(child, tokens, at, length - at);
            boolean isWhole = common == child.length;
            node = isWhole ? child : split(child, common);
            at += common;
            if (!isWhole) {
                break;
            }
        }
        best = node;
        while (!node.isOnDevice()) {
            hostHit += node.length;
            node = Objects.requireNonNull(node.parent);
        }
        matched = node;
        matchedLength = at - hostHit;
    }

    /** Inserts; a node that was on the host alone takes the sequence's pages, and does not count as there. */
    @Override
    int insert(RadixSequence sequence, int numTokens, boolean isChunked) {
        var lookup = sequence.lookup;
        int length = keyLength(numTokens);
        var node = root;
        int at = 0;
        int known = 0;
        while (at < length) {
            var child = child(node, lookup.tokens(), lookup.extraKey(), at);
            if (child == null) {
                break;
            }
            child.access = tick();
            child.priority = Math.max(child.priority, lookup.priority());
            int common = common(child, lookup.tokens(), at, length - at);
            node = common == child.length ? child : split(child, common);
            if (node.isOnDevice()) {
                countHit(node, isChunked);
                known += common;
            } else {
                addEvictable(common);
                setPages(node, sequence.ownPages(at / pageSize, (at + common) / pageSize));
            }
            at += common;
        }
        if (at < length) {
            var leaf = addLeaf(node, sequence, at, length);
            if (storage != null) {
                leaf.pageHashes = pageHashes(node, lookup.tokens(), lookup.extraKey(), at, length);
            }
            countHit(leaf, isChunked);
        }
        return known;
    }

    /** Returns the hashes of pages behind a node, each of which stands for all that is before it, too. */
    long[] pageHashes(RadixNode last, TokenSource tokens, String extraKey, int from, int to) {
        var hashes = new long[(to - from) / pageSize];
        var page = new int[pageSize];
        long hash = last == root ? hash(extraKey) : last.pageHashes[last.pageHashes.length - 1];
        for (int i = 0; i < hashes.length; i++) {
            tokens.copy(from + i * pageSize, pageSize, page, 0);
            for (int token : page) {
                hash = HashCommon.murmurHash3(hash + token);
            }
            hashes[i] = hash;
        }
        return hashes;
    }

    private static long hash(String extraKey) {
        long hash = 1;
        for (int i = 0; i < extraKey.length(); i++) {
            hash = HashCommon.murmurHash3(hash + extraKey.charAt(i));
        }
        return hash;
    }

    /**
     * Inserts tokens whose KV has come from the storage to places on the host ({@code _insert_helper_host}); the places of
     * those that are there already are free again. With write_through a node that has no copy is not followed by one that
     * has: SGLang would lose that one's places with it.
     *
     * @param last node behind which they follow
     * @param pages of the host, from the first of them on
     * @param hashes of these pages
     * @return how many are new
     */
    int insertFetched(RadixNode last, RadixLookup lookup, int from, int to, int[] pages, long[] hashes) {
        var node = last;
        node.access = tick();
        int at = from;
        while (at < to) {
            var child = child(node, lookup.tokens(), lookup.extraKey(), at);
            if (child == null) {
                break;
            }
            child.access = tick();
            int common = common(child, lookup.tokens(), at, to - at);
            node = common == child.length ? child : split(child, common);
            at += common;
        }
        int numPages = (to - from) / pageSize;
        boolean mayFollow = writesBack || node == root || node.hostPages != null;
        int numKnown = mayFollow ? (at - from) / pageSize : numPages;
        freeHostPages(pages, 0, numKnown);
        if (numKnown == numPages) {
            return 0;
        }
        var leaf = newNode(lookup.extraKey(), node.priority);
        leaf.tokens = lookup.tokens();
        leaf.from = at;
        leaf.length = to - at;
        leaf.pages = null;
        leaf.hostPages = Arrays.copyOfRange(pages, numKnown, numPages);
        leaf.pageHashes = Arrays.copyOfRange(hashes, numKnown, numPages);
        leaf.keyHash = keyHash(node, leaf.tokens, leaf.extraKey, at);
        append(node, leaf);
        refresh(node);
        numHostStored += numPages - numKnown;
        if (events != null) {
            events.onFetched(leaf, lookup);
        }
        return to - at;
    }

    /** Takes places on the host, for which others make way; null if there are too few. */
    int @Nullable [] takeHostPages(int numPages) {
        if (numPages > hostFree.size()) {
            evictHost(numPages * pageSize);
        }
        if (numPages > hostFree.size()) {
            return null;
        }
        var taken = new int[numPages];
        for (int i = 0; i < numPages; i++) {
            taken[i] = hostFree.removeFirst();
        }
        return taken;
    }

    void freeHostPages(int[] pages, int from, int to) {
        hostFree.addLast(pages, from, to);
    }

    private void setPages(RadixNode node, int @Nullable [] pages) {
        var parent = Objects.requireNonNull(node.parent);
        parent.numDeviceChildren += (pages == null ? 0 : 1) - (node.isOnDevice() ? 1 : 0);
        node.pages = pages;
        refresh(node);
        refresh(parent);
    }

    @Override
    RadixNode split(RadixNode lower, int length) {
        var upper = super.split(lower, length);
        upper.hostPages = head(lower.hostPages, length);
        lower.hostPages = tail(lower.hostPages, length);
        if (storage != null) {
            upper.pageHashes = Arrays.copyOf(lower.pageHashes, length / pageSize);
            lower.pageHashes = Arrays.copyOfRange(lower.pageHashes, length / pageSize, lower.pageHashes.length);
        }
        return upper;
    }

    @Override
    boolean isEvictable(RadixNode node) {
        return node.isOnDevice() && node.locks == 0 && node.numDeviceChildren == 0;
    }

    private void countHit(RadixNode node, boolean isChunked) {
        if (writesBack || isChunked) {
            return;
        }
        node.hits++;
        if (node.hostPages == null && node.hits >= writeThreshold) {
            backUp(node);
        }
    }

    /** Begins to copy a node to the host, and returns whether it does ({@code write_backup}). */
    private boolean backUp(RadixNode node) {
        var parent = Objects.requireNonNull(node.parent);
        int numPages = node.length / pageSize;
        boolean mayBe = writesBack || parent == root || parent.hostPages != null;
        var copy = mayBe ? takeHostPages(numPages) : null;
        if (copy == null) {
            numRefusedBackups++;
            return false;
        }
        node.hostPages = copy;
        writing.add(
                new Write(begin(HostLink.Way.WRITE, node.length, config.writeTurns()), node, numPages, node.blocks));
        backups.add(node.length);
        numWrittenTokens += node.length;
        if (!writesBack) {
            lock(node);
        }
        return true;
    }

    void acknowledgeWrites() {
        while (!writing.isEmpty()
                && isDone(HostLink.Way.WRITE, writing.getFirst().copy())) {
            unlock(acknowledge(writing.removeFirst()));
        }
    }

    private RadixNode acknowledge(Write write) {
        numHostStored += write.numPages();
        if (events != null) {
            events.onHostStored(write.blockHashes());
        }
        numAcknowledgedWrites++;
        if (storage != null) {
            // Of a node that was split meanwhile only the lower part is written, as in SGLang.
            storage.backUp(write.node());
        }
        return write.node();
    }

    void acknowledgeLoads() {
        while (!loading.isEmpty()
                && isDone(HostLink.Way.LOAD, loading.getFirst().copy())) {
            acknowledge(loading.removeFirst());
        }
    }

    private void acknowledge(Load load) {
        for (var node : load.nodes()) {
            unlock(node);
            numAcknowledgedLoads++;
        }
    }

    /** Evicts whole nodes from the host until so many tokens are free ({@code evict_host}). */
    private void evictHost(int numTokens) {
        var queue = new PriorityQueue<RadixNode>(policy()::compare);
        for (var node : nodes()) {
            if (!node.isOnDevice() && node.locks == 0 && !hasChildOnHost(node)) {
                queue.add(node);
            }
        }
        int done = 0;
        while (done < numTokens && !queue.isEmpty()) {
            var node = queue.remove();
            if (node.isOnDevice() || node.hostUses > 0 || node.storageUses > 0) {
                continue;
            }
            done += node.length;
            freeHost(node);
            remove(node);
            var parent = Objects.requireNonNull(node.parent);
            if (!parent.hasChildren() && !parent.isOnDevice()) {
                queue.add(parent);
            }
        }
        evictions.add(numTokens);
        evictions.add(done);
        numHostEvictedTokens += done;
    }

    private static boolean hasChildOnHost(RadixNode node) {
        for (var child = node.firstChild; child != null; child = child.next) {
            if (child.hostPages != null) {
                return true;
            }
        }
        return false;
    }

    private void freeHost(RadixNode node) {
        var pages = Objects.requireNonNull(node.hostPages);
        numHostRemoved += pages.length;
        if (events != null) {
            events.onHostRemoved(node);
        }
        if (storage == null || !storage.takeOver(node, pages)) {
            freeHostPages(pages, 0, pages.length);
        }
        node.hostPages = null;
    }

    /** Takes a node's places on the device away, and returns them. */
    private int[] demote(RadixNode node) {
        var pages = Objects.requireNonNull(node.pages);
        numRemoved += pages.length;
        if (events != null) {
            events.onRemoved(node);
        }
        addEvictable(-node.length);
        setPages(node, null);
        return pages;
    }

    private void freeDevice(RadixNode node) {
        var pages = demote(node);
        pool().free(pages, 0, pages.length);
    }

    @Override
    void evict(int numTokens) {
        var queue = evictionQueue();
        var staged = new ObjectArrayList<Staged>();
        int done = 0;
        while (done < numTokens && !queue.isEmpty()) {
            var node = queue.dequeue();
            if (node.locks > 0) {
                continue;
            }
            var parent = Objects.requireNonNull(node.parent);
            int count = node.length;
            if (node.hostPages != null) {
                freeDevice(node);
            } else if (!writesBack) {
                freeDevice(node);
                remove(node);
            } else if (backUp(node)) {
                node.hostUses++;
                staged.add(new Staged(node, new PageSpan(demote(node))));
            } else {
                flush(staged);
                count = drop(node);
            }
            done += count;
            if (parent != root && parent.numDeviceChildren == 0) {
                queue.enqueue(parent);
            }
        }
        flush(staged);
    }

    /** Waits for the copies of nodes that leave the device, and frees their places. */
    private void flush(ObjectArrayList<Staged> staged) {
        if (writesBack && link != null) {
            waitNanos += link.await(HostLink.Way.WRITE);
        }
        while (writesBack && !writing.isEmpty()) {
            acknowledge(writing.removeFirst());
        }
        for (var one : staged) {
            pool().free(one.pages().pages, 0, one.pages().pages.length);
            one.node().hostUses--;
        }
        staged.clear();
    }

    /** Drops a node for which there is no room on the host, with all below it; returns the tokens freed on the device. */
    private int drop(RadixNode top) {
        var nodes = new ObjectArrayList<RadixNode>();
        var stack = new ObjectArrayList<RadixNode>();
        stack.push(top);
        while (!stack.isEmpty()) {
            var node = stack.pop();
            if (node.hostUses > 0) {
                return 0;
            }
            nodes.add(node);
            for (var child = node.firstChild; child != null; child = child.next) {
                stack.push(child);
            }
        }
        int freed = 0;
        for (var node : nodes) {
            if (node.hostPages != null) {
                freeHost(node);
            }
            if (node.isOnDevice()) {
                freed += node.length;
                freeDevice(node);
            }
        }
        for (int i = nodes.size() - 1; i >= 0; i--) {
            remove(nodes.get(i));
        }
        return freed;
    }

    /**
     * Brings all nodes from the device's last one to another one back, or none ({@code load_back}).
     *
     * @return how many tokens were brought back
     */
    int loadBack(int handle, RadixNode last, int hit) {
        var todo = new ObjectArrayList<RadixNode>();
        int count = 0;
        var top = last;
        while (!top.isOnDevice()) {
            todo.add(top);
            count += top.length;
            top = Objects.requireNonNull(top.parent);
        }
        int[] pages = count < LOAD_BACK_THRESHOLD ? null : takePages(todo, top, count / pageSize);
        if (pages == null) {
            refusedLoads.add(handle);
            refusedLoads.add(hit);
            return 0;
        }
        int at = 0;
        for (int i = todo.size() - 1; i >= 0; i--) {
            int numPages = todo.get(i).length / pageSize;
            setPages(todo.get(i), Arrays.copyOfRange(pages, at, at + numPages));
            if (events != null) {
                events.onLoaded(todo.get(i));
            }
            at += numPages;
        }
        numStored += at;
        addEvictable(count);
        lock(last);
        loads.add(last);
        numTokensToLoad += count;
        loadBacks.add(handle);
        loadBacks.add(count);
        numLoadedTokens += count;
        return count;
    }

    private int @Nullable [] takePages(ObjectArrayList<RadixNode> todo, RadixNode top, int numPages) {
        lock(top);
        todo.forEach(node -> node.hostUses++);
        var pages = pool().takeAll(numPages);
        if (pages == null) {
            evict(numPages * pageSize);
            pages = pool().takeAll(numPages);
        }
        unlock(top);
        todo.forEach(node -> node.hostUses--);
        return pages;
    }

    /** Begins the copies of what was brought back, as one, and returns how long it lasts; 0 if there is none. */
    long startLoading() {
        if (loads.isEmpty()) {
            return 0;
        }
        loading.add(new Load(begin(HostLink.Way.LOAD, numTokensToLoad, config.loadTurns()), loads));
        loads = new ObjectArrayList<>();
        numTokensToLoad = 0;
        return link == null ? 0 : link.nanosUntilDone(HostLink.Way.LOAD);
    }

    /** Returns how many pages of the host are not either free, a node's, or of the storage's jobs; and nodes in wrong use. */
    int numBadHostPages() {
        var seen = new BitSet();
        var pages = new IntArrayList(hostFree.toArray());
        int numTwice = 0;
        if (storage != null) {
            storage.forEachPage(pages::add);
            for (var node : nodes()) {
                numTwice += node.storageUses == storage.numUses(node) ? 0 : 1;
            }
        }
        for (int i = 0; i < pages.size(); i++) {
            numTwice += seen.get(pages.getInt(i)) ? 1 : 0;
            seen.set(pages.getInt(i));
        }
        for (var node : nodes()) {
            if (node.hostPages == null) {
                continue;
            }
            numTwice += node.hostPages.length * pageSize == node.length ? 0 : 1;
            for (int page : node.hostPages) {
                numTwice += seen.get(page) ? 1 : 0;
                seen.set(page);
            }
        }
        return numTwice + Math.abs(hostSize / pageSize - seen.cardinality());
    }

    int numHostTokens() {
        return hostSize;
    }

    int numFreeHostTokens() {
        return hostFree.size() * pageSize;
    }

    HostActivity takeActivity() {
        int numPendingLoads = loads.size();
        for (var load : loading) {
            numPendingLoads += load.nodes().size();
        }
        int numFree = numFreeHostTokens();
        var activity = HostActivityBuilder.builder()
                .numFree(numFree)
                .numUsed(hostSize - numFree)
                .numPendingWrites(writing.size())
                .numPendingLoads(numPendingLoads)
                .backups(new IntArrayList(backups))
                .numRefusedBackups(numRefusedBackups)
                .evictions(new IntArrayList(evictions))
                .loads(new IntArrayList(loadBacks))
                .refusedLoads(new IntArrayList(refusedLoads))
                .numAcknowledgedWrites(numAcknowledgedWrites)
                .numAcknowledgedLoads(numAcknowledgedLoads)
                .numStored(numHostStored)
                .numRemoved(numHostRemoved)
                .build();
        backups.clear();
        evictions.clear();
        loadBacks.clear();
        refusedLoads.clear();
        numRefusedBackups = 0;
        numAcknowledgedWrites = 0;
        numAcknowledgedLoads = 0;
        numHostStored = 0;
        numHostRemoved = 0;
        return activity;
    }
}

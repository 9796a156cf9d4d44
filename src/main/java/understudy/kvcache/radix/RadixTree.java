package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import it.unimi.dsi.fastutil.objects.ObjectHeapPriorityQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.prompt.CommonTokens;
import understudy.prompt.TokenSource;

/**
 * Radix tree of cached prefixes (SGLang {@code mem_cache/radix_cache.py}). All matching is in whole pages. With a draft
 * model a key is made of pairs of tokens that follow each other ({@code is_eagle}), so that n tokens have n - 1 keys.
 *
 * <p>Children are found by a hash of their first page in one table for the whole tree, and keep the order in which they
 * came, since {@code dfs-weight} reads it.
 */
class RadixTree {
    /** Priority that is lower than each of a request. */
    private static final long ROOT_PRIORITY = Long.MIN_VALUE;

    final int pageSize;
    final RadixNode root;

    /** The node at which the last match ended, and how many tokens it has found on the device. */
    RadixNode matched;

    int matchedLength;

    long numStored;
    long numRemoved;
    /** Log of the changes, or null if they are not recorded. */
    @Nullable BlockEvents events;

    private final @Nullable PagePool pool;
    private final RadixEvictionPolicy policy;
    private final boolean keysArePairs;
    private final ObjectArrayList<RadixNode> leaves = new ObjectArrayList<>();
    private final int[] firstPage;
    private @Nullable RadixNode[] buckets = new @Nullable RadixNode[64];
    private int numNodes;
    private int numIds;
    private int evictable;
    private int locked;
    private int mostNodes;
    private int mostTokens;
    private long clock;

    /**
     * Creates a tree without nodes but the root.
     *
     * @param pool pool that gets the pages of evicted nodes; null for a tree of tokens alone
     */
    RadixTree(int pageSize, @Nullable PagePool pool, RadixEvictionPolicy policy, boolean keysArePairs) {
        this.pageSize = pageSize;
        this.pool = pool;
        this.policy = policy;
        this.keysArePairs = keysArePairs;
        firstPage = new int[pageSize + (keysArePairs ? 1 : 0)];
        root = newNode("", ROOT_PRIORITY);
        matched = root;
    }

    /** Returns a number that is larger than those of all nodes. */
    final int numIds() {
        return numIds;
    }

    final int evictable() {
        return evictable;
    }

    /** Returns the tokens that are locked (SGLang {@code protected_size}). */
    final int locked() {
        return locked;
    }

    final void addEvictable(int tokens) {
        evictable += tokens;
        mostTokens = Math.max(mostTokens, evictable + locked);
    }

    final TreeSize size() {
        return new TreeSize(numNodes, evictable + locked);
    }

    /** Returns the most nodes, and the most tokens, that there were at a time. */
    final TreeSize largestSize() {
        return new TreeSize(mostNodes, mostTokens);
    }

    final PagePool pool() {
        return Objects.requireNonNull(pool);
    }

    final RadixEvictionPolicy policy() {
        return policy;
    }

    /** Returns the next time. */
    final long tick() {
        return ++clock;
    }

    /** Returns the tokens in whole pages of keys that so many tokens have. */
    final int keyLength(int numTokens) {
        int keys = keysArePairs ? Math.max(0, numTokens - 1) : numTokens;
        return keys / pageSize * pageSize;
    }

    /** Returns how many tokens the keys of so many need more. */
    final int numExtraTokens() {
        return keysArePairs ? 1 : 0;
    }

    final RadixNode newNode(String extraKey, long priority) {
        var node = new RadixNode(numIds++, extraKey);
        node.priority = priority;
        node.access = tick();
        node.created = tick();
        return node;
    }

    /** Finds the longest prefix, and leaves it in {@link #matched} and {@link #matchedLength}. */
    void match(TokenSource tokens, String extraKey, int numTokens) {
        matched = root;
        matchedLength = 0;
        int length = keyLength(numTokens);
        if (length == 0) {
            return;
        }
        long now = tick();
        int at = 0;
        while (at < length) {
            var child = child(matched, tokens, extraKey, at);
            if (child == null) {
                break;
            }
            child.access = now;
            int common = common(child, tokens, at, length - at);
            boolean isWhole = common == child.length;
            matched = isWhole ? child : split(child, common);
            at += common;
            if (!isWhole) {
                break;
            }
        }
        matchedLength = at;
    }

    /** Inserts the first tokens of a sequence, and returns how many were there already. */
    int insert(RadixSequence sequence, int numTokens, boolean isChunked) {
        var lookup = sequence.lookup;
        int length = keyLength(numTokens);
        var node = root;
        int at = 0;
        long now = tick();
        while (at < length) {
            var child = child(node, lookup.tokens(), lookup.extraKey(), at);
            if (child == null) {
                break;
            }
            child.access = now;
            int common = common(child, lookup.tokens(), at, length - at);
            node = common == child.length ? child : split(child, common);
            node.priority = Math.max(node.priority, lookup.priority());
            node.hits += isChunked ? 0 : 1;
            at += common;
        }
        if (at < length) {
            var leaf = addLeaf(node, sequence, at, length);
            leaf.hits = isChunked ? 0 : 1;
        }
        return at;
    }

    final RadixNode addLeaf(RadixNode parent, RadixSequence sequence, int from, int to) {
        var lookup = sequence.lookup;
        var leaf = newNode(lookup.extraKey(), lookup.priority());
        leaf.tokens = lookup.tokens();
        leaf.from = from;
        leaf.length = to - from;
        if (pool != null) {
            leaf.pages = sequence.ownPages(from / pageSize, to / pageSize);
        }
        leaf.keyHash = keyHash(parent, leaf.tokens, leaf.extraKey, from);
        append(parent, leaf);
        addEvictable(leaf.length);
        numStored += leaf.length / pageSize;
        if (events != null) {
            events.onStored(leaf);
        }
        refresh(leaf);
        refresh(parent);
        return leaf;
    }

    /** Splits a node behind so many tokens, and returns the upper part. */
    RadixNode split(RadixNode lower, int length) {
        var upper = newNode(lower.extraKey, lower.priority);
        upper.hits = lower.hits;
        upper.locks = lower.locks;
        upper.tokens = lower.tokens;
        upper.from = lower.from;
        upper.length = length;
        upper.pages = head(lower.pages, length);
        lower.pages = tail(lower.pages, length);
        replace(lower, upper);
        lower.from += length;
        lower.length -= length;
        lower.keyHash = keyHash(upper, lower.tokens, lower.extraKey, lower.from);
        append(upper, lower);
        refresh(upper);
        if (events != null) {
            events.onSplit(upper, lower);
        }
        return upper;
    }

    final int @Nullable [] head(int @Nullable [] pages, int length) {
        return pages == null || pages.length == 0 ? pages : Arrays.copyOf(pages, length / pageSize);
    }

    final int @Nullable [] tail(int @Nullable [] pages, int length) {
        return pages == null || pages.length == 0 ? pages : Arrays.copyOfRange(pages, length / pageSize, pages.length);
    }

    /** Locks a node and all above it. */
    final void lock(RadixNode from) {
        for (var node = from; node.parent != null; node = node.parent) {
            if (node.locks++ == 0) {
                evictable -= node.length;
                locked += node.length;
                refresh(node);
            }
        }
    }

    /** Takes such a lock away. */
    final void unlock(RadixNode from) {
        for (var node = from; node.parent != null; node = node.parent) {
            if (node.locks-- == 1) {
                evictable += node.length;
                locked -= node.length;
                refresh(node);
            }
        }
    }

    /** Evicts leaves until at least {@code numTokens} are free, or nothing is left. */
    void evict(int numTokens) {
        var queue = evictionQueue();
        int done = 0;
        while (done < numTokens && !queue.isEmpty()) {
            var node = queue.dequeue();
            var parent = Objects.requireNonNull(node.parent);
            var pages = Objects.requireNonNull(node.pages);
            pool().free(pages, 0, pages.length);
            done += node.length;
            evictable -= node.length;
            numRemoved += node.length / pageSize;
            if (events != null) {
                events.onRemoved(node);
            }
            remove(node);
            if (parent.leafIndex >= 0) {
                queue.enqueue(parent);
            }
        }
    }

    /** Returns whether a node, which is not the root, may be evicted as it is now. */
    boolean isEvictable(RadixNode node) {
        return node.locks == 0 && node.firstChild == null;
    }

    /** Puts a node among the leaves that may be evicted, or takes it away. */
    final void refresh(RadixNode node) {
        boolean belongs = !node.isRemoved && node.parent != null && isEvictable(node);
        if (belongs == node.leafIndex >= 0) {
            return;
        }
        if (belongs) {
            node.leafIndex = leaves.size();
            leaves.add(node);
        } else {
            var last = leaves.pop();
            if (last != node) {
                leaves.set(node.leafIndex, last);
                last.leafIndex = node.leafIndex;
            }
            node.leafIndex = -1;
        }
    }

    /** Returns the leaves that may be evicted, the next one first; made in linear time, since an eviction takes few of them. */
    final ObjectHeapPriorityQueue<RadixNode> evictionQueue() {
        // A parent takes the place of the leaf before it, so that the array never grows.
        return new ObjectHeapPriorityQueue<>(leaves.toArray(new RadixNode[0]), policy::compare);
    }

    /** Returns all nodes but the root, parents before their children. */
    final List<RadixNodeState> states() {
        var states = new ArrayList<RadixNodeState>(numNodes);
        for (var node : nodes()) {
            states.add(state(node));
        }
        return states;
    }

    private RadixNodeState state(RadixNode node) {
        var key = new int[firstPage.length];
        node.tokens.copy(node.from, key.length, key, 0);
        var parent = Objects.requireNonNull(node.parent);
        return RadixNodeStateBuilder.builder()
                .id(node.id)
                .parentId(parent == root ? -1 : parent.id)
                .extraKey(node.extraKey)
                .key(new IntImmutableList(key))
                .numTokens(node.length)
                .locks(node.locks)
                .windowLocks(node.windowLocks)
                .hits(node.hits)
                .priority(node.priority)
                .pages(node.pages == null ? null : new IntImmutableList(node.pages))
                .hostPages(node.hostPages == null ? null : new IntImmutableList(node.hostPages))
                .hasWindow(node.hasWindow)
                .build();
    }

    /** Returns all nodes but the root. */
    final ObjectArrayList<RadixNode> nodes() {
        var nodes = new ObjectArrayList<RadixNode>(numNodes);
        addBelow(root, nodes);
        for (int i = 0; i < nodes.size(); i++) {
            addBelow(nodes.get(i), nodes);
        }
        return nodes;
    }

    private static void addBelow(RadixNode node, ObjectArrayList<RadixNode> nodes) {
        for (var child = node.firstChild; child != null; child = child.next) {
            nodes.add(child);
        }
    }

    final int common(RadixNode node, TokenSource tokens, int at, int max) {
        int length = Math.min(node.length, max);
        int extra = numExtraTokens();
        int equal = CommonTokens.count(node.tokens, node.from, tokens, at, length + extra) - extra;
        return equal / pageSize * pageSize;
    }

    final @Nullable RadixNode child(RadixNode parent, TokenSource tokens, String extraKey, int at) {
        long hash = keyHash(parent, tokens, extraKey, at);
        for (var node = buckets[slot(hash)]; node != null; node = node.nextInBucket) {
            if (node.keyHash == hash
                    && node.parent == parent
                    && node.extraKey.equals(extraKey)
                    && common(node, tokens, at, pageSize) == pageSize) {
                return node;
            }
        }
        return null;
    }

    final long keyHash(RadixNode parent, TokenSource tokens, String extraKey, int at) {
        tokens.copy(at, firstPage.length, firstPage, 0);
        long hash = HashCommon.murmurHash3((long) parent.id << Integer.SIZE | (extraKey.hashCode() & 0xFFFFFFFFL));
        for (int token : firstPage) {
            hash = HashCommon.murmurHash3(hash + token);
        }
        return hash;
    }

    private int slot(long hash) {
        return (int) hash & buckets.length - 1;
    }

    final void append(RadixNode parent, RadixNode child) {
        child.parent = parent;
        child.previous = parent.lastChild;
        child.next = null;
        if (parent.lastChild == null) {
            parent.firstChild = child;
        } else {
            parent.lastChild.next = child;
        }
        parent.lastChild = child;
        parent.numDeviceChildren += child.isOnDevice() ? 1 : 0;
        enter(child);
    }

    /** Puts another node in the place of one, below the same parent and with the same key. */
    private void replace(RadixNode old, RadixNode other) {
        leave(old);
        var parent = Objects.requireNonNull(old.parent);
        other.parent = parent;
        other.keyHash = old.keyHash;
        other.previous = old.previous;
        other.next = old.next;
        if (old.previous == null) {
            parent.firstChild = other;
        } else {
            old.previous.next = other;
        }
        if (old.next == null) {
            parent.lastChild = other;
        } else {
            old.next.previous = other;
        }
        enter(other);
    }

    /** Removes a node, with all below it. */
    final void remove(RadixNode node) {
        leave(node);
        var parent = Objects.requireNonNull(node.parent);
        if (node.previous == null) {
            parent.firstChild = node.next;
        } else {
            node.previous.next = node.next;
        }
        if (node.next == null) {
            parent.lastChild = node.previous;
        } else {
            node.next.previous = node.previous;
        }
        parent.numDeviceChildren -= node.isOnDevice() ? 1 : 0;
        node.isRemoved = true;
        refresh(node);
        refresh(parent);
    }

    private void enter(RadixNode node) {
        mostNodes = Math.max(mostNodes, numNodes + 1);
        if (++numNodes > buckets.length) {
            var old = buckets;
            buckets = new @Nullable RadixNode[old.length * 2];
            for (var head : old) {
                for (var entry = head; entry != null; ) {
                    var following = entry.nextInBucket;
                    chain(entry);
                    entry = following;
                }
            }
        }
        chain(node);
    }

    private void chain(RadixNode node) {
        int slot = slot(node.keyHash);
        node.nextInBucket = buckets[slot];
        buckets[slot] = node;
    }

    private void leave(RadixNode node) {
        numNodes--;
        int slot = slot(node.keyHash);
        var entry = buckets[slot];
        if (entry == node) {
            buckets[slot] = node.nextInBucket;
            return;
        }
        while (entry != null && entry.nextInBucket != node) {
            entry = entry.nextInBucket;
        }
        Objects.requireNonNull(entry).nextInBucket = node.nextInBucket;
    }
}

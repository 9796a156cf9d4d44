package understudy.kvcache.radix;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.prompt.TokenSource;

/**
 * Radix tree for layers with full attention and layers with a sliding window (SGLang {@code
 * mem_cache/unified_radix_cache.py}). A node has the window's part of its KV, or has lost it; nodes that have it stand in
 * a list by their last use.
 */
final class WindowTree extends RadixTree {
    private final WindowPool pool;
    private final int window;
    private @Nullable RadixNode newest;
    private @Nullable RadixNode oldest;
    private int windowEvictable;
    private int windowLocked;
    private int numMarks;

    WindowTree(int pageSize, WindowPool pool, RadixEvictionPolicy policy, boolean keysArePairs, int window) {
        super(pageSize, pool, policy, keysArePairs);
        this.pool = pool;
        this.window = window;
    }

    int windowEvictable() {
        return windowEvictable;
    }

    int windowLocked() {
        return windowLocked;
    }

    /** Finds the deepest node before which the window's part has no gap for the length of a window. */
    @Override
    void match(TokenSource tokens, String extraKey, int numTokens) {
        matched = root;
        matchedLength = 0;
        int length = keyLength(numTokens);
        if (length == 0) {
            return;
        }
        var node = root;
        int at = 0;
        int numInWindow = window;
        while (at < length) {
            var child = child(node, tokens, extraKey, at);
            if (child == null) {
                break;
            }
            int common = common(child, tokens, at, length - at);
            boolean isWhole = common == child.length;
            node = isWhole ? child : split(child, common);
            at += common;
            numInWindow = node.hasWindow ? Math.min(window, numInWindow + node.length) : 0;
            if (node.hasWindow && numInWindow >= window) {
                matched = node;
                matchedLength = at;
            }
            if (!isWhole) {
                break;
            }
        }
        freshen(matched);
        long now = tick();
        for (var above = matched; above != null; above = above.parent) {
            above.access = now;
        }
    }

    /**
     * Inserts the first tokens of a sequence. Its own places of those that are there already are freed, but for those with
     * which a node gets its lost part back.
     */
    @Override
    int insert(RadixSequence sequence, int numTokens, boolean isChunked) {
        var lookup = sequence.lookup;
        int numProtected = sequence.numProtected;
        int numGone = sequence.windowGone;
        int length = keyLength(numTokens);
        var node = root;
        int at = 0;
        while (at < length) {
            var child = child(node, lookup.tokens(), lookup.extraKey(), at);
            if (child == null) {
                break;
            }
            child.access = tick();
            int common = common(child, lookup.tokens(), at, length - at);
            node = common == child.length ? child : split(child, common);
            node.priority = Math.max(node.priority, lookup.priority());
            int end = at + common;
            int numOwnFreed = common;
            if (numProtected < end && !node.hasWindow && numGone < end) {
                numOwnFreed = Math.max(numGone - at, 0);
                revive(node, numOwnFreed, sequence.ownPages((at + numOwnFreed) / pageSize, end / pageSize));
            }
            sequence.free(pool, Math.max(at, numProtected) / pageSize, (at + numOwnFreed) / pageSize);
            node.hits += isChunked ? 0 : 1;
            at = end;
        }
        if (at < length) {
            addWithWindow(addLeaf(node, sequence, at, length), numGone - at, isChunked);
        } else if (node != root) {
            freshen(node);
        }
        return at;
    }

    private void addWithWindow(RadixNode leaf, int numGone, boolean isChunked) {
        if (numGone < leaf.length) {
            if (numGone > 0) {
                split(leaf, numGone);
            }
            list(leaf);
            int tail = (window + pageSize - 1) / pageSize * pageSize;
            if (leaf.length > tail) {
                split(leaf, leaf.length - tail);
            }
        }
        freshen(leaf);
        leaf.hits += isChunked ? 0 : 1;
    }

    /** Gives a node back its part of the window, behind its first {@code numGone} tokens, from a request's pages. */
    private void revive(RadixNode node, int numGone, int[] others) {
        int first = numGone / pageSize;
        var own = Objects.requireNonNull(node.pages);
        if (node.locks == 0) {
            pool.free(own, first, own.length);
        }
        if (numGone > 0) {
            split(node, numGone);
        }
        if (node.locks > 0) {
            for (int i = 0; i < others.length; i++) {
                pool.moveWindow(others[i], own[first + i]);
            }
            pool.freeFull(others, 0, others.length);
        } else {
            node.pages = others;
        }
        list(node);
    }

    /** Says that a node has its part of the window, as the latest. */
    private void list(RadixNode node) {
        node.hasWindow = true;
        link(node);
        windowEvictable += node.length;
    }

    @Override
    RadixNode split(RadixNode lower, int length) {
        var upper = super.split(lower, length);
        upper.created = lower.created;
        upper.windowLocks = lower.windowLocks;
        upper.windowMark = lower.windowMark;
        lower.windowMark = 0;
        if (lower.hasWindow) {
            upper.hasWindow = true;
            unlink(lower);
            link(upper);
            link(lower);
        }
        lower.access = tick();
        return upper;
    }

    /** Makes a node the latest in the list, and behind it those above it that are in the window. */
    private void freshen(RadixNode node) {
        RadixNode last = null;
        int count = 0;
        for (var above = node; above.parent != null && count < window + pageSize; above = above.parent) {
            if (above.hasWindow) {
                unlink(above);
                linkBehind(last, above);
                last = above;
            }
            count += above.length;
        }
    }

    private void link(RadixNode node) {
        linkBehind(null, node);
    }

    private void linkBehind(@Nullable RadixNode newer, RadixNode node) {
        var older = newer == null ? newest : newer.older;
        node.newer = newer;
        node.older = older;
        if (newer == null) {
            newest = node;
        } else {
            newer.older = node;
        }
        if (older == null) {
            oldest = node;
        } else {
            older.newer = node;
        }
    }

    private void unlink(RadixNode node) {
        if (node.newer == null) {
            newest = node.older;
        } else {
            node.newer.older = node.older;
        }
        if (node.older == null) {
            oldest = node.newer;
        } else {
            node.older.newer = node.newer;
        }
    }

    /** Locks a node for a window, and returns the mark at which the lock ends, or 0. */
    int lockWindow(RadixNode from) {
        int mark = 0;
        int count = 0;
        for (var node = from; node.parent != null && count < window; node = node.parent) {
            if (!node.hasWindow) {
                continue;
            }
            if (node.windowLocks++ == 0) {
                windowEvictable -= node.length;
                windowLocked += node.length;
                refresh(node);
            }
            count += node.length;
            if (count >= window) {
                if (node.windowMark == 0) {
                    node.windowMark = ++numMarks;
                }
                mark = node.windowMark;
            }
        }
        return mark;
    }

    void unlockWindow(RadixNode from, int mark) {
        for (var node = from; node.parent != null; node = node.parent) {
            if (node.windowLocks == 0) {
                continue;
            }
            if (node.windowLocks-- == 1) {
                windowEvictable += node.length;
                windowLocked -= node.length;
                refresh(node);
            }
            if (mark != 0 && node.windowMark == mark) {
                break;
            }
        }
    }

    @Override
    boolean isEvictable(RadixNode node) {
        return super.isEvictable(node) && node.windowLocks == 0;
    }

    /** Evicts leaves until so many tokens are free, then from the window until so many are free there. */
    void evict(int numTokens, int numWindowTokens) {
        var queue = evictionQueue();
        int done = 0;
        int windowDone = 0;
        while (done < numTokens && !queue.isEmpty()) {
            var node = queue.dequeue();
            var parent = Objects.requireNonNull(node.parent);
            done += node.length;
            windowDone += drop(node);
            if (parent.leafIndex >= 0) {
                queue.enqueue(parent);
            }
        }
        var node = unlocked(oldest);
        while (windowDone < numWindowTokens && node != null) {
            var next = unlocked(node.newer);
            if (node.leafIndex >= 0) {
                windowDone += drop(node);
                if (next == null) {
                    next = unlocked(oldest);
                }
            } else {
                windowDone += leaveWindow(node);
            }
            node = next;
        }
    }

    private static @Nullable RadixNode unlocked(@Nullable RadixNode from) {
        var node = from;
        while (node != null && node.windowLocks > 0) {
            node = node.newer;
        }
        return node;
    }

    /** Removes a leaf with both parts, and returns the tokens that the window gets. */
    private int drop(RadixNode node) {
        var pages = Objects.requireNonNull(node.pages);
        numRemoved += node.length / pageSize;
        if (events != null) {
            events.onRemoved(node);
        }
        pool.freeFull(pages, 0, pages.length);
        addEvictable(-node.length);
        int count = leaveWindow(node);
        remove(node);
        return count;
    }

    private int leaveWindow(RadixNode node) {
        if (!node.hasWindow) {
            return 0;
        }
        var pages = Objects.requireNonNull(node.pages);
        pool.freeWindow(pages, 0, pages.length);
        windowEvictable -= node.length;
        unlink(node);
        node.hasWindow = false;
        return node.length;
    }
}

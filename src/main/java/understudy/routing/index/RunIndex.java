package understudy.routing.index;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.prompt.HashPath;
import understudy.prompt.HashRun;

/**
 * Index of the replicas that hold each block, where blocks come and go in runs that know what is before them: a radix tree
 * over block hashes. A run of blocks with the same holders is one node, which shares its hashes with whoever told of them,
 * so that a block takes no memory of its own. A node goes when nobody holds it or any behind it. Not thread safe.
 *
 * <p>A node is found by its first or last block, since a hash stands for all blocks before it, too. As a rule a replica
 * stores blocks behind one that it holds, and loses blocks before those in front of them. So the next one that it holds of a
 * sequence is the last of a node, and nothing is searched from the root on. If two blocks at different places have the same
 * hash after all, the index may miss one of them, and goes on.
 */
final class RunIndex {
    private final Long2ObjectOpenHashMap<Node> byFirst = new Long2ObjectOpenHashMap<>();
    private final Long2ObjectOpenHashMap<Node> byLast = new Long2ObjectOpenHashMap<>();

    /** Run of blocks. */
    private static final class Node {
        private static final int NOBODY = -1;

        private HashPath path;
        private int from;
        private int to;
        private long firstHash;
        private long lastHash;
        private @Nullable Node parent;
        private int numChildren;

        /** Exclusive or of the first hashes of all children; that of the child if there is one. */
        private long children;

        /** The only holder, or {@link #NOBODY}. */
        private int holder = NOBODY;

        /** All holders, or null if there is one at most. */
        private @Nullable BitSet holders;

        private Node(@Nullable Node parent, HashPath path, int from, int to) {
            this.parent = parent;
            this.path = path;
            this.from = from;
            this.to = to;
            firstHash = path.get(from);
            lastHash = path.get(to - 1);
        }

        private boolean isHeldBy(int replica) {
            return holders == null ? holder == replica : holders.get(replica);
        }

        private boolean isHeld() {
            return holders != null || holder != NOBODY;
        }

        private boolean hasSameHolders(Node other) {
            return holder == other.holder && Objects.equals(holders, other.holders);
        }

        private void add(int replica) {
            if (holders != null) {
                holders.set(replica);
            } else if (holder == NOBODY) {
                holder = replica;
            } else if (holder != replica) {
                holders = new BitSet();
                holders.set(holder);
                holders.set(replica);
                holder = NOBODY;
            }
        }

        private void remove(int replica) {
            if (holders == null) {
                holder = holder == replica ? NOBODY : holder;
                return;
            }
            holders.clear(replica);
            if (holders.cardinality() == 1) {
                holder = holders.nextSetBit(0);
                holders = null;
            }
        }

        private void copyHolders(Node other) {
            holder = other.holder;
            holders = other.holders == null ? null : (BitSet) other.holders.clone();
        }

        /** Returns those of some replicas that hold it, or all that do if there is no such choice. */
        private BitSet holdersAmong(@Nullable BitSet some) {
            var among = new BitSet();
            if (holders == null) {
                if (holder != NOBODY && (some == null || some.get(holder))) {
                    among.set(holder);
                }
                return among;
            }
            among.or(holders);
            if (some != null) {
                among.and(some);
            }
            return among;
        }

        private int endOfEqual(HashPath other, int end) {
            return path.endOfEqual(other, from, Math.min(to, end));
        }
    }

    /** Returns how many blocks some replica holds. */
    int size() {
        int count = 0;
        for (var node : byFirst.values()) {
            count += node.isHeld() ? node.to - node.from : 0;
        }
        return count;
    }

    /** Returns of how many nodes it consists. */
    int numNodes() {
        return byFirst.size();
    }

    /** Returns the node whose first block is this one of a path, or null if there is none. */
    private @Nullable Node beginningAt(HashPath path, int from) {
        var node = byFirst.get(path.get(from));
        return node != null && node.from == from ? node : null;
    }

    /** Returns the node behind whose last block is this one of a path, or null if there is none. */
    private @Nullable Node endingAt(HashPath path, int to) {
        var node = byLast.get(path.get(to - 1));
        return node != null && node.to == to ? node : null;
    }

    /** Adds a replica to the holders of a run. */
    void store(int replica, HashRun run) {
        var path = run.path();
        var parent = run.from() == 0 ? null : endingAt(path, run.from());
        for (int at = parent == null ? 0 : run.from(); at < run.to(); at = parent.to) {
            if (parent != null && at >= run.from() && isLeafOf(parent, replica)) {
                extend(parent, path, run.to());
                break;
            }
            int end = at < run.from() ? run.from() : run.to();
            var node = beginningAt(path, at);
            int equal = node == null ? at : node.endOfEqual(path, end);
            node = node == null || equal == at ? append(parent, path, at, end) : upTo(node, equal);
            if (at >= run.from() && !node.isHeldBy(replica)) {
                node.add(replica);
                joinParent(node);
            }
            parent = node;
        }
    }

    /** Returns whether a node is held by this replica alone, and has nothing behind it. */
    private static boolean isLeafOf(Node node, int replica) {
        return node.holder == replica && node.numChildren == 0;
    }

    /** Makes a node longer that has nothing behind it; the path goes on from its last block. */
    private void extend(Node node, HashPath path, int end) {
        byLast.remove(node.lastHash);
        node.path = path;
        node.to = end;
        node.lastHash = path.get(end - 1);
        byLast.put(node.lastHash, node);
    }

    private Node append(@Nullable Node parent, HashPath path, int from, int to) {
        var node = new Node(parent, path, from, to);
        byFirst.put(node.firstHash, node);
        byLast.put(node.lastHash, node);
        if (parent != null) {
            parent.numChildren++;
            parent.children ^= node.firstHash;
        }
        return node;
    }

    /** Removes a replica from the holders of a run. */
    void remove(int replica, HashRun run) {
        var path = run.path();
        int end = run.to();
        var node = endingAt(path, end);
        if (node == null) {
            node = deepest(path, end);
            end = node == null ? 0 : node.endOfEqual(path, end);
        }
        Node changed = null;
        while (node != null && end > run.from()) {
            int from = Math.max(node.from, run.from());
            if (from > node.from && from < end && end == node.to && isLeafOf(node, replica)) {
                shorten(node, from);
                break;
            }
            var before = node.parent;
            int next = node.from;
            if (from < end && node.isHeldBy(replica)) {
                changed = exclude(replica, node, from, end);
            }
            node = before;
            end = next;
        }
        if (changed != null) {
            joinChild(changed);
        }
    }

    /** Returns the last node on a path that begins before a block, or null if there is none. */
    private @Nullable Node deepest(HashPath path, int to) {
        Node last = null;
        for (int at = 0; at < to; at = last.to) {
            var node = beginningAt(path, at);
            if (node == null) {
                break;
            }
            last = node;
            if (node.endOfEqual(path, to) < node.to) {
                break;
            }
        }
        return last;
    }

    /** Makes a node shorter that has nothing behind it. */
    private void shorten(Node node, int to) {
        byLast.remove(node.lastHash);
        node.to = to;
        node.lastHash = node.path.get(to - 1);
        byLast.put(node.lastHash, node);
    }

    /** Removes a replica from the holders of a part of a node; returns what is left there, or the next one before it, if any. */
    private @Nullable Node exclude(int replica, Node node, int from, int to) {
        var part = upTo(node, to);
        if (from > part.from) {
            upTo(part, from);
        }
        part.remove(replica);
        var rest = prune(part);
        return rest == part ? joinChild(part) : rest;
    }

    /** Returns the part of a node up to a block as a node of its own; what is behind it follows it. */
    private Node upTo(Node node, int end) {
        if (end == node.to) {
            return node;
        }
        var upper = new Node(node.parent, node.path, node.from, end);
        upper.copyHolders(node);
        upper.numChildren = 1;
        byFirst.put(upper.firstHash, upper);
        byLast.put(upper.lastHash, upper);
        node.parent = upper;
        node.from = end;
        node.firstHash = node.path.get(end);
        upper.children = node.firstHash;
        byFirst.put(node.firstHash, node);
        return upper;
    }

    /**
     * Drops a node, and those before it, as far as nobody holds them or any behind them.
     *
     * @return the first one that stays, or null if none does
     */
    private @Nullable Node prune(Node from) {
        var node = from;
        while (node != null && !node.isHeld() && node.numChildren == 0) {
            byFirst.remove(node.firstHash);
            byLast.remove(node.lastHash);
            if (node.parent != null) {
                node.parent.numChildren--;
                node.parent.children ^= node.firstHash;
            }
            node = node.parent;
        }
        return node;
    }

    /** Makes one node of a node and the one before it, if nothing else follows that and it has the same holders. */
    private void joinParent(Node node) {
        if (node.parent != null) {
            joinChild(node.parent);
        }
    }

    /** Makes one node of a node and its child, if it has no other and the same holders; returns it, or else the node. */
    private Node joinChild(Node node) {
        if (node.numChildren != 1) {
            return node;
        }
        var child = byFirst.get(node.children);
        if (child == null || child.parent != node || !child.hasSameHolders(node)) {
            return node;
        }
        byLast.remove(node.lastHash);
        byFirst.remove(child.firstHash);
        child.from = node.from;
        child.firstHash = node.firstHash;
        child.parent = node.parent;
        byFirst.put(child.firstHash, child);
        return child;
    }

    /** Removes a replica from all holders. */
    void clear(int replica) {
        for (var node : new ArrayList<>(byFirst.values())) {
            node.remove(replica);
        }
        for (var node : new ArrayList<>(byFirst.values())) {
            if (byFirst.get(node.firstHash) == node) {
                prune(node);
            }
        }
    }

    /**
     * Finds how many leading blocks of a prompt replicas hold.
     *
     * @param overlaps takes the answer, by replica, for those that hold any
     * @return the replicas that hold the most; none if no replica holds the first block
     */
    BitSet match(HashPath path, int[] overlaps) {
        BitSet left = null;
        int at = 0;
        while (at < path.length()) {
            var node = beginningAt(path, at);
            var next = node == null ? new BitSet() : node.holdersAmong(left);
            if (node == null || next.isEmpty()) {
                break;
            }
            int end = node.endOfEqual(path, path.length());
            for (int replica = next.nextSetBit(0); replica >= 0; replica = next.nextSetBit(replica + 1)) {
                overlaps[replica] = end;
            }
            left = next;
            at = end;
            if (end < node.to) {
                break;
            }
        }
        return left == null ? new BitSet() : left;
    }
}

package understudy.routing.index;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import understudy.prompt.HashPath;
import understudy.prompt.HashRun;

/**
 * Index of the replicas that hold each block, where blocks come and go in runs that know what is before them, as with
 * SGLang: a radix tree over block hashes. A run of blocks with the same holders is one node, which shares its hashes with
 * whoever told of them, so that a block takes no memory of its own. A node goes when nobody holds it or any behind it. Not
 * thread safe.
 */
final class RunIndex {
    /** Nodes by the hash of their first block, which says all that is before it, too. */
    private final Long2ObjectOpenHashMap<Node> nodes = new Long2ObjectOpenHashMap<>();

    /** Run of blocks. */
    private static final class Node {
        private static final int NOBODY = -1;

        private final HashPath path;
        private int from;
        private final int to;
        private @Nullable Node parent;
        private int numChildren;

        /** The only holder, or {@link #NOBODY}. */
        private int holder = NOBODY;

        /** All holders, or null if there is one at most. */
        private @Nullable BitSet holders;

        private Node(@Nullable Node parent, HashPath path, int from, int to) {
            this.parent = parent;
            this.path = path;
            this.from = from;
            this.to = to;
        }

        private boolean isHeldBy(int replica) {
            return holders == null ? holder == replica : holders.get(replica);
        }

        private boolean isHeld() {
            return holders != null || holder != NOBODY;
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
        for (var node : nodes.values()) {
            count += node.isHeld() ? node.to - node.from : 0;
        }
        return count;
    }

    /** Returns of how many nodes it consists. */
    int numNodes() {
        return nodes.size();
    }

    /** Adds a replica to the holders of a run. */
    void store(int replica, HashRun run) {
        var path = run.path();
        Node parent = null;
        for (int at = 0; at < run.to(); at = parent.to) {
            int end = at < run.from() ? run.from() : run.to();
            var node = nodes.get(path.get(at));
            if (node == null) {
                node = new Node(parent, path, at, end);
                nodes.put(path.get(at), node);
                if (parent != null) {
                    parent.numChildren++;
                }
            } else {
                node = upTo(node, node.endOfEqual(path, end));
            }
            if (at >= run.from()) {
                node.add(replica);
            }
            parent = node;
        }
    }

    /** Removes a replica from the holders of a run. */
    void remove(int replica, HashRun run) {
        var path = run.path();
        Node last = null;
        for (int at = 0; at < run.to(); at = last.to) {
            var node = nodes.get(path.get(at));
            if (node == null) {
                break;
            }
            boolean isHeld = node.isHeldBy(replica);
            int end = node.endOfEqual(path, isHeld && at < run.from() ? run.from() : run.to());
            last = isHeld ? upTo(node, end) : node;
            if (at >= run.from()) {
                last.remove(replica);
            }
            if (end < last.to) {
                break;
            }
        }
        prune(last);
    }

    /** Returns the part of a node up to a block as a node of its own; what is behind it follows it. */
    private Node upTo(Node node, int end) {
        if (end == node.to) {
            return node;
        }
        var upper = new Node(node.parent, node.path, node.from, end);
        upper.copyHolders(node);
        upper.numChildren = 1;
        nodes.put(node.path.get(node.from), upper);
        node.parent = upper;
        node.from = end;
        nodes.put(node.path.get(end), node);
        return upper;
    }

    /** Drops a node, and those before it, as far as nobody holds them or any behind them. */
    private void prune(@Nullable Node from) {
        for (var node = from; node != null && !node.isHeld() && node.numChildren == 0; node = node.parent) {
            nodes.remove(node.path.get(node.from));
            if (node.parent != null) {
                node.parent.numChildren--;
            }
        }
    }

    /** Removes a replica from all holders. */
    void clear(int replica) {
        for (var node : new ArrayList<>(nodes.values())) {
            node.remove(replica);
        }
        for (var node : new ArrayList<>(nodes.values())) {
            if (nodes.get(node.path.get(node.from)) == node) {
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
            var node = nodes.get(path.get(at));
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

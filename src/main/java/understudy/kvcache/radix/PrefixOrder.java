package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntArrays;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Order of waiting requests by what the tree has of them (SGLang {@code managers/schedule_policy.py}). A look at the tree
 * counts as use.
 */
public final class PrefixOrder {
    /** Prefixes up to this length are too short to wait for ({@code IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD}). */
    private static final int CHECK_THRESHOLD = 32;

    /** Prefixes among waiting requests from this length on are waited for. */
    private static final int DEPRIORITIZE_THRESHOLD = 32;

    private final int[] order;
    private final int[] numPrefixTokens;

    private PrefixOrder(int[] order, int[] numPrefixTokens) {
        this.order = order;
        this.numPrefixTokens = numPrefixTokens;
    }

    /** Kind of the order. */
    public enum Kind {
        /** Longest prefix first. */
        LPM,
        /** Depth first, heavier branches first. */
        DFS_WEIGHT
    }

    /** Returns which request comes at a place. */
    public int at(int place) {
        return order[place];
    }

    /** Returns the tokens of a request that the tree has, on the device. */
    public int numPrefixTokens(int index) {
        return numPrefixTokens[index];
    }

    /**
     * Orders requests, stably.
     *
     * @param lengths how many tokens of each are known
     */
    public static PrefixOrder of(Kind kind, RadixMemory memory, List<RadixLookup> requests, int[] lengths) {
        int count = requests.size();
        var order = new int[count];
        var prefixes = new int[count];
        var ranks = new int[count];
        var nodes = new ObjectArrayList<RadixNode>(count);
        var scratch = new RadixTree(1, null, RadixEvictionPolicy.LRU, false);
        for (int i = 0; i < count; i++) {
            order[i] = i;
            var lookup = requests.get(i);
            var sequence = new RadixSequence(lookup, memory.tree().root);
            int found = memory.match(sequence, lengths[i]);
            prefixes[i] = sequence.numPrefixTokens;
            nodes.add(sequence.node);
            ranks[i] = -Math.min(found, Math.max(lengths[i] - 1, 0));
            if (sequence.numPrefixTokens <= CHECK_THRESHOLD) {
                scratch.match(lookup.tokens(), lookup.extraKey(), lengths[i]);
                if (scratch.matchedLength >= DEPRIORITIZE_THRESHOLD) {
                    ranks[i] = Integer.MAX_VALUE;
                } else {
                    scratch.insert(sequence, lengths[i], false);
                }
            }
        }
        if (kind == Kind.LPM) {
            IntArrays.stableSort(order, (a, b) -> Integer.compare(ranks[a], ranks[b]));
            return new PrefixOrder(order, prefixes);
        }
        return new PrefixOrder(new DepthFirst(memory.tree(), nodes).order(), prefixes);
    }

    /** Walk over the tree that collects requests, those of a node behind those below it. */
    private static final class DepthFirst {
        private final RadixTree tree;
        private final int[] weights;
        private final @Nullable IntArrayList[] requestsAt;
        private final IntArrayList order = new IntArrayList();

        private DepthFirst(RadixTree tree, ObjectArrayList<RadixNode> nodeOf) {
            this.tree = tree;
            weights = new int[tree.numIds()];
            requestsAt = new @Nullable IntArrayList[weights.length];
            for (int i = 0; i < nodeOf.size(); i++) {
                int node = nodeOf.get(i).id;
                var requests = requestsAt[node];
                if (requests == null) {
                    requests = new IntArrayList();
                    requestsAt[node] = requests;
                }
                requests.add(i);
                for (var above = nodeOf.get(i); above != null; above = above.parent) {
                    weights[above.id]++;
                }
            }
        }

        private int[] order() {
            walk(tree.root);
            return order.toIntArray();
        }

        private void walk(RadixNode node) {
            var children = new ObjectArrayList<RadixNode>();
            for (var child = node.firstChild; child != null; child = child.next) {
                if (weights[child.id] > 0) {
                    children.add(child);
                }
            }
            children.sort((a, b) -> Integer.compare(weights[b.id], weights[a.id]));
            for (var child : children) {
                walk(child);
            }
            var requests = requestsAt[node.id];
            if (requests != null) {
                order.addAll(requests);
            }
        }
    }
}

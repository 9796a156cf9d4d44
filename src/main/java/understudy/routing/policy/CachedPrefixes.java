package understudy.routing.policy;

import java.util.Arrays;
import java.util.List;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.index.PrefixIndex;

/**
 * Leading blocks of a prompt that replicas have cached, as far as a router can tell: from KV events here, from what it
 * has sent in {@link AssumedPrefixes}.
 */
class CachedPrefixes {
    final PrefixIndex index;
    private final BlockHasher hasher;
    private final int maxModelLen;
    private int[] blocks;
    private long[] blockHashes = {};

    CachedPrefixes(RoutingPolicyFactory.Cluster cluster) {
        hasher = cluster.hasher();
        maxModelLen = cluster.maxModelLen();
        index = new PrefixIndex(cluster.numReplicas());
        blocks = new int[index.maxReplicas()];
    }

    /** Looks a prompt up; nothing is found of one that replicas turn away. */
    void find(Request request, ClusterView view) {
        if (blocks.length < view.numReplicas()) {
            index.growTo(view.numReplicas());
            blocks = new int[index.maxReplicas()];
        }
        if (request.prompt().length() > maxModelLen) {
            blockHashes = new long[0];
            Arrays.fill(blocks, 0);
        } else {
            blockHashes = leading(request.prompt().blockHashes(hasher));
            index.match(blockHashes, blocks);
        }
    }

    /** Returns the hashes to look up. */
    long[] leading(long[] hashes) {
        return hashes;
    }

    /** Takes note that the prompt that was looked up last goes to a replica; KV events will tell what it has cached. */
    void onChosen(int replica, long atNanos) {}

    /** Returns which share of the full blocks a replica has, 0 to 1. */
    double share(int replica) {
        return blockHashes.length == 0 ? 0 : blocks[replica] / (double) blockHashes.length;
    }

    /** Returns the hashes of the prompt that was looked up last. */
    long[] blockHashes() {
        return blockHashes;
    }

    /** Returns how many full blocks that prompt has. */
    int numBlocks() {
        return blockHashes.length;
    }

    /** Returns how many of its leading blocks a replica has. */
    int blocks(int replica) {
        return blocks[replica];
    }

    /** Returns the same in tokens. */
    int tokens(int replica) {
        return blocks[replica] * hasher.blockSize();
    }

    int blockSize() {
        return hasher.blockSize();
    }

    /** Accepts the KV events of a replica. */
    void onKvEvents(int replica, List<KvEvent> events) {
        index.growTo(replica + 1);
        index.apply(replica, events);
    }

    /** Returns the blocks found on each replica, for people. */
    RoutingScores.Part part(ClusterView view) {
        return RoutingScores.Part.of("cached blocks", view, this::blocks, true);
    }
}

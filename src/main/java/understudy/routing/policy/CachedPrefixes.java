package understudy.routing.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockHasher;
import understudy.prompt.HashPath;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.index.PrefixIndex;

/**
 * Leading blocks of a prompt that replicas have cached, as far as a router can tell: from KV events here, from what it
 * has sent in {@link AssumedPrefixes}.
 */
class CachedPrefixes {
    /** Number of batches that wait for a prompt at most. */
    private static final int MAX_WAITING = 256;

    final PrefixIndex index;
    private final BlockHasher hasher;
    private final int maxModelLen;
    private final double hostWeight;
    private int[] blocks;

    /** The replicas that have the most leading blocks of the prompt that was looked up last; none if no replica has any. */
    private BitSet mostCached = new BitSet();

    private HashPath path = HashPath.EMPTY;

    /** Index of the blocks in the memories of the replicas' hosts; null until a replica reports any. */
    private @Nullable PrefixIndex hostIndex;

    private int[] hostBlocks = {};

    /** Events that no prompt has been looked up after. */
    private final List<Batch> waiting = new ArrayList<>();

    private record Batch(int replica, List<KvEvent> events) {}

    /** Creates an index for policies that take a block for cached, or not, wherever it is. */
    CachedPrefixes(RoutingPolicyFactory.Cluster cluster) {
        this(cluster, 0);
    }

    /** @param hostWeight what a block in a host's memory counts, in relation to one on the GPU, 0 to 1 */
    CachedPrefixes(RoutingPolicyFactory.Cluster cluster, double hostWeight) {
        this.hostWeight = hostWeight;
        hasher = cluster.hasher();
        maxModelLen = cluster.maxModelLen();
        index = new PrefixIndex(cluster.numReplicas());
        blocks = new int[index.maxReplicas()];
    }

    /** Looks a prompt up; nothing is found of one that replicas turn away. */
    void find(Request request, ClusterView view) {
        applyWaiting();
        if (blocks.length < view.numReplicas()) {
            index.growTo(view.numReplicas());
            blocks = new int[index.maxReplicas()];
        }
        if (hostIndex != null && hostBlocks.length < hostIndex.maxReplicas()) {
            hostBlocks = new int[hostIndex.maxReplicas()];
        }
        if (request.prompt().length() > maxModelLen) {
            path = HashPath.EMPTY;
            Arrays.fill(blocks, 0);
            mostCached.clear();
            Arrays.fill(hostBlocks, 0);
        } else {
            path = leading(request.prompt().hashPath(hasher));
            mostCached = index.match(path, blocks);
            if (hostIndex != null) {
                hostIndex.match(path, hostBlocks);
            }
        }
    }

    /** Returns the hashes to look up. */
    HashPath leading(HashPath whole) {
        return whole;
    }

    /** Records that the prompt that was looked up last goes to a replica; KV events will tell what it has cached. */
    void onChosen(int replica, long atNanos) {}

    /** Returns which share of the full blocks a replica has, 0 to 1; one in its host's memory counts less. */
    double share(int replica) {
        return path.length() == 0 ? 0 : weightedBlocks(replica) / path.length();
    }

    /** Returns how many of the leading blocks a replica has, where one in its host's memory counts less. */
    double weightedBlocks(int replica) {
        return blocks[replica] + hostWeight * hostBlocks(replica);
    }

    /** Returns the hashes of the prompt that was looked up last. */
    long[] blockHashes() {
        return path.toArray();
    }

    /** Returns how many full blocks that prompt has. */
    int numBlocks() {
        return path.length();
    }

    /** Returns how many of its leading blocks a replica has. */
    int blocks(int replica) {
        return blocks[replica];
    }

    /** Returns the replica that takes requests and has most of them, the less loaded one among equals. */
    int mostCached(ClusterView view) {
        int best = -1;
        for (int i = mostCached.nextSetBit(0); i >= 0; i = mostCached.nextSetBit(i + 1)) {
            if (view.isReady(i) && (best < 0 || view.compareLoads(i, best) < 0)) {
                best = i;
            }
        }
        if (best >= 0) {
            return best;
        }
        return mostCached.isEmpty() ? view.leastLoaded() : ReplicaChoice.lowest(view, i -> -blocks(i));
    }

    /** Returns how many more a replica has in its host's memory, where chunks are single blocks. */
    int hostBlocks(int replica) {
        return replica < hostBlocks.length ? Math.max(0, hostBlocks[replica] - blocks[replica]) : 0;
    }

    /** Returns how many tokens a replica need not compute. */
    int tokens(int replica) {
        return (blocks[replica] + hostBlocks(replica)) * hasher.blockSize();
    }

    int blockSize() {
        return hasher.blockSize();
    }

    /** Accepts the KV events of a replica, which count from the next prompt on. */
    void onKvEvents(int replica, List<KvEvent> events) {
        waiting.add(new Batch(replica, events));
        if (waiting.size() == MAX_WAITING) {
            applyWaiting();
        }
    }

    /** Applies all that waits: what is looked up for it then comes from memory at the same time. */
    private void applyWaiting() {
        for (var batch : waiting) {
            index.touch(batch.events);
        }
        for (var batch : waiting) {
            apply(batch.replica, batch.events);
        }
        waiting.clear();
    }

    private void apply(int replica, List<KvEvent> events) {
        index.growTo(replica + 1);
        index.apply(replica, events);
        for (int i = 0; i < events.size(); i++) {
            applyToHost(replica, events.get(i));
        }
    }

    private void applyToHost(int replica, KvEvent event) {
        if (event instanceof KvEvent.HostStored stored) {
            if (hostIndex == null) {
                hostIndex = new PrefixIndex(index.maxReplicas());
            }
            hostIndex.growTo(replica + 1);
            hostIndex.store(replica, stored.keys());
        } else if (hostIndex != null && event instanceof KvEvent.HostRemoved removed) {
            hostIndex.remove(replica, removed.keys());
        } else if (hostIndex != null && event instanceof KvEvent.Cleared) {
            hostIndex.growTo(replica + 1);
            hostIndex.apply(replica, List.of(event));
        }
    }

    /** Returns the blocks found in hosts' memories, for people. */
    RoutingScores.Part hostPart(ClusterView view) {
        return RoutingScores.Part.of("blocks in host memory", view, this::hostBlocks, true);
    }

    boolean knowsHosts() {
        return hostIndex != null;
    }

    /** Returns the blocks found on each replica, for people. */
    RoutingScores.Part part(ClusterView view) {
        return RoutingScores.Part.of("cached blocks", view, this::blocks, true);
    }
}

package understudy.routing.policy;

import it.unimi.dsi.fastutil.longs.Long2LongLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.List;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.prompt.HashPath;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicyFactory;

/**
 * Cached prefixes as a router without KV events assumes them: a replica has the blocks of the prompts that were sent to
 * it, but for the least recently used ones beyond a limit, and those unused for a while. Deeper blocks of a prompt
 * count as older.
 */
final class AssumedPrefixes extends CachedPrefixes {
    private final int maxBlocks;
    private final long ttlNanos;
    private final int maxPromptBlocks;
    private final List<Long2LongLinkedOpenHashMap> lastUses = new ArrayList<>();

    /**
     * Creates an account without any block.
     *
     * @param maxBlocks most blocks of a replica, at least 1
     * @param ttlNanos how long a block is remembered after its last use, above 0
     */
    AssumedPrefixes(RoutingPolicyFactory.Cluster cluster, int maxBlocks, long ttlNanos) {
        this(cluster, maxBlocks, ttlNanos, Integer.MAX_VALUE);
    }

    /** Creates one that looks at no more than so many leading blocks of a prompt. */
    AssumedPrefixes(RoutingPolicyFactory.Cluster cluster, int maxBlocks, long ttlNanos, int maxPromptBlocks) {
        super(cluster);
        this.maxPromptBlocks = maxPromptBlocks;
        this.maxBlocks = maxBlocks;
        this.ttlNanos = ttlNanos;
    }

    @Override
    void find(Request request, ClusterView view) {
        while (lastUses.size() < view.numReplicas()) {
            lastUses.add(new Long2LongLinkedOpenHashMap());
        }
        for (int i = 0; i < lastUses.size(); i++) {
            expire(i, view.nowNanos());
        }
        super.find(request, view);
    }

    @Override
    HashPath leading(HashPath whole) {
        return whole.first(maxPromptBlocks);
    }

    @Override
    void onChosen(int replica, long atNanos) {
        var uses = lastUses.get(replica);
        long[] hashes = blockHashes();
        for (int i = hashes.length - 1; i >= 0; i--) {
            uses.putAndMoveToLast(hashes[i], atNanos);
        }
        index.store(replica, LongArrayList.wrap(hashes));
        var dropped = new LongArrayList();
        while (uses.size() > maxBlocks) {
            dropped.add(uses.firstLongKey());
            uses.removeFirstLong();
        }
        index.remove(replica, dropped);
    }

    private void expire(int replica, long nowNanos) {
        var uses = lastUses.get(replica);
        var dropped = new LongArrayList();
        while (!uses.isEmpty() && nowNanos - uses.get(uses.firstLongKey()) >= ttlNanos) {
            dropped.add(uses.firstLongKey());
            uses.removeFirstLong();
        }
        index.remove(replica, dropped);
    }

    /** Only the loss of a whole cache counts: a replica that has gone. */
    @Override
    void onKvEvents(int replica, List<KvEvent> events) {
        boolean isCleared = events.stream().anyMatch(KvEvent.Cleared.class::isInstance);
        if (isCleared && replica < lastUses.size()) {
            lastUses.get(replica).clear();
            super.onKvEvents(replica, List.of(new KvEvent.Cleared()));
        }
    }
}

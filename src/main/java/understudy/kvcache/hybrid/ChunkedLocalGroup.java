package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.List;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.BlockPool;

/** Layers that need a chunk (vLLM {@code ChunkedLocalAttentionManager}). */
final class ChunkedLocalGroup extends GroupManager {
    ChunkedLocalGroup(int index, HybridConfig config, KvGroups groups, BlockPool pool, GroupKeys keys) {
        super(index, config, groups, pool, keys);
    }

    @Override
    int find(HybridSequence sequence, int[] equals, int limit, boolean drops, List<IntArrayList> hits) {
        int first = group.numSkippedTokens(limit) / blockSize;
        return GroupHits.fromLeft(this, sequence, equals, first, limit / blockSize, hits) * blockSize;
    }
}

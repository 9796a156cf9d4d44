package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.BlockPool;

/** Layers that need everything (vLLM {@code FullAttentionManager}). */
final class FullAttentionGroup extends GroupManager {
    private final boolean hasLargeBlocks;

    FullAttentionGroup(int index, HybridConfig config, KvGroups groups, BlockPool pool, GroupKeys keys) {
        super(index, config, groups, pool, keys);
        hasLargeBlocks = blockSize > config.blockSize();
    }

    @Override
    int find(HybridSequence sequence, int[] equals, int limit, boolean drops, List<IntArrayList> hits) {
        int numBlocks = GroupHits.fromLeft(this, sequence, equals, 0, limit / blockSize, hits);
        int numTokens = numBlocks * blockSize;
        numTokens -= drops && numTokens > 0 ? Math.min(alignment, blockSize) : 0;
        numTokens -= numTokens % alignment;
        GroupHits.cut(equals, group.numBlocks(numTokens), hits);
        return numTokens;
    }

    @Override
    int cache(HybridSequence sequence, int numTokens) {
        return super.cache(sequence, numTokens) + (hasLargeBlocks ? cachePromptEnd(sequence, numTokens) : 0);
    }

    /** Gives the block within which the prompt's last whole hash ends one more key (vLLM {@code cache_tail}). */
    private int cachePromptEnd(HybridSequence sequence, int numTokens) {
        int end = sequence.promptHashEnd();
        var table = table(sequence);
        int blockIndex = end / blockSize;
        if (end == 0 || end > numTokens || end % blockSize == 0 || blockIndex >= table.size()) {
            return 0;
        }
        int block = table.block(blockIndex);
        long hash = sequence.hashUpTo(end);
        long conversation = sequence.turn().sessionId();
        if (!keys.insertPromptEnd(pool.prefixTable(), block, index(), hash, conversation)) {
            return 0;
        }
        int first = blockIndex * blockSize;
        var part = new KvGroup(group.kind(), end - first, group.span());
        keys.stored(sequence.stored(LongList.of(hash), first, new KvEvent.GroupRange(index(), part, end - first)));
        return 1;
    }
}

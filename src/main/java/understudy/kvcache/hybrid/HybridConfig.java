package understudy.kvcache.hybrid;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.PoolConfig;
import understudy.kvcache.eviction.FreeBlocks;

/**
 * Settings of a memory for layers that need different parts of a sequence.
 *
 * @param blocks whose hasher has the {@link KvGroups#hashBlockSize} of the groups
 * @param freeBlocks which free block is given out next
 * @param dropsLastHit whether the last block of a hit is computed again, for a draft model (vLLM {@code use_eagle})
 * @param groups of layers
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record HybridConfig(
        KvBlocks blocks, FreeBlocks freeBlocks, boolean sharesWithinStep, boolean dropsLastHit, KvGroups groups)
        implements PoolConfig, HybridConfigBuilder.With {

    @Override
    public KvCache create() {
        return new HybridKvCache(this);
    }

    @Override
    public long maxTokens() {
        return groups.maxTokens(numGpuBlocks() - 1, maxModelLen());
    }

    @Override
    public int growthUnit() {
        return 1;
    }

    @Override
    public boolean publishesEvents() {
        return true;
    }

    /**
     * Returns how many of {@code numTokens} tokens to compute: as the groups cut them, but all where no state is cached
     * (vLLM {@code need_mamba_block_aligned_split}).
     *
     * @param from tokens computed before
     * @param numKnown tokens known, of which the prompt has {@code numPrompt}
     * @param junction token at which a cached prefix ended for some groups only, or 0
     */
    public int cut(int numTokens, int from, int numPrompt, int numKnown, int junction) {
        return enablePrefixCaching()
                ? groups.cut(numTokens, from, numPrompt, numKnown, junction, dropsLastHit)
                : numTokens;
    }

    @Override
    public int stateBlockSize() {
        return groups.stateBlockSize();
    }

    @Override
    public String groupsReason() {
        return groups.reason();
    }
}

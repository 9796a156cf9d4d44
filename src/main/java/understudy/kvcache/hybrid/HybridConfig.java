package understudy.kvcache.hybrid;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvGroups;
import understudy.kvcache.PromptCuts;
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

    /** Returns where prompts are cut: nowhere if no state is cached (vLLM {@code need_mamba_block_aligned_split}). */
    public PromptCuts cuts() {
        return enablePrefixCaching() ? groups.cuts(dropsLastHit) : PromptCuts.NONE;
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

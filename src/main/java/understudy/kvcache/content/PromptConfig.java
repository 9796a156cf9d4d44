package understudy.kvcache.content;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixUnit;
import understudy.kvcache.eviction.FreeBlocks;

/**
 * Settings of a memory that finds whole prompts (roseinfer's {@code PrefixCache}).
 *
 * @param blocks at least {@link PrefixUnit#minBlocks} of them
 * @param freeBlocks which free block is given out next
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record PromptConfig(KvBlocks blocks, FreeBlocks freeBlocks, boolean sharesWithinStep)
        implements PoolConfig, PromptConfigBuilder.With {

    /** Checks the number of blocks. */
    public PromptConfig {
        if (blocks.numGpuBlocks() < PrefixUnit.PROMPT.minBlocks()) {
            throw new IllegalArgumentException("numGpuBlocks " + blocks.numGpuBlocks());
        }
    }

    @Override
    public KvCache create() {
        return new PromptKvCache(this);
    }

    @Override
    public long maxTokens() {
        return PrefixUnit.PROMPT.maxTokens(numGpuBlocks(), blockSize());
    }
}

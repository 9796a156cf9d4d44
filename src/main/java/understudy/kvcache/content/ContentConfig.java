package understudy.kvcache.content;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixUnit;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.eviction.FreeBlocks;

/**
 * Settings of a memory that finds blocks by their content, as vLLM's does.
 *
 * @param freeBlocks which free block is given out next
 * @param promotesFullBlocks whether a block that becomes full gives way to an identical cached one, as in vLLM's first
 *     prefix caching; vLLM V1 keeps both
 * @param fullHit treatment of a request whose whole prompt is cached
 * @param cachesGeneratedBlocks whether blocks with tokens of an answer are found too
 * @param dropsLastHit whether the last block of a hit is computed again, for a draft model (vLLM {@code use_eagle})
 * @param connector source of KV from elsewhere, or null if there is none
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record ContentConfig(
        KvBlocks blocks,
        FreeBlocks freeBlocks,
        boolean promotesFullBlocks,
        boolean sharesWithinStep,
        FullHit fullHit,
        boolean cachesGeneratedBlocks,
        boolean dropsLastHit,
        @Nullable ConnectorSpec connector)
        implements PoolConfig, ContentConfigBuilder.With {

    /** Returns a memory that works as vLLM V1's does by default. */
    public static ContentConfig vllm(KvBlocks blocks) {
        return ContentConfigBuilder.builder()
                .blocks(blocks)
                .freeBlocks(FreeBlocks.VLLM)
                .sharesWithinStep(true)
                .fullHit(FullHit.RECOMPUTE_LAST_TOKEN)
                .cachesGeneratedBlocks(true)
                .build();
    }

    @Override
    public KvCache create() {
        return connector == null ? new KvCacheManager(this) : new ConnectedKvCacheManager(this);
    }

    @Override
    public long maxTokens() {
        return PrefixUnit.BLOCK.maxTokens(numGpuBlocks(), blockSize());
    }

    @Override
    public boolean isResizable() {
        return true;
    }

    @Override
    public boolean publishesEvents() {
        return true;
    }

    @Override
    public boolean takesConnector() {
        return sharesWithinStep;
    }
}

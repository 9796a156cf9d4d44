package understudy.kvcache;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.PrefixOptions.SessionMode;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.BlockHasher;

/**
 * Sizes and switches of a KV cache of blocks, under vLLM's names.
 *
 * @param hasher turns tokens into block hashes; it carries {@code block-size}
 * @param numGpuBlocks physical blocks, the null block included; at least {@link PrefixUnit#minBlocks}
 * @param enablePrefixCaching whether full blocks stay findable
 * @param maxModelLen longest sequence in tokens, prompt and output together; at least 1
 * @param watermarkBlocks blocks that an admission leaves free while something runs, at least 0
 * @param evictionPolicy which free block is given out next
 * @param freeOrder place of released blocks in the free queue, with {@link EvictionPolicy#LRU}
 * @param promotesFullBlocks whether a block that becomes full gives way to an identical cached one, as in vLLM's first
 *     prefix caching; vLLM V1 keeps both
 * @param recordsEvents whether to collect {@link KvEvent}s
 * @param prefixUnit part of a cached prefix that a lookup finds as a whole, or not at all
 * @param sharesWithinStep whether content can be found as soon as there are blocks for it, by later requests of the
 *     step that computes it, as in vLLM; else it is found only after that step's result
 * @param prefixes how prefixes are kept and found again
 * @param connector source of KV from elsewhere, or null if there is none
 * @param groups layers that need different parts of a sequence, or null if all need everything; then {@code hasher} has
 *     their {@link KvGroups#hashBlockSize}
 */
@RecordBuilder
public record KvCacheConfig(
        BlockHasher hasher,
        int numGpuBlocks,
        boolean enablePrefixCaching,
        int maxModelLen,
        int watermarkBlocks,
        EvictionPolicy evictionPolicy,
        FreeOrder freeOrder,
        boolean promotesFullBlocks,
        boolean recordsEvents,
        PrefixUnit prefixUnit,
        boolean sharesWithinStep,
        PrefixOptions prefixes,
        @Nullable ConnectorSpec connector,
        @Nullable KvGroups groups)
        implements KvCacheSpec, KvCacheConfigBuilder.With {

    /** Checks the ranges. */
    public KvCacheConfig {
        if (numGpuBlocks < prefixUnit.minBlocks() || maxModelLen < 1 || watermarkBlocks < 0) {
            throw new IllegalArgumentException("numGpuBlocks " + numGpuBlocks + ", maxModelLen " + maxModelLen
                    + ", watermarkBlocks " + watermarkBlocks);
        }
    }

    /** Returns a cache that works as vLLM V1 does by default, with sequences of any length, and records events. */
    public static KvCacheConfig vllm(BlockHasher hasher, int numGpuBlocks) {
        return KvCacheConfigBuilder.builder()
                .hasher(hasher)
                .numGpuBlocks(numGpuBlocks)
                .enablePrefixCaching(true)
                .maxModelLen(Integer.MAX_VALUE)
                .watermarkBlocks(0)
                .evictionPolicy(EvictionPolicy.LRU)
                .freeOrder(FreeOrder.UNHASHED_FIRST)
                .promotesFullBlocks(false)
                .recordsEvents(true)
                .prefixUnit(PrefixUnit.BLOCK)
                .sharesWithinStep(true)
                .prefixes(PrefixOptions.VLLM)
                .build();
    }

    @Override
    public long maxTokens() {
        if (groups != null) {
            return groups.maxTokens(numGpuBlocks - 1, maxModelLen);
        }
        return prefixUnit.maxTokens(numGpuBlocks, blockSize());
    }

    @Override
    public boolean isResizable() {
        return prefixUnit == PrefixUnit.BLOCK && !findsBySession() && groups == null;
    }

    @Override
    public boolean findsBySession() {
        return enablePrefixCaching && prefixes.sessions() != SessionMode.OFF;
    }

    /**
     * Returns by how many tokens a request may grow before it must ask the memory again: the size of a block, or 1
     * where blocks are given back on the way.
     */
    public int growthUnit() {
        return groups == null ? blockSize() : 1;
    }

    @Override
    public int blockSize() {
        return hasher.blockSize();
    }

    @Override
    public boolean publishesEvents() {
        return prefixUnit == PrefixUnit.BLOCK && !findsBySession();
    }

    @Override
    public boolean takesConnector() {
        return isResizable() && sharesWithinStep;
    }

    @Override
    public boolean dropsLastHit() {
        return prefixes.dropsLastHit();
    }

    @Override
    public String groupsReason() {
        return groups == null ? "" : groups.reason();
    }
}

package understudy.kvcache;

import io.soabase.recordbuilder.core.RecordBuilder;
import understudy.prompt.BlockHasher;

/**
 * Sizes and switches that every memory of blocks has, under vLLM's names.
 *
 * @param hasher turns tokens into block hashes; it carries {@code block-size}
 * @param numGpuBlocks physical blocks, the null block included; at least 2
 * @param enablePrefixCaching whether full blocks stay findable
 * @param maxModelLen longest sequence in tokens, prompt and output together; at least 1
 * @param watermarkBlocks blocks that an admission leaves free while something runs, at least 0
 * @param recordsEvents whether to collect {@link KvEvent}s
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record KvBlocks(
        BlockHasher hasher,
        int numGpuBlocks,
        boolean enablePrefixCaching,
        int maxModelLen,
        int watermarkBlocks,
        boolean recordsEvents)
        implements KvBlocksBuilder.With {

    /** Checks the ranges. */
    public KvBlocks {
        if (numGpuBlocks < PrefixUnit.BLOCK.minBlocks() || maxModelLen < 1 || watermarkBlocks < 0) {
            throw new IllegalArgumentException("numGpuBlocks " + numGpuBlocks + ", maxModelLen " + maxModelLen
                    + ", watermarkBlocks " + watermarkBlocks);
        }
    }

    /** Returns blocks that stay findable, for sequences of any length, with events. */
    public static KvBlocks of(BlockHasher hasher, int numGpuBlocks) {
        return KvBlocksBuilder.builder()
                .hasher(hasher)
                .numGpuBlocks(numGpuBlocks)
                .enablePrefixCaching(true)
                .maxModelLen(Integer.MAX_VALUE)
                .recordsEvents(true)
                .build();
    }

    /** Returns the tokens per block, or per hash where blocks have several sizes. */
    public int blockSize() {
        return hasher.blockSize();
    }
}

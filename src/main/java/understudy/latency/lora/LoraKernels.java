package understudy.latency.lora;

import understudy.latency.BatchShape;

/**
 * Time of vLLM's kernels for LoRA adapters ({@code vllm/lora/ops/triton_ops/lora_shrink_op.py}, {@code lora_expand_op.py}).
 *
 * <p>Each is launched over a grid of thread blocks: blocks of tokens, of inputs or outputs, and of the slots of the GPU,
 * whether they are in use or not, unless {@code specialize_active_lora} is set. A block without work leaves at once, but
 * so many of them take time; one with work reads a block of an adapter's weights. Steps without any adapter run without
 * these kernels, as with vLLM's {@code cudagraph_specialize_lora}.
 *
 * <p>The sizes of blocks are the defaults of {@code get_lora_op_configs} in {@code triton_ops/utils.py}; the logits' kernels
 * are left out. The three times were fitted to measured median ITLs of Llama-3.1-8B on an H100 (vLLM 0.8.5, batches of 32
 * to 220, 1 to 96 adapters of rank 8 to 32 in 100 or 300 slots), which they give back within 10 %: {@code
 * predictor_latency_overhead} of github.com/FerranAgulloLopez/GPULLMAdapterOptimization. They are taken for other GPUs,
 * too.
 *
 * @param size of an adapter
 * @param maxRank for which kernels are made, whatever an adapter's own
 * @param maxLoras slots on the GPU
 * @param specializesActive whether kernels are launched for the adapters in use alone, up to the next power of two
 * @param kernelNanos fixed time of one kernel
 */
public record LoraKernels(AdapterSize size, int maxRank, int maxLoras, boolean specializesActive, double kernelNanos) {
    private static final double EMPTY_BLOCK_NANOS = 0.72;
    private static final double SHRINK_BLOCK_NANOS = 31.7;
    private static final double EXPAND_BLOCK_NANOS = 20.5;
    private static final int SHRINK_TOKENS = 32;
    private static final int SHRINK_RANKS = 16;
    private static final int EXPAND_TOKENS = 64;
    private static final int SMALL_STEP_TOKENS = 128;
    private static final int SPLITS_OF_SMALL_STEP = 64;
    private static final int SPLITS_OF_LARGE_STEP = 8;

    /** Returns the time that the kernels add to a step. */
    public double nanos(BatchShape batch) {
        var loras = batch.loras();
        if (loras.numAdapters() == 0) {
            return 0;
        }
        return size.numKernels() * kernelNanos
                + EMPTY_BLOCK_NANOS * numBlocks(batch.numTokens()) * numSlots(loras.numAdapters())
                + SHRINK_BLOCK_NANOS * tiles(loras, SHRINK_TOKENS) * rankBlocks() * size.inputBlocks()
                + EXPAND_BLOCK_NANOS * tiles(loras, EXPAND_TOKENS) * size.outputBlocks();
    }

    /** Thread blocks of all kernels for one slot. */
    private double numBlocks(int numTokens) {
        int splits = numTokens < SMALL_STEP_TOKENS ? SPLITS_OF_SMALL_STEP : SPLITS_OF_LARGE_STEP;
        double shrink = (double) splits * ceilDiv(numTokens, SHRINK_TOKENS) * rankBlocks() * size.numMatrices();
        return shrink + (double) ceilDiv(numTokens, EXPAND_TOKENS) * size.gridBlocks();
    }

    /** One slot more than there are stands for the tokens without adapter. */
    private int numSlots(int numActive) {
        int all = maxLoras + 1;
        return specializesActive ? Math.min(all, nextPowerOfTwo(numActive)) : all;
    }

    private static int nextPowerOfTwo(int number) {
        return number == 1 ? 1 : Integer.highestOneBit(number - 1) << 1;
    }

    private int rankBlocks() {
        return ceilDiv(maxRank, SHRINK_RANKS);
    }

    /** Blocks of tokens of all adapters, as if each had as many tokens as the others. */
    private static double tiles(BatchShape.Loras loras, int tokensPerTile) {
        return loras.numAdapters() * Math.ceil(loras.numTokens() / ((double) loras.numAdapters() * tokensPerTile));
    }

    private static int ceilDiv(int number, int divisor) {
        return (number + divisor - 1) / divisor;
    }
}

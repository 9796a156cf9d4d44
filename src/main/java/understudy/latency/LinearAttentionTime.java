package understudy.latency;

import understudy.latency.LlmSpec.LinearAttention;

/**
 * Time of linear attention (Gated DeltaNet) in all layers that have it, on one GPU of a tensor-parallel group, beside
 * projections, convolution and norms: what happens to the states.
 *
 * <p>A decode reads its states, changes and writes them, once more for each draft that it verifies, since the engine goes on
 * from that of the last accepted one. A prefill chunk goes by blocks of 64 tokens (<a
 * href="https://arxiv.org/abs/2412.06464">Gated DeltaNet</a>, section 3.3): products within a block are computed for all
 * blocks at a time, but a state takes one block after the other, so that the longest chunk of a step has a least time.
 */
public final class LinearAttentionTime {
    private static final int BLOCK_TOKENS = 64;
    private static final double FLOP = 2;

    private final int numLayers;
    private final GpuSpec.LinearAttention fit;
    private final double overheadMicros;
    private final double microsPerMatrices;
    private final double microsPerToken;

    /** Describes the group of GPUs. */
    public LinearAttentionTime(LinearAttention dims, GpuSpec gpu, int tensorParallelSize) {
        numLayers = dims.numLayers();
        fit = gpu.linearAttention();
        overheadMicros = gpu.elementwise().overheadMicros();
        double ranks = tensorParallelSize;
        microsPerMatrices = dims.matrixBytes() / ranks / (fit.bandwidth() * gpu.bytesPerMicro());
        microsPerToken =
                dims.numValueHeads() / ranks * flopPerTokenAndHead(dims) / (fit.compute() * gpu.flopPerMicro());
    }

    /**
     * Keys with keys, and what is made of that with keys and values; queries with keys, and that with values; all within a
     * block. The state with queries and with keys, and its change.
     */
    private static double flopPerTokenAndHead(LinearAttention dims) {
        double withinBlock = BLOCK_TOKENS * (3.0 * dims.keyHeadDim() + 2.0 * dims.valueHeadDim());
        double state = 3.0 * dims.keyHeadDim() * dims.valueHeadDim();
        return FLOP * (withinBlock + state);
    }

    /** Returns the time of a batch in all layers. */
    public double micros(BatchShape batch) {
        return numLayers * (decodeMicros(batch) + chunkMicros(batch));
    }

    private double decodeMicros(BatchShape batch) {
        int numDecodes = batch.numDecodes();
        return numDecodes == 0 ? 0 : overheadMicros + (2.0 * numDecodes + batch.numDraftTokens()) * microsPerMatrices;
    }

    private double chunkMicros(BatchShape batch) {
        if (batch.numChunks() == 0) {
            return 0;
        }
        double tokens = 0;
        int longest = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            tokens += batch.chunkTokens(i);
            longest = Math.max(longest, batch.chunkTokens(i));
        }
        return fit.chunkOverheadMicros() + longest * fit.microsPerSequentialToken() + tokens * microsPerToken;
    }
}

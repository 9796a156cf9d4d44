package understudy.latency;

import org.jspecify.annotations.Nullable;

/**
 * Time of the attention kernels of all layers on one GPU of a tensor-parallel group.
 *
 * <p>Decodes read the KV cache, prefill chunks compute pairs of tokens, in tiles of 128. A layer with a sliding window
 * does both for at most the window's tokens. Latent attention has a {@linkplain LatentAttentionTime time of its own}, and so
 * have {@linkplain LinearAttentionTime layers with linear attention}.
 */
public final class AttentionTime {
    private static final int TILE = 128;
    private static final int MANY_DECODES = 128;
    private static final double MIXED_GROWTH = 1.5;
    private static final int HEADS_PER_MULTIPROCESSOR = 4;
    private static final double FLOP_PER_ELEMENT_AND_PAIR = 4;

    private final GpuSpec.Attention fit;
    private final int numFullLayers;
    private final int numWindowLayers;
    private final int window;
    private final double microsPerKvToken;
    private final double microsPerPair;
    private final double mixedFactor;
    private final UnevenContexts uneven;
    private final double overheadMicros;
    private final double kvHeads;
    private final double mostKvHeads;
    private final @Nullable LatentAttentionTime latent;
    private final @Nullable LinearAttentionTime linear;

    /** Describes the group of GPUs. */
    public AttentionTime(LlmSpec llm, GpuSpec gpu, int tensorParallelSize, double bytesPerKvElement) {
        var attention = llm.attention();
        fit = gpu.attention();
        window = attention.window();
        numWindowLayers = llm.numWindowLayers();
        numFullLayers = llm.numAttentionLayers() - numWindowLayers;
        double heads = (double) attention.numHeads() / tensorParallelSize;
        double flopPerMicro = fit.kernel().compute() * gpu.flopPerMicro();
        microsPerKvToken = attention.kvBytesPerRank(tensorParallelSize, bytesPerKvElement)
                / (fit.kvBandwidth(bytesPerKvElement) * gpu.bytesPerMicro());
        microsPerPair = FLOP_PER_ELEMENT_AND_PAIR * heads * attention.headDim() / flopPerMicro;
        mixedFactor = fit.mixedPerGroup() * attention.numHeads() / Math.max(1, attention.numKvHeads());
        overheadMicros = fit.overheadMicros(bytesPerKvElement);
        kvHeads = Math.max(1, (double) attention.numKvHeads() / tensorParallelSize);
        mostKvHeads = fit.numMultiprocessors() == 0
                ? Double.POSITIVE_INFINITY
                : (double) HEADS_PER_MULTIPROCESSOR * fit.numMultiprocessors();
        uneven = UnevenContexts.of(llm, gpu, tensorParallelSize, bytesPerKvElement);
        latent = attention.latent() == null
                ? null
                : new LatentAttentionTime(llm, attention.latent(), gpu, tensorParallelSize, bytesPerKvElement);
        var linearAttention = llm.linearAttention();
        linear = linearAttention == null ? null : new LinearAttentionTime(linearAttention, gpu, tensorParallelSize);
    }

    /** Returns the time of all layers for a batch. */
    public double micros(BatchShape batch) {
        double micros = attentionMicros(batch);
        return linear == null ? micros : micros + linear.micros(batch);
    }

    /** Returns the time of the layers that attend to earlier tokens. */
    private double attentionMicros(BatchShape batch) {
        if (latent != null) {
            return numFullLayers * latent.micros(batch);
        }
        double micros = numFullLayers * (layerMicros(batch, Integer.MAX_VALUE) + uneven.micros(batch));
        return numWindowLayers == 0 ? micros : micros + numWindowLayers * layerMicros(batch, window);
    }

    private double mixedFactor(int numDecodes) {
        double share = Math.min(1, Math.max(0, (double) (numDecodes - MANY_DECODES / 2) / (MANY_DECODES / 2)));
        return Math.max(1, mixedFactor * (1 + (MIXED_GROWTH - 1) * share));
    }

    private double headMicros(int numDecodes) {
        return fit.microsPerDecodedHead() * Math.min(numDecodes * kvHeads, mostKvHeads);
    }

    private double layerMicros(BatchShape batch, int reach) {
        double kvTokens = reach == Integer.MAX_VALUE ? batch.decodeKvTokens() : batch.decodeKvTokensWithin(reach);
        double decode = microsPerKvToken * kvTokens;
        double fixed = overheadMicros + headMicros(batch.numDecodes());
        if (batch.numChunks() == 0) {
            return fixed + decode;
        }
        double pairs = 0;
        int longest = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            double tokens = batch.chunkTokens(i);
            int context = Math.min(batch.chunkContextTokens(i), reach);
            // The second bound is that of a window shorter than the chunk: no token sees more than the window.
            double own = fit.causalFactor() * tokens * (tokens + TILE) / 2;
            pairs += Math.min(tokens * context + own, tokens * ((double) reach + TILE));
            longest = Math.max(longest, batch.chunkTokens(i) + context);
        }
        double busy = microsPerPair * pairs + mixedFactor(batch.numDecodes()) * decode;
        return fixed + Math.max(busy, fit.microsPerChunkToken() * longest);
    }
}

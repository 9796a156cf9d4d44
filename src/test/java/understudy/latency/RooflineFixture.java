package understudy.latency;

import understudy.latency.GpuSpec.Efficiency;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.FeedForward;
import understudy.latency.LlmSpec.QkNorm;

/** A model and a GPU with round figures: 10^6 operations and 10^3 bytes per microsecond, at full efficiency, no overheads. */
final class RooflineFixture {
    static final GpuSpec GPU = gpu(0, 0);
    static final HostOverhead NO_HOST = new HostOverhead(0, 0);

    private RooflineFixture() {}

    static GpuSpec gpu(double overheadMicros, double microsPerChunkToken) {
        return gpu(overheadMicros, microsPerChunkToken, 0, 0);
    }

    static GpuSpec gpu(
            double overheadMicros, double microsPerChunkToken, int numMultiprocessors, double microsPerDecodedHead) {
        var full = new Efficiency(1, 1, overheadMicros);
        return GpuSpecBuilder.builder()
                .name("round")
                .memoryGib(1)
                .bf16Tflops(1)
                .fp8Tflops(2)
                .bandwidthGbPerSecond(1)
                .gemm(full)
                .fp8Gemm(new Efficiency(0.5, 1, overheadMicros))
                .fp4Gemm(new Efficiency(0.5, 1, overheadMicros))
                .attention(new GpuSpec.Attention(
                        full,
                        0.5,
                        2 * overheadMicros,
                        1,
                        1.5,
                        microsPerChunkToken,
                        numMultiprocessors,
                        microsPerDecodedHead,
                        latent(overheadMicros)))
                .elementwise(full)
                .allReduce(new GpuSpec.AllReduce(overheadMicros, 1, null))
                .experts(GpuSpec.Experts.alike(new GpuSpec.ExpertKernels(1, 1, 1, 0, overheadMicros, 0), 0))
                .build();
    }

    private static GpuSpec.Latent latent(double overheadMicros) {
        var decodes = new GpuSpec.LatentDecodes(1, 1, overheadMicros, Double.POSITIVE_INFINITY);
        return new GpuSpec.Latent(1, 1, decodes, decodes);
    }

    /** One layer, hidden size 10, two heads of 5 elements, one KV head, inner width 20, vocabulary of 100. */
    static LlmSpec dense() {
        return dense(new Attention(2, 1, 5, QkNorm.NONE, false, 0, 0, null), WeightFormat.BF16);
    }

    static LlmSpec dense(Attention attention, WeightFormat weights) {
        return LlmSpecBuilder.builder()
                .name("tiny")
                .numLayers(1)
                .hiddenSize(10)
                .vocabSize(100)
                .maxPositionEmbeddings(1000)
                .attention(attention)
                .feedForward(new FeedForward(20, true, 1, 0, 0, 0, 0, false, false))
                .weights(weights)
                .expertWeights(weights)
                .build();
    }

    /** The same with 8 experts of width 4, of which 2 compute a token. */
    static LlmSpec experts() {
        var attention = new Attention(2, 1, 5, QkNorm.NONE, false, 0, 0, null);
        var experts = new FeedForward(0, true, 0, 8, 2, 4, 0, false, false);
        return LlmSpecBuilder.builder()
                .name("moe")
                .numLayers(1)
                .hiddenSize(10)
                .vocabSize(100)
                .maxPositionEmbeddings(1000)
                .attention(attention)
                .feedForward(experts)
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }

    static BatchShape decodes(int numDecodes, int contextTokens) {
        var builder = new BatchShape.Builder();
        for (int i = 0; i < numDecodes; i++) {
            builder.add(1, contextTokens, true);
        }
        return builder.build();
    }

    static BatchShape chunk(int tokens, int contextTokens) {
        var builder = new BatchShape.Builder();
        builder.add(tokens, contextTokens, true);
        return builder.build();
    }

    /** Returns the time of a part of a step without the host's work, in microseconds. */
    static double part(String part, LlmSpec llm, GpuSpec gpu, Parallelism parallelism, BatchShape batch) {
        return share(part, new RooflineLatency(llm, gpu, parallelism, 2, NO_HOST), batch);
    }

    static double share(String part, LatencyModel model, BatchShape batch) {
        return model.explain(batch).stream()
                        .filter(share -> share.part().equals(part))
                        .mapToDouble(Share::nanos)
                        .sum()
                / 1e3;
    }
}

package understudy.latency;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import understudy.latency.GpuSpec.Efficiency;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.FeedForward;
import understudy.latency.LlmSpec.QkNorm;

/** What one estimate costs: 256 decodes, and the same beside a prefill chunk. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class StepEstimateBenchmark {
    private static final int DECODES = 256;

    /** A dense model of 8B weights, one of experts, and one with windows on half of its layers. */
    @Param({"dense", "experts", "windows"})
    public String llm;

    private LatencyModel model;
    private BatchShape decodes;
    private BatchShape mixed;

    @Setup
    public void create() {
        model = new RooflineLatency(llm(), gpu(), Parallelism.ofTensors(1), 2, new HostOverhead(1000, 10));
        var builder = new BatchShape.Builder();
        for (int i = 0; i < DECODES; i++) {
            builder.add(1, 1_000 + i, true);
        }
        decodes = builder.build();
        builder.add(512, 4096, true);
        mixed = builder.build();
    }

    @Benchmark
    public long decodeBatch() {
        return model.stepNanos(decodes);
    }

    @Benchmark
    public long mixedBatch() {
        return model.stepNanos(mixed);
    }

    private LlmSpec llm() {
        var dense = new FeedForward(14336, true, 32, 0, 0, 0, 0, false, false);
        var experts = new FeedForward(0, true, 0, 128, 8, 768, 0, false, false);
        var attention = new Attention(32, 8, 128, QkNorm.NONE, false, 0, 0, null);
        var windows = new Attention(32, 8, 128, QkNorm.NONE, false, 128, 16, null);
        return LlmSpecBuilder.builder()
                .name(llm)
                .numLayers(32)
                .hiddenSize(4096)
                .vocabSize(128256)
                .maxPositionEmbeddings(131072)
                .attention(llm.equals("windows") ? windows : attention)
                .feedForward(llm.equals("experts") ? experts : dense)
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }

    private static GpuSpec gpu() {
        var gemm = new Efficiency(0.7, 0.87, 3.4);
        var latent = new GpuSpec.LatentDecodes(0.74, 0.94, 17, 1.5e6);
        return GpuSpecBuilder.builder()
                .name("gpu")
                .memoryGib(80)
                .bf16Tflops(989)
                .fp8Tflops(1978)
                .bandwidthGbPerSecond(3350)
                .gemm(gemm)
                .fp8Gemm(gemm)
                .fp4Gemm(gemm)
                .attention(new GpuSpec.Attention(
                        new Efficiency(0.6, 0.85, 10),
                        0.85,
                        10,
                        1,
                        0.42,
                        0.01,
                        132,
                        0.02,
                        new GpuSpec.Latent(0.8, 512, latent, latent)))
                .elementwise(new Efficiency(1, 1, 2.5))
                .allReduce(new GpuSpec.AllReduce(8, 324, null))
                .experts(GpuSpec.Experts.alike(new GpuSpec.ExpertKernels(0.4, 0.85, 1, 0, 19.5, 0), 1.2))
                .build();
    }
}

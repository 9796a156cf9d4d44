package understudy.latency;

import java.util.List;

/**
 * A step's time from the dimensions of a model and the figures of a GPU: soft rooflines of the matrix products, bytes
 * of the element-wise kernels, pairs and bytes of attention, ring all-reduces, the head, and the host's work.
 * Tensor-parallel GPUs work in step, so one of them is computed.
 *
 * <p>The host's work for each sequence is added to the GPU's, unless the engine does it meanwhile.
 */
public final class RooflineLatency implements LatencyModel {
    private static final double NANOS_PER_MICRO = 1e3;

    private final LlmSpec llm;
    private final GpuSpec gpu;
    private final HostOverhead host;
    private final LaunchedKernels launched;
    private final LayerTime layers;
    private final AttentionTime attention;
    private final Gemm head;
    private final int dataParallelSize;
    private final ExchangeTime exchange;

    /**
     * Describes one data-parallel rank.
     *
     * @param llm the model
     * @param gpu each of the GPUs
     * @param parallelism how they share the model
     * @param bytesPerKvElement 2, or 1 with an FP8 KV cache
     * @param host time of a step beside the GPU's work
     */
    public RooflineLatency(
            LlmSpec llm, GpuSpec gpu, Parallelism parallelism, double bytesPerKvElement, HostOverhead host) {
        this.llm = llm;
        this.gpu = gpu;
        this.host = host;
        int tensorParallelSize = parallelism.tensorParallelSize();
        dataParallelSize = parallelism.dataParallelSize();
        layers = new LayerTime(llm, gpu, parallelism);
        attention = new AttentionTime(llm, gpu, tensorParallelSize, bytesPerKvElement);
        head = Gemm.unquantized(
                gpu, llm.weights().unquantizedBytes(), (double) llm.vocabSize() / tensorParallelSize, llm.hiddenSize());
        exchange = new ExchangeTime(llm, parallelism, gpu.allReduce());
        launched = new LaunchedKernels(llm, parallelism, host.execution());
    }

    @Override
    public long stepNanos(BatchShape batch) {
        int numTokens = batch.numTokens();
        int numGroupTokens = batch.numGroupTokens(dataParallelSize);
        double micros = kernelMicros(batch, numTokens, numGroupTokens);
        return LatencyModel.roundToNanos((micros + hostMicros(micros, batch)) * NANOS_PER_MICRO);
    }

    private double kernelMicros(BatchShape batch, int numTokens, int numGroupTokens) {
        return layers.micros(numTokens, numGroupTokens)
                + attention.micros(batch)
                + exchange.allReduceMicros(numTokens)
                + exchange.all2AllMicros(numTokens, numGroupTokens)
                + headMicros(batch);
    }

    @Override
    public List<String> sources() {
        return host.execution().sources();
    }

    private double hostMicros(double kernelMicros, BatchShape batch) {
        return host.microsBeyond(kernelMicros, batch, launched);
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        int numTokens = batch.numTokens();
        int numGroupTokens = batch.numGroupTokens(dataParallelSize);
        return List.of(
                share("linear", layers.micros(numTokens, numGroupTokens)),
                share("attention", attention.micros(batch)),
                share("all-reduce", exchange.allReduceMicros(numTokens)),
                share("all2all", exchange.all2AllMicros(numTokens, numGroupTokens)),
                share("head", headMicros(batch)),
                share("host", hostMicros(kernelMicros(batch, numTokens, numGroupTokens), batch)));
    }

    private static Share share(String part, double micros) {
        return new Share(part, micros * NANOS_PER_MICRO);
    }

    /** Embedding, last norm, head, sampling, and the gathering of logits. */
    private double headMicros(BatchShape batch) {
        var elementwise = gpu.elementwise();
        int numSampled = batch.numSampled();
        double bytes = 2 * 4.0 * batch.numTokens() * llm.hiddenSize() + 12.0 * numSampled * llm.vocabSize();
        return 3 * elementwise.overheadMicros()
                + bytes / (elementwise.bandwidth() * gpu.bytesPerMicro())
                + head.micros(numSampled)
                + exchange.gatherMicros();
    }
}

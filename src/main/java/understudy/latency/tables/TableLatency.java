package understudy.latency.tables;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import understudy.latency.BatchShape;
import understudy.latency.CudaGraphs;
import understudy.latency.ExchangeTime;
import understudy.latency.HostOverhead;
import understudy.latency.LatencyModel;
import understudy.latency.LaunchedKernels;
import understudy.latency.MeasuredRange;
import understudy.latency.Share;

/**
 * A step's time from NVIDIA AIConfigurator's measured kernels: those that depend on the number of tokens, summed up
 * beforehand, attention of decodes and prefill chunks, the head for the tokens that are sampled, and the host's work for
 * each sequence. Kernels of a CUDA graph take the time of the next larger size that the engine captures.
 */
public final class TableLatency implements LatencyModel {
    /** Time of the host for each sequence of a step, in microseconds. */
    public static final double HOST_MICROS_PER_SEQUENCE = 10;

    private static final double NANOS_PER_MICRO = 1e3;
    private static final int MAX_TOKENS = 32_768;
    private static final int MAX_SAMPLED = 8192;

    private final CudaGraphs graphs;
    private final KernelSum layers;
    private final KernelSum head;
    private final KernelSum experts;
    private final int dataParallelSize;
    private final ExchangeTime exchange;
    private final ToDoubleFunction<BatchShape> attention;
    private final HostOverhead host;
    private final LaunchedKernels launched;
    private final MeasuredRange range;
    private final List<String> sources;
    private final List<String> warnings;
    private final List<String> missing;

    /**
     * Reads the tables that a model needs.
     *
     * @param gpu its name in the database
     * @param versions versions of tables, or auto, by gemm, attention, moe, mla and all-reduce
     * @param placement the model on the GPUs
     * @param host time of a step beside the GPU's work
     */
    public TableLatency(
            KernelDatabase database, String gpu, Map<String, String> versions, Placement placement, HostOverhead host) {
        var choice = new TableChoice(database, gpu, versions, host.execution());
        var data = database.gpu(gpu);
        var linear = new LinearLayers(choice, data, placement);
        var attentionKernels = new AttentionKernels(choice, data, placement, linear);
        var kernels = new StepKernels(choice, data, placement, linear, host.execution(), attentionKernels);
        graphs = host.execution().graphs();
        layers = new KernelSum(kernels.layers(), graphs::padded, graphs.maxTokens(), MAX_TOKENS);
        experts = new KernelSum(kernels.ofAllRanks(), graphs::padded, graphs.maxTokens(), MAX_TOKENS);
        dataParallelSize = placement.parallelism().dataParallelSize();
        exchange = new ExchangeTime(
                placement.llm(), placement.parallelism(), placement.gpu().allReduce());
        head = new KernelSum(kernels.head(), tokens -> tokens, graphs.maxTokens(), MAX_SAMPLED);
        attention = attentionKernels.micros();
        this.host = host;
        launched = new LaunchedKernels(placement.llm(), placement.parallelism(), host.execution());
        range = new MeasuredRange(kernels.measuredTokens(), Integer.MAX_VALUE, attentionKernels.measuredContext());
        choice.note("element-wise kernels " + Ingredients.ELEMENTWISE_MICROS + " us each, host "
                + host.perSequenceMicros() + " us per sequence: empirical");
        sources = Stream.concat(choice.sources().stream(), host.execution().sources().stream())
                .toList();
        warnings = choice.warnings();
        missing = choice.missing();
    }

    @Override
    public long stepNanos(BatchShape batch) {
        double micros = kernelMicros(batch);
        return LatencyModel.roundToNanos((micros + hostMicros(micros, batch)) * NANOS_PER_MICRO);
    }

    private double kernelMicros(BatchShape batch) {
        return layers.micros(isGraph(batch), batch.numTokens())
                + expertMicros(batch)
                + attention.applyAsDouble(batch)
                + headMicros(batch);
    }

    private boolean isGraph(BatchShape batch) {
        return graphs.cover(batch, batch.numTokens());
    }

    /** Returns the time of the experts, and of the way to those of other ranks. */
    private double expertMicros(BatchShape batch) {
        int numGroupTokens = batch.numGroupTokens(dataParallelSize);
        return experts.micros(isGraph(batch), numGroupTokens)
                + exchange.all2AllMicros(batch.numTokens(), numGroupTokens);
    }

    private double headMicros(BatchShape batch) {
        return head.micros(graphs.cover(batch, batch.numSampled()), batch.numSampled());
    }

    private double hostMicros(double kernelMicros, BatchShape batch) {
        return host.microsBeyond(kernelMicros, batch, launched);
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        var shares = new ArrayList<Share>();
        for (String part : layers.parts()) {
            shares.add(share(part, layers.micros(part, isGraph(batch), batch.numTokens())));
        }
        if (!experts.parts().isEmpty()) {
            shares.add(share("experts", expertMicros(batch)));
        }
        shares.add(share("attention", attention.applyAsDouble(batch)));
        shares.add(share("head", headMicros(batch)));
        shares.add(share("host", hostMicros(kernelMicros(batch), batch)));
        return shares;
    }

    private static Share share(String part, double micros) {
        return new Share(part, micros * NANOS_PER_MICRO);
    }

    @Override
    public List<String> sources() {
        return sources;
    }

    @Override
    public List<String> warnings(int maxTokens, int maxSequences, int maxContext) {
        var all = new ArrayList<>(warnings);
        all.addAll(range.warnings(maxTokens, maxSequences, maxContext));
        return all;
    }

    /** Returns which of gemm, attention, mla, moe and all-reduce come from the roofline, at least in part. */
    public List<String> missing() {
        return missing;
    }
}

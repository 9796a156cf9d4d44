package understudy.latency.tables;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import understudy.latency.BatchShape;
import understudy.latency.ExchangeTime;
import understudy.latency.HostOverhead;
import understudy.latency.LatencyModel;
import understudy.latency.MeasuredRange;
import understudy.latency.Share;

/**
 * A step's time from NVIDIA AIConfigurator's measured kernels: those that depend on the number of tokens, summed up
 * beforehand, attention of decodes and prefill chunks, the head for the tokens that are sampled, and the host's work for
 * each sequence. Up to 512 tokens are computed in vLLM's sizes of CUDA graphs.
 */
public final class TableLatency implements LatencyModel {
    /** What a sequence costs the host in each step. */
    public static final double HOST_MICROS_PER_SEQUENCE = 10;

    private static final double NANOS_PER_MICRO = 1e3;
    private static final int MAX_TOKENS = 32_768;
    private static final int MAX_SAMPLED = 8192;
    private static final int MAX_GRAPH_TOKENS = 512;
    private static final int FINE_GRAPH_TOKENS = 256;

    private final KernelSum layers;
    private final KernelSum head;
    private final KernelSum experts;
    private final int dataParallelSize;
    private final ExchangeTime exchange;
    private final ToDoubleFunction<BatchShape> attention;
    private final HostOverhead host;
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
     * @param host what a step costs beside the GPU's work
     */
    public TableLatency(
            KernelDatabase database, String gpu, Map<String, String> versions, Placement placement, HostOverhead host) {
        var choice = new TableChoice(database, gpu, versions);
        var data = database.gpu(gpu);
        var attentionKernels = new AttentionKernels(choice, data, placement);
        var kernels = new StepKernels(choice, data, placement, attentionKernels.hasLatentTable());
        layers = new KernelSum(kernels.layers(), TableLatency::padded, MAX_TOKENS);
        experts = new KernelSum(kernels.ofAllRanks(), TableLatency::padded, MAX_TOKENS);
        dataParallelSize = placement.parallelism().dataParallelSize();
        exchange = new ExchangeTime(
                placement.llm(), placement.parallelism(), placement.gpu().allReduce());
        head = new KernelSum(kernels.head(), tokens -> tokens, MAX_SAMPLED);
        attention = attentionKernels.micros();
        this.host = host;
        range = new MeasuredRange(kernels.measuredTokens(), Integer.MAX_VALUE, attentionKernels.measuredContext());
        choice.note("element-wise kernels " + Ingredients.ELEMENTWISE_MICROS + " us each, host "
                + host.perSequenceMicros() + " us per sequence: empirical");
        sources = choice.sources();
        warnings = choice.warnings();
        missing = choice.missing();
    }

    @Override
    public long stepNanos(BatchShape batch) {
        double micros = layers.micros(batch.numTokens())
                + expertMicros(batch)
                + attention.applyAsDouble(batch)
                + head.micros(batch.numSampled())
                + host.micros(batch);
        return LatencyModel.roundToNanos(micros * NANOS_PER_MICRO);
    }

    /** Returns the time of the experts, and of the way to those of other ranks. */
    private double expertMicros(BatchShape batch) {
        int numGroupTokens = batch.numGroupTokens(dataParallelSize);
        return experts.micros(numGroupTokens) + exchange.all2AllMicros(batch.numTokens(), numGroupTokens);
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        var shares = new ArrayList<Share>();
        for (String part : layers.parts()) {
            shares.add(new Share(part, layers.micros(part, batch.numTokens()) * NANOS_PER_MICRO));
        }
        if (!experts.parts().isEmpty()) {
            shares.add(new Share("experts", expertMicros(batch) * NANOS_PER_MICRO));
        }
        shares.add(new Share("attention", attention.applyAsDouble(batch) * NANOS_PER_MICRO));
        shares.add(new Share("head", head.micros(batch.numSampled()) * NANOS_PER_MICRO));
        shares.add(new Share("host", host.micros(batch) * NANOS_PER_MICRO));
        return shares;
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

    /** Returns the tokens that vLLM's graphs compute for so many, sizes 1, 2, 4, and multiples of 8 or 16. */
    static int padded(int tokens) {
        if (tokens <= 2 || tokens > MAX_GRAPH_TOKENS) {
            return tokens;
        }
        int step = tokens <= 4 ? 4 : tokens <= FINE_GRAPH_TOKENS ? 8 : 16;
        return (tokens + step - 1) / step * step;
    }
}

package understudy.latency;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A step's time from kernel times that were measured inside an engine, interpolated, and summed up over layers.
 * All-reduces and the host's work, which such tables do not hold, come from formulas.
 *
 * <p>Attention was measured with one prefill chunk beside equally long decodes. Of several chunks, the longest-running
 * one counts with the decodes, each further one adds what it takes beyond the smallest chunk; decodes count with their
 * mean context.
 */
public final class ProfiledLatency implements LatencyModel {
    /** The kernels of a layer, and how often each runs in it; those that are missing from the tables take no time. */
    private static final Set<String> PER_LAYER =
            Set.of("qkv_proj", "qk_norm", "rotary_emb", "o_proj", "gate_up_proj", "act_fn", "down_proj");

    private static final String LAYER_NORM = "layernorm";
    private static final double NANOS_PER_MICRO = 1e3;

    private final KernelTables tables;
    private final LlmSpec llm;
    private final Parallelism parallelism;
    private final ExchangeTime exchange;
    private final HostOverhead host;
    private final LaunchedKernels launched;
    private final KernelTable[] layerKernels;
    private final KernelTable[] otherKernels;
    private final KernelTable[] samplingKernels;
    private final @Nullable ExpertLoad expertLoad;
    private final int smallestChunk;

    /**
     * Describes the group of GPUs.
     *
     * @param tables of one of them, with experts as on a single data-parallel rank
     * @param llm the model, for its number of layers and experts
     * @param parallelism how they share the model
     * @param gpu each of them, for exchanges; null if unknown, which takes a single one
     * @param host time of a step beside the GPU's work
     */
    public ProfiledLatency(
            KernelTables tables, LlmSpec llm, Parallelism parallelism, @Nullable GpuSpec gpu, HostOverhead host) {
        this.tables = tables;
        this.llm = llm;
        this.parallelism = parallelism;
        exchange = new ExchangeTime(llm, parallelism, gpu == null ? GpuSpec.AllReduce.NONE : gpu.allReduce());
        expertLoad = tables.experts() == null ? null : new ExpertLoad(llm, parallelism, 0);
        this.host = host;
        launched = new LaunchedKernels(llm, parallelism, host.execution());
        layerKernels = kernels(PER_LAYER::contains);
        otherKernels = kernels(name -> !PER_LAYER.contains(name) && !name.equals(LAYER_NORM));
        samplingKernels = tables.perSequence().values().toArray(KernelTable[]::new);
        smallestChunk = tables.attention().firstKeyAbove(0);
    }

    @Override
    public long stepNanos(BatchShape batch) {
        int numTokens = batch.numTokens();
        int numGroupTokens = batch.numGroupTokens(parallelism.dataParallelSize());
        double micros = kernelMicros(batch, numTokens, numGroupTokens);
        return LatencyModel.roundToNanos((micros + hostMicros(micros, batch)) * NANOS_PER_MICRO);
    }

    private double kernelMicros(BatchShape batch, int numTokens, int numGroupTokens) {
        return linearMicros(numTokens, numGroupTokens)
                + llm.numLayers() * attentionMicros(batch)
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
        int numGroupTokens = batch.numGroupTokens(parallelism.dataParallelSize());
        return List.of(
                new Share("linear", linearMicros(numTokens, numGroupTokens) * NANOS_PER_MICRO),
                new Share("attention", llm.numLayers() * attentionMicros(batch) * NANOS_PER_MICRO),
                new Share("all-reduce", exchange.allReduceMicros(numTokens) * NANOS_PER_MICRO),
                new Share("all2all", exchange.all2AllMicros(numTokens, numGroupTokens) * NANOS_PER_MICRO),
                new Share("head", headMicros(batch) * NANOS_PER_MICRO),
                new Share("host", hostMicros(kernelMicros(batch, numTokens, numGroupTokens), batch) * NANOS_PER_MICRO));
    }

    @Override
    public List<String> warnings(int maxTokens, int maxSequences, int maxContext) {
        return new MeasuredRange(
                        tables.maxTokens(),
                        tables.maxSequences(),
                        tables.attention().maxLastKey())
                .warnings(maxTokens, maxSequences, maxContext);
    }

    private KernelTable[] kernels(Predicate<String> isWanted) {
        return tables.dense().entrySet().stream()
                .filter(entry -> isWanted.test(entry.getKey()))
                .map(Map.Entry::getValue)
                .toArray(KernelTable[]::new);
    }

    private double linearMicros(int numTokens, int numGroupTokens) {
        double perLayer = sum(layerKernels, numTokens) + 2 * norm(numTokens);
        var experts = tables.experts();
        if (experts != null && expertLoad != null) {
            // The table has every token compute all of its experts on the one GPU.
            double tokens = expertLoad.balancedTokens(numGroupTokens) * parallelism.shareOfExperts();
            perLayer += experts.micros(tokens, expertLoad.expertsInUse(numGroupTokens));
        }
        return llm.numLayers() * perLayer;
    }

    private double norm(int numTokens) {
        var table = tables.dense().get(LAYER_NORM);
        return table == null ? 0 : table.micros(numTokens);
    }

    private double headMicros(BatchShape batch) {
        double once = sum(otherKernels, batch.numTokens()) + exchange.gatherMicros();
        return batch.numSampled() == 0 ? once : once + sum(samplingKernels, batch.numSampled());
    }

    private static double sum(KernelTable[] kernels, double x) {
        double micros = 0;
        for (var kernel : kernels) {
            micros += kernel.micros(x);
        }
        return micros;
    }

    private double attentionMicros(BatchShape batch) {
        int numDecodes = batch.numDecodes();
        double kvDecode = numDecodes == 0 ? 0 : (double) batch.decodeKvTokens() / numDecodes - 1;
        if (batch.numChunks() == 0) {
            return attention(0, 0, numDecodes, kvDecode);
        }
        double longest = 0;
        double sum = 0;
        int longestChunk = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            double alone = attention(batch.chunkTokens(i), batch.chunkContextTokens(i), 0, 0);
            sum += alone;
            if (alone > longest) {
                longest = alone;
                longestChunk = i;
            }
        }
        double others = sum - longest - (batch.numChunks() - 1) * attention(smallestChunk, 0, 0, 0);
        double mixed = attention(
                batch.chunkTokens(longestChunk), batch.chunkContextTokens(longestChunk), numDecodes, kvDecode);
        return mixed + Math.max(0, others);
    }

    /** A chunk below the smallest measured one takes as long as that: no chunk at all is another kernel. */
    private double attention(int chunk, int kvPrefill, int numDecodes, double kvDecode) {
        int atLeast = chunk == 0 ? 0 : Math.max(chunk, smallestChunk);
        return tables.attention().micros(atLeast, kvPrefill, numDecodes, kvDecode);
    }
}

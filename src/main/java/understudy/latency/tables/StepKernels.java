package understudy.latency.tables;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;
import understudy.latency.ExchangeTime;
import understudy.latency.Gemm;
import understudy.latency.LayerTime;
import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.StepExecution;
import understudy.latency.WeightFormat;

/** Kernels of a step whose time depends on its tokens alone: those of the layers, and those behind the last one. */
final class StepKernels {
    static final String LINEAR = "linear";
    static final String EXPERTS = "experts";
    static final String ALL_REDUCE = "all-reduce";
    static final String HEAD = "head";

    private static final double BYTES = 2;
    private static final double NORM_BYTES = 8;

    /** Two numbers in FP32, in elements of two bytes. */
    private static final double QK_NORM_ELEMENTS = 4;

    private final TableChoice choice;
    private final GpuData gpu;
    private final Placement at;
    private final LinearLayers linear;
    private final ElementwiseTime elementwise;
    private final LayerTime roofline;
    private final List<Kernel> layers = new ArrayList<>();
    private final List<Kernel> experts = new ArrayList<>();
    private final List<Kernel> head = new ArrayList<>();
    private double measuredTokens = Double.POSITIVE_INFINITY;

    /**
     * Collects kernels.
     *
     * @param linear linear layers
     * @param execution how the engine runs them
     * @param attention kernels of attention
     */
    StepKernels(
            TableChoice choice,
            GpuData gpu,
            Placement at,
            LinearLayers linear,
            StepExecution execution,
            AttentionKernels attention) {
        this.choice = choice;
        this.gpu = gpu;
        this.at = at;
        this.linear = linear;
        elementwise = new ElementwiseTime(Ingredients.ELEMENTWISE_MICROS, gpu.bytesPerMicro());
        roofline = new LayerTime(at.llm(), at.gpu(), at.parallelism());
        var latent = at.llm().attention().latent();
        addLinearAttention();
        if (latent == null) {
            addProjections();
        } else if (!attention.hasProjections()) {
            addLatentProjections(latent);
            if (attention.hasLatentKernels()) {
                addWaysThroughLatent(latent);
            }
        }
        addFeedForward(execution);
        addHead();
        addAllReducesAndNorms();
    }

    List<Kernel> layers() {
        return layers;
    }

    /** Returns the kernels that go by the tokens of all ranks that share the experts. */
    List<Kernel> ofAllRanks() {
        return experts;
    }

    List<Kernel> head() {
        return head;
    }

    /** Returns the most tokens that all tables were measured with. */
    int measuredTokens() {
        return (int) Math.min(Integer.MAX_VALUE, Math.min(measuredTokens, linear.measuredTokens()));
    }

    private void addProjections() {
        var llm = at.llm();
        int numLayers = llm.numAttentionLayers();
        double headDim = llm.attention().headDim();
        double outputs = at.headsPerRank() * headDim;
        double width = outputs + 2 * at.kvHeadsPerRank() * headDim;
        double gates = (llm.attention().numQueryOutputs() - 1) * outputs;
        addLinear(numLayers, llm.weights(), width + gates, llm.hiddenSize());
        addLinear(numLayers, llm.weights(), llm.hiddenSize(), outputs);
        if (gates > 0) {
            addElementwise(numLayers, 3 * BYTES * gates);
        }
        addElementwise((llm.attention().hasQkNorm() ? 2 : 1) * numLayers, 2 * BYTES * width);
        if (llm.attention().exchangesQkNorm(at.tensorParallelSize())) {
            addElementwise(numLayers, BYTES * width);
        }
        addElementwise(numLayers, 2 * BYTES * at.kvHeadsPerRank() * headDim);
    }

    /** Projections, taking apart what they made, convolution, what makes the gates, and the gated norm. */
    private void addLinearAttention() {
        var llm = at.llm();
        var attention = llm.linearAttention();
        if (attention == null) {
            return;
        }
        int numLayers = attention.numLayers();
        double ranks = at.tensorParallelSize();
        double values = attention.valueSize() / ranks;
        double gates = 2 * attention.numValueHeads() / ranks;
        addLinear(numLayers, llm.weights(), attention.convSize() / ranks + values, llm.hiddenSize());
        addLinear(numLayers, WeightFormat.BF16, gates, llm.hiddenSize());
        addLinear(numLayers, llm.weights(), llm.hiddenSize(), values);
        addElementwise(numLayers, 2 * BYTES * (attention.convSize() / ranks + values));
        addElementwise(numLayers, 2 * BYTES * attention.convSize() / ranks);
        addElementwise(numLayers, 2 * BYTES * gates);
        addElementwise(numLayers, 3 * BYTES * values);
    }

    private void addIndexer(Indexer indexer, double queryRank) {
        var llm = at.llm();
        int numLayers = llm.numLayers();
        double queries = (double) indexer.numHeads() * indexer.headDim();
        addLinear(numLayers, llm.weights(), queries, queryRank);
        addLinear(numLayers, llm.weights(), indexer.headDim(), llm.hiddenSize());
        addLinear(numLayers, WeightFormat.BF16, indexer.numHeads(), llm.hiddenSize());
        addElementwise(3 * numLayers, 2 * BYTES * indexer.headDim());
        addElementwise(2 * numLayers, 2 * BYTES * queries);
    }

    private void addLatentProjections(LatentAttention latent) {
        var llm = at.llm();
        int numLayers = llm.numLayers();
        double heads = at.headsPerRank();
        double queryWidth = heads * (latent.nopeDim() + latent.ropeDim());
        addLinear(numLayers, llm.weights(), latent.queryRank() + latent.kvRank() + latent.ropeDim(), llm.hiddenSize());
        addLinear(
                numLayers, llm.weights(), queryWidth, latent.queryRank() == 0 ? llm.hiddenSize() : latent.queryRank());
        addLinear(numLayers, llm.weights(), llm.hiddenSize(), heads * latent.valueDim());
        addElementwise(numLayers, 2 * BYTES * latent.queryRank());
        addElementwise(numLayers, 2 * BYTES * latent.kvRank());
        addElementwise(numLayers, 2 * BYTES * queryWidth);
        if (latent.indexer() != null) {
            addIndexer(latent.indexer(), latent.queryRank());
        }
    }

    /** Prompts are decompressed by one matrix; decodes, which graphs have, take in its two halves what is compressed. */
    private void addWaysThroughLatent(LatentAttention latent) {
        var llm = at.llm();
        double heads = at.headsPerRank();
        var decompression =
                linear.layer(llm.weights(), heads * (latent.nopeDim() + latent.valueDim()), latent.kvRank());
        var halves = choice.find(
                new TableChoice.Part("mla", "mla_bmm", "mla_bmm", "latent attention's halves", Dtypes.BF16),
                file -> halves(file.path(), heads));
        layers.add(new Kernel(LINEAR, llm.numLayers(), halves == null ? decompression : halves, decompression));
    }

    /** Returns the time by tokens of both batched products of so many heads, or null if a table has none. */
    static @Nullable DoubleUnaryOperator halves(Path file, double heads) {
        var rows = Rows.read(file, Set.of("op_name", "bmm_dtype", "num_tokens", "num_heads"))
                .where("bmm_dtype", Dtypes.BF16)
                .where("num_heads", heads);
        var before = rows.where("op_name", "mla_gen_pre").curve("num_tokens");
        var after = rows.where("op_name", "mla_gen_post").curve("num_tokens");
        return before == null || after == null
                ? null
                : tokens -> before.applyAsDouble(tokens) + after.applyAsDouble(tokens);
    }

    private void addFeedForward(StepExecution execution) {
        var llm = at.llm();
        var ffn = llm.feedForward();
        addDense(ffn.numDenseLayers(), ffn.intermediateSize());
        if (llm.numMoeLayers() == 0) {
            return;
        }
        addRouter();
        boolean isFused = execution.fusesSharedExperts(llm, at.parallelism());
        var times = ExpertTimes.of(choice, gpu, at, roofline);
        measuredTokens = Math.min(measuredTokens, times.maxTokens());
        experts.add(new Kernel(EXPERTS, llm.numMoeLayers(), isFused ? withOneMore(times.micros()) : times.micros()));
        if (!isFused && ffn.sharedExpertSize() > 0) {
            addDense(llm.numMoeLayers(), ffn.sharedExpertSize());
        }
        if (ffn.gatesSharedExpert()) {
            addLinear(llm.numMoeLayers(), WeightFormat.BF16, 1, llm.hiddenSize());
            addElementwise(2 * llm.numMoeLayers(), BYTES * llm.hiddenSize());
        }
    }

    /** No table has products in FP32, which tensor cores have no part in. */
    private void addRouter() {
        var llm = at.llm();
        var ffn = llm.feedForward();
        if (ffn.routesInFp32()) {
            var product = Gemm.of(at.gpu(), WeightFormat.FP32, ffn.numExperts(), llm.hiddenSize());
            layers.add(new Kernel(LINEAR, llm.numMoeLayers(), product::micros));
            addElementwise(llm.numMoeLayers(), ffn.conversionBytes(llm.hiddenSize()));
        } else {
            addLinear(llm.numMoeLayers(), WeightFormat.BF16, ffn.numExperts(), llm.hiddenSize());
        }
    }

    /** Returns the time of experts of which each token has one more: that of as many more tokens. */
    private DoubleUnaryOperator withOneMore(DoubleUnaryOperator experts) {
        choice.note("the shared expert is fused with the others");
        double numChosen = at.llm().feedForward().numExpertsPerToken();
        return tokens -> experts.applyAsDouble(tokens * (numChosen + 1) / numChosen);
    }

    private void addDense(int numLayers, double size) {
        if (numLayers > 0) {
            var llm = at.llm();
            double width = size / at.tensorParallelSize();
            int numUp = llm.feedForward().isGated() ? 2 : 1;
            addLinear(numLayers, llm.weights(), numUp * width, llm.hiddenSize());
            addLinear(numLayers, llm.weights(), llm.hiddenSize(), width);
            addElementwise(numLayers, BYTES * (numUp + 1) * width);
        }
    }

    private void addHead() {
        var llm = at.llm();
        double vocabulary = llm.vocabSize();
        head.add(new Kernel(
                HEAD, 1, linear.layer(WeightFormat.BF16, vocabulary / at.tensorParallelSize(), llm.hiddenSize())));
        head.add(new Kernel(HEAD, 2, elementwise.kernel(NORM_BYTES * vocabulary)));
    }

    private void addAllReducesAndNorms() {
        int numGpus = at.tensorParallelSize();
        int count = 2 * at.llm().numLayers();
        int hiddenSize = at.llm().hiddenSize();
        if (numGpus == 1) {
            addElementwise(count, NORM_BYTES * hiddenSize);
            return;
        }
        var part = new TableChoice.Part("all-reduce", "comm", "custom_allreduce", numGpus + "-GPU all-reduces", "");
        var table = choice.choose(part, file -> AllReduceTable.read(file, numGpus));
        if (table != null && gpu.isBlackwell()) {
            var fusion = NormFusion.of(gpu, numGpus);
            choice.note("norms are fused with all-reduces of up to " + fusion.maxTokens(hiddenSize)
                    + " tokens, as vLLM does on Blackwell");
            var norm = elementwise.kernel(NORM_BYTES * hiddenSize);
            layers.add(table.kernelWithNorm(ALL_REDUCE, count, hiddenSize, fusion, norm));
        } else {
            addElementwise(count, NORM_BYTES * hiddenSize);
            addAllReduces(table, count);
        }
        if (table != null) {
            addQkNormExchange(table);
            head.add(table.kernel(HEAD, 1, at.llm().vocabSize() / 2.0));
        }
    }

    private void addAllReduces(@Nullable AllReduceTable table, int count) {
        if (table == null) {
            var ring = new ExchangeTime(at.llm(), at.parallelism(), at.gpu().allReduce());
            layers.add(new Kernel(ALL_REDUCE, 1, ring::allReduceMicros));
            head.add(new Kernel(HEAD, 1, tokens -> ring.gatherMicros()));
        } else {
            layers.add(table.kernel(ALL_REDUCE, count, at.llm().hiddenSize()));
        }
    }

    private void addQkNormExchange(AllReduceTable table) {
        if (at.llm().attention().exchangesQkNorm(at.tensorParallelSize())) {
            layers.add(table.kernel(ALL_REDUCE, at.llm().numAttentionLayers(), QK_NORM_ELEMENTS));
        }
    }

    private void addLinear(int count, WeightFormat format, double n, double k) {
        layers.add(new Kernel(LINEAR, count, linear.layer(format, n, k)));
    }

    private void addElementwise(int count, double bytesPerToken) {
        layers.add(new Kernel(LINEAR, count, elementwise.kernel(bytesPerToken)));
    }
}

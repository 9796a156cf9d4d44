package understudy.latency.tables;

import static understudy.latency.StepExecution.VLLM;

import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import understudy.latency.AttentionTime;
import understudy.latency.BatchShape;
import understudy.latency.LatentAttentionTime;
import understudy.latency.LinearAttentionTime;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.tables.AttentionTable.Layer;
import understudy.latency.tables.TableChoice.Part;

/** Finds the tables of a model's attention. */
final class AttentionKernels {
    private static final int LATENT_HIDDEN_SIZE = 7168;
    private static final LatentAttention LATENT = new LatentAttention(1536, 512, 64, 128, 128, null);

    private final TableChoice choice;
    private final GpuData gpu;
    private final Placement at;
    private final LinearLayers linear;
    private final @Nullable TableAttention tables;
    private boolean hasLatentKernels;

    AttentionKernels(TableChoice choice, GpuData gpu, Placement at, LinearLayers linear) {
        this.choice = choice;
        this.gpu = gpu;
        this.at = at;
        this.linear = linear;
        var latent = at.llm().attention().latent();
        if (at.llm().linearAttention() != null) {
            choice.addMissing("linear attention", "linear attention");
        }
        tables = latent == null ? headed() : latent(latent);
    }

    /** Returns whether there are tables of latent attention that hold its projections, too. */
    boolean hasProjections() {
        return tables != null && at.llm().attention().latent() != null && !hasLatentKernels;
    }

    /** Returns whether there are tables of latent attention's kernels alone. */
    boolean hasLatentKernels() {
        return hasLatentKernels;
    }

    /** Returns the time of a batch in all layers. */
    ToDoubleFunction<BatchShape> micros() {
        if (tables == null) {
            return new AttentionTime(at.llm(), at.gpu(), at.tensorParallelSize(), at.bytesPerKvElement())::micros;
        }
        var linearAttention = at.llm().linearAttention();
        if (linearAttention == null) {
            return tables;
        }
        var linear = new LinearAttentionTime(linearAttention, at.gpu(), at.tensorParallelSize());
        return batch -> tables.applyAsDouble(batch) + linear.micros(batch);
    }

    /** Returns the longest sequence that decodes were measured with. */
    int measuredContext() {
        return tables == null ? Integer.MAX_VALUE : tables.full().maxContext();
    }

    private @Nullable TableAttention headed() {
        var attention = at.llm().attention();
        int numWindowLayers = at.llm().numWindowLayers();
        int numLayers = at.llm().numAttentionLayers() - numWindowLayers;
        var full = layer(0);
        if (full == null || numWindowLayers == 0) {
            return full == null ? null : new TableAttention(numLayers, full, 0, null, null);
        }
        var window = layer(attention.window());
        return window == null ? null : new TableAttention(numLayers, full, numWindowLayers, window, null);
    }

    private @Nullable AttentionTable layer(int window) {
        var layer = new Layer(
                at.headsPerRank(),
                at.kvHeadsPerRank(),
                at.llm().attention().headDim(),
                Dtypes.ofKvCache(at.bytesPerKvElement()),
                window);
        String what = String.format(
                Locale.ROOT,
                "attention, %.0f/%.0f heads x %d, %s KV%s",
                layer.heads(),
                layer.kvHeads(),
                layer.headDim(),
                layer.kvDtype(),
                window == 0 ? "" : ", window " + window);
        var prefills = choice.choose(
                new Part("attention", "attention", "context_attention", "prefill " + what, ""),
                file -> AttentionTable.prefills(file.path(), layer, gpu.bf16FlopPerMicro()));
        if (prefills == null) {
            return null;
        }
        var decodes = choice.choose(
                new Part("attention", "attention", "generation_attention", "decode " + what, ""),
                file -> AttentionTable.decodes(file.path(), layer));
        return decodes == null ? null : new AttentionTable(prefills, decodes, sequences -> 0);
    }

    private @Nullable TableAttention latent(LatentAttention latent) {
        if (latent.indexer() != null) {
            choice.addMissing("mla", "sparse attention");
            return null;
        }
        var kernels = latentKernels(latent);
        if (kernels != null) {
            hasLatentKernels = true;
            return latent(kernels, latent, false);
        }
        if (!LATENT.equals(latent) || at.llm().hiddenSize() != LATENT_HIDDEN_SIZE) {
            choice.addMissing("mla", "latent attention other than DeepSeek V3's");
            return null;
        }
        var layer = latentLayer();
        return layer == null ? null : latent(layer, latent, true);
    }

    private TableAttention latent(AttentionTable layer, LatentAttention latent, boolean haveModules) {
        var llm = at.llm();
        var time = new LatentAttentionTime(llm, latent, at.gpu(), at.tensorParallelSize(), at.bytesPerKvElement());
        double width = at.headsPerRank() * (latent.nopeDim() + latent.valueDim());
        var chunks = new LatentChunks(haveModules, time, linear.layer(llm.weights(), width, latent.kvRank()));
        return new TableAttention(llm.numLayers(), layer, 0, null, chunks);
    }

    /**
     * Returns the kernels as SGLang runs them: decodes attend to what is compressed; prompts are decompressed first, and
     * then have as many key heads as queries. Such heads were measured with keys as wide as values.
     */
    private @Nullable AttentionTable latentKernels(LatentAttention latent) {
        if (latent.kvRank() != LATENT.kvRank() || latent.ropeDim() != LATENT.ropeDim()) {
            return null;
        }
        double heads = at.headsPerRank();
        String kvDtype = Dtypes.ofKvCache(at.bytesPerKvElement());
        var decodes = choice.find(
                new Part(
                        "mla",
                        "mla",
                        "generation_mla",
                        String.format(Locale.ROOT, "decode latent attention, %.0f heads, %s KV", heads, kvDtype),
                        ""),
                // vLLM's of this table are noisy, up to 7 times too high.
                file -> file.engine().equals(VLLM.kernels())
                        ? null
                        : AttentionTable.latentDecodes(file.path(), heads, kvDtype));
        if (decodes == null) {
            return null;
        }
        var layer = new Layer(heads, heads, latent.valueDim(), Dtypes.BF16, 0);
        var prefills = choice.choose(
                new Part(
                        "attention",
                        "attention",
                        "context_attention",
                        String.format(Locale.ROOT, "prefill attention, %.0f heads x %d", heads, latent.valueDim()),
                        ""),
                file -> AttentionTable.prefills(file.path(), layer, gpu.bf16FlopPerMicro()));
        double width = (latent.nopeDim() + latent.ropeDim() + latent.valueDim()) / (2.0 * latent.valueDim());
        return prefills == null
                ? null
                : new AttentionTable(prefills.map(micros -> micros * width), decodes, sequences -> 0);
    }

    private @Nullable AttentionTable latentLayer() {
        var weights = at.llm().weights();
        String gemmDtype = Dtypes.ofLinear(weights).orElse(weights.name());
        String kvDtype = Dtypes.ofKvCache(at.bytesPerKvElement());
        double heads = at.headsPerRank();
        String what = String.format(
                Locale.ROOT, "latent attention, %.0f heads, %s weights, %s KV", heads, gemmDtype, kvDtype);
        var prefills = choice.choose(
                new Part("mla", "mla", "mla_context_module", "prefill " + what, gemmDtype),
                file -> AttentionTable.latentPrefills(file.path(), heads, kvDtype, gemmDtype));
        if (prefills == null) {
            return null;
        }
        return choice.choose(new Part("mla", "mla", "mla_generation_module", "decode " + what, gemmDtype), file -> {
            var decodes = AttentionTable.latentDecodes(file.path(), heads, kvDtype, gemmDtype);
            if (decodes == null) {
                return null;
            }
            boolean areFused = UnfusedNorms.areFused(file.path());
            if (!areFused) {
                choice.note(UnfusedNorms.NOTE);
            }
            return new AttentionTable(prefills, decodes, areFused ? n -> 0 : UnfusedNorms::micros);
        });
    }
}

package understudy.scenario;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.LinearAttention;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.WeightFormat;
import understudy.settings.Section;

/**
 * A file of {@code conf/models}, or a {@code config.json} of Hugging Face.
 *
 * @param spec the dimensions
 * @param status whether the formulas were checked on models of the kind
 * @param paramsBillion published number of weights, 0 if unknown
 * @param hasLoraEmbeddings whether vLLM keeps a place for an adapter's tables of the embedding and the head ({@code
 *     embedding_modules} of the model's class)
 * @param source source of the dimensions
 */
public record LlmFile(
        LlmSpec spec, GpuFile.Status status, double paramsBillion, boolean hasLoraEmbeddings, String source) {
    private static final int MAX = 100_000_000;
    private static final String INDEX_TOPK = "index-topk";
    private static final String VALUE_HEADS = "linear-num-value-heads";

    private enum Dtype {
        AUTO,
        FP32,
        FLOAT32,
        BF16,
        BFLOAT16,
        FP16,
        FLOAT16,
        FP8,
        FP8_BLOCK,
        INT4,
        MXFP4,
        NVFP4
    }

    /** Returns the same source of other dimensions. */
    LlmFile withSpec(LlmSpec other) {
        return new LlmFile(other, status, paramsBillion, hasLoraEmbeddings, source);
    }

    /** Finds the model that {@code key} of a section names, by name or by path. */
    static LlmFile find(Section section, String key) {
        String name = section.text(key);
        if (HuggingFaceConfig.isOne(name)) {
            return HuggingFaceConfig.read(Path.of(name));
        }
        if (SpecFiles.isPath(name)) {
            return read(SpecFiles.MODELS.read(Path.of(name)));
        }
        return SpecFiles.MODELS
                .find(name)
                .map(LlmFile::read)
                .orElseThrow(() -> section.unusable(key, SpecFiles.MODELS.allowed(name)));
    }

    public static LlmFile read(Section file) {
        var weights = format(file, "dtype", WeightFormat.BF16);
        int numLayers = positive(file, "num-hidden-layers");
        var spec = LlmSpecBuilder.builder()
                .name(file.text("name"))
                .numLayers(numLayers)
                .hiddenSize(positive(file, "hidden-size"))
                .vocabSize(positive(file, "vocab-size"))
                .tiesEmbeddings(file.bool("tie-word-embeddings"))
                .maxPositionEmbeddings(positive(file, "max-position-embeddings"))
                .attention(attention(file, numLayers))
                .linearAttention(linearAttention(file, numLayers))
                .feedForward(feedForward(file, numLayers))
                .weights(weights)
                .expertWeights(format(file, "expert-dtype", weights))
                .build();
        return new LlmFile(
                spec,
                file.choice("status", GpuFile.Status.class),
                file.number("params-billion", 0, MAX),
                file.bool("lora-embeddings"),
                file.text("source"));
    }

    /** Returns the format that a key names, {@code auto} standing for {@code otherwise}. */
    static WeightFormat format(Section section, String key, WeightFormat otherwise) {
        var dtype = section.choice(key, Dtype.class);
        return switch (dtype) {
            case AUTO -> otherwise;
            case FP32, FLOAT32 -> WeightFormat.FP32;
            case BF16, BFLOAT16, FP16, FLOAT16 -> WeightFormat.BF16;
            case FP8, FP8_BLOCK, INT4, MXFP4, NVFP4 -> WeightFormat.valueOf(dtype.name());
        };
    }

    private static LlmSpec.Attention attention(Section file, int numLayers) {
        int numHeads = positive(file, "num-attention-heads");
        int numKvHeads = file.wholeNumber("num-key-value-heads", 0, numHeads);
        int headDim = file.wholeNumber("head-dim", 0, MAX);
        int kvRank = file.wholeNumber("kv-lora-rank", 0, MAX);
        if (kvRank == 0 && file.wholeNumber(INDEX_TOPK, 0, MAX) > 0) {
            throw file.unusable(INDEX_TOPK, "which needs kv-lora-rank");
        }
        return new LlmSpec.Attention(
                numHeads,
                numKvHeads == 0 ? numHeads : numKvHeads,
                headDim == 0 ? Math.max(1, positive(file, "hidden-size") / numHeads) : headDim,
                qkNorm(file),
                file.bool("attn-output-gate"),
                file.wholeNumber("sliding-window", 0, MAX),
                file.wholeNumber("num-window-layers", 0, numLayers),
                kvRank == 0
                        ? null
                        : new LatentAttention(
                                file.wholeNumber("q-lora-rank", 0, MAX),
                                kvRank,
                                positive(file, "qk-rope-head-dim"),
                                positive(file, "qk-nope-head-dim"),
                                positive(file, "v-head-dim"),
                                indexer(file)));
    }

    private static QkNorm qkNorm(Section file) {
        return file.bool("qk-norm") ? file.choice("qk-norm-type", QkNorm.class) : QkNorm.NONE;
    }

    private static @Nullable Indexer indexer(Section file) {
        int topK = file.wholeNumber(INDEX_TOPK, 0, MAX);
        if (topK > 0 && file.wholeNumber("q-lora-rank", 0, MAX) == 0) {
            throw file.unusable(INDEX_TOPK, "which needs q-lora-rank");
        }
        return topK == 0 ? null : new Indexer(positive(file, "index-n-heads"), positive(file, "index-head-dim"), topK);
    }

    private static @Nullable LinearAttention linearAttention(Section file, int numLayers) {
        int numLinearLayers = file.wholeNumber("num-linear-layers", 0, numLayers - 1);
        if (numLinearLayers == 0) {
            return null;
        }
        if (file.wholeNumber("sliding-window", 0, MAX) > 0 && file.wholeNumber("num-window-layers", 0, numLayers) > 0) {
            throw file.unusable(
                    "num-linear-layers", "but num-window-layers is not 0, too, and both are not emulated together");
        }
        int keyHeads = positive(file, "linear-num-key-heads");
        int valueHeads = positive(file, VALUE_HEADS);
        if (valueHeads % keyHeads != 0) {
            throw file.unusable(VALUE_HEADS, "must be a multiple of linear-num-key-heads, which is " + keyHeads);
        }
        return new LinearAttention(
                numLinearLayers,
                keyHeads,
                valueHeads,
                positive(file, "linear-key-head-dim"),
                positive(file, "linear-value-head-dim"),
                positive(file, "linear-conv-kernel-dim"),
                format(file, "mamba-ssm-dtype", WeightFormat.BF16).bytes());
    }

    private static LlmSpec.FeedForward feedForward(Section file, int numLayers) {
        int numExperts = file.wholeNumber("num-experts", 0, MAX);
        boolean hasExperts = numExperts > 0;
        int numDense = hasExperts ? file.wholeNumber("first-k-dense-replace", 0, numLayers) : numLayers;
        int least = numDense > 0 ? 1 : 0;
        return new LlmSpec.FeedForward(
                file.wholeNumber("intermediate-size", least, MAX),
                file.bool("gated-mlp"),
                numDense,
                numExperts,
                hasExperts ? file.wholeNumber("num-experts-per-tok", 1, numExperts) : 0,
                hasExperts ? positive(file, "moe-intermediate-size") : 0,
                hasExperts ? file.wholeNumber("shared-expert-intermediate-size", 0, MAX) : 0,
                hasExperts && file.bool("shared-expert-gate"),
                hasExperts && format(file, "router-dtype", WeightFormat.BF16) == WeightFormat.FP32);
    }

    private static int positive(Section file, String key) {
        return file.wholeNumber(key, 1, MAX);
    }
}

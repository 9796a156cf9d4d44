package understudy.scenario;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.json.Jackson;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.LinearAttention;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.WeightFormat;
import understudy.settings.ScenarioException;

/**
 * Reads the dimensions of a model from a Hugging Face {@code config.json}. Names that differ from family to family are
 * all known; what a multimodal model keeps in {@code text_config} is taken from there. Keys it does not know are passed
 * over.
 *
 * <p>Deviation: experts are taken to be in all layers behind {@code first_k_dense_replace}, or to begin with the first
 * layer if only every n-th has them, which keeps their number.
 */
final class HuggingFaceConfig {
    private static final String FILE = "config.json";
    private static final int MAX = 100_000_000;

    /** Families whose layers are like those of models that the formulas were held against. */
    private static final Set<String> KNOWN =
            Set.of("llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gpt2", "gpt_oss", "internlm2", "yi");

    private static final Set<String> UNGATED = Set.of(
            "gpt2",
            "gpt_neox",
            "gptj",
            "gpt_neo",
            "gpt_bigcode",
            "opt",
            "bloom",
            "falcon",
            "phi",
            "mpt",
            "starcoder2",
            "nemotron");
    private static final Set<String> QK_NORM = Set.of(
            "qwen3",
            "qwen3_moe",
            "qwen3_vl_text",
            "qwen3_vl_moe_text",
            "qwen3_next",
            "qwen3_5_text",
            "qwen3_5_moe_text",
            "gemma3",
            "gemma3_text",
            "olmo2",
            "olmoe");

    /** Families whose classes in vLLM normalize queries and keys over all heads ({@code minimax_m2.py}). */
    private static final Set<String> NORMS_PER_LAYER = Set.of("minimax_m2");

    /** Families whose routers are in FP32 in vLLM ({@code minimax_m2.py}, {@code glm4_moe.py}). */
    private static final Set<String> FP32_ROUTERS = Set.of("minimax_m2", "glm4_moe");

    private static final Set<String> SHARED_EXPERT_GATE = Set.of("qwen2_moe", "qwen3_next", "qwen3_5_moe_text");
    private static final Set<String> OUTPUT_GATE = Set.of("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text");
    private static final Set<String> TIED = Set.of("gpt2", "gemma", "gemma2", "gemma3", "gemma3_text", "opt", "bloom");

    /** Families whose classes in vLLM have {@code embedding_modules}; Mistral and Qwen have none. */
    private static final Set<String> LORA_EMBEDDINGS = Set.of("llama", "mixtral", "yi");

    private static final String LAYER_TYPES = "layer_types";
    private static final String LINEAR_ATTENTION = "linear_attention";
    private static final String VALUE_HEADS = "linear_num_value_heads";
    private static final String INDEX_TOPK = "index_topk";

    private final JsonFields json;
    private final String family;
    private final int numLayers;
    private final int hidden;

    private HuggingFaceConfig(JsonFields json) {
        this.json = json;
        family = json.text("model_type");
        numLayers = json.positive("num_hidden_layers", "n_layer", "n_layers", "num_layers");
        hidden = json.positive("hidden_size", "n_embd", "d_model");
        int listed = json.size(LAYER_TYPES);
        // Layers that only draft stand behind the others.
        if (listed >= 0 && listed < numLayers) {
            throw json.problem(
                    "layer_types has " + listed + " entries, must have the " + numLayers + " of num_hidden_layers");
        }
    }

    /** Returns whether a text is the path of such a file, or of a folder that has one. */
    static boolean isOne(String path) {
        return path.endsWith(".json") || Files.isRegularFile(Path.of(path).resolve(FILE));
    }

    /** Reads a file, or the one in a folder. */
    static LlmFile read(Path path) {
        var file = Files.isDirectory(path) ? path.resolve(FILE) : path;
        var root = parse(file);
        boolean isNested =
                !root.hasNonNull("hidden_size") && root.path("text_config").isObject();
        var config = new HuggingFaceConfig(new JsonFields(file.toString(), isNested ? root.get("text_config") : root));
        var spec = config.spec(nameOf(file, root), weights(file, root));
        if (spec.linearAttention() != null && spec.numWindowLayers() > 0) {
            throw config.json.problem("has layers with " + LINEAR_ATTENTION + " and others with sliding_window "
                    + spec.attention().window() + ", which are not emulated together");
        }
        boolean isKnown = spec.attention().latent() == null && KNOWN.contains(config.family);
        var status = isKnown ? GpuFile.Status.FITTED : GpuFile.Status.ASSUMED;
        return new LlmFile(spec, status, 0, LORA_EMBEDDINGS.contains(config.family), file.toString());
    }

    private static JsonNode parse(Path file) {
        ObjectReader json =
                Jackson.mapper().reader().with(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS); // as Python writes them
        try (var parser = json.createParser(file.toFile())) {
            JsonNode root = json.readTree(parser);
            if (root == null || !root.isObject()) {
                throw new ScenarioException(file + ": not a JSON object");
            }
            return root;
        } catch (JacksonException e) {
            throw new ScenarioException(file + ":" + e.getLocation().getLineNr() + ": " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new ScenarioException(file + ": cannot be read: " + e.getMessage());
        }
    }

    private static String nameOf(Path file, JsonNode root) {
        String name = root.path("_name_or_path").asText("");
        var folder = file.toAbsolutePath().getParent();
        return !name.isEmpty() ? name : folder == null ? FILE : String.valueOf(folder.getFileName());
    }

    private LlmSpec spec(String name, WeightFormat quantized) {
        var feedForward = feedForward();
        // MXFP4 is for experts alone, and so is the only quantization that leaves the rest as it is.
        boolean isForExperts = json.text("quantization_config", "quant_method").equals("mxfp4");
        return LlmSpecBuilder.builder()
                .name(name)
                .numLayers(numLayers)
                .hiddenSize(hidden)
                .vocabSize(json.positive("vocab_size"))
                .tiesEmbeddings(json.bool("tie_word_embeddings", TIED.contains(family)))
                .maxPositionEmbeddings(json.number(131_072, "max_position_embeddings", "n_positions", "max_seq_len"))
                .attention(attention())
                .linearAttention(linearAttention())
                .feedForward(feedForward)
                .weights(isForExperts ? WeightFormat.BF16 : quantized)
                .expertWeights(quantized)
                .build();
    }

    private LlmSpec.Attention attention() {
        int heads = json.positive("num_attention_heads", "n_head", "n_heads", "num_heads");
        int kvHeads = json.number(kvHeadsByDefault(heads), "num_key_value_heads", "num_kv_heads", "n_head_kv");
        if (kvHeads > heads || heads % kvHeads != 0) {
            throw json.problem("num_key_value_heads is " + kvHeads + ", which must divide the " + heads + " heads");
        }
        int window = json.bool("use_sliding_window", true) ? json.number(0, "sliding_window") : 0;
        int kvRank = json.number(0, "kv_lora_rank");
        if (kvRank == 0 && json.number(0, INDEX_TOPK) > 0) {
            throw json.problem("index_topk is " + json.number(0, INDEX_TOPK) + ", which needs kv_lora_rank");
        }
        return new LlmSpec.Attention(
                heads,
                kvHeads,
                headDim(heads),
                qkNorm(),
                json.bool("attn_output_gate", OUTPUT_GATE.contains(family)),
                window,
                window == 0 ? 0 : numWindowLayers(),
                kvRank == 0 ? null : latent(kvRank));
    }

    private QkNorm qkNorm() {
        if (!json.bool("use_qk_norm", json.bool("qk_layernorm", QK_NORM.contains(family)))) {
            return QkNorm.NONE;
        }
        return NORMS_PER_LAYER.contains(family) ? QkNorm.PER_LAYER : QkNorm.PER_HEAD;
    }

    private int headDim(int heads) {
        int given = json.number(0, "head_dim", "kv_channels");
        return given > 0 ? given : Math.max(1, hidden / heads);
    }

    private int kvHeadsByDefault(int heads) {
        return json.bool("multi_query", false) ? 1 : heads;
    }

    private int numWindowLayers() {
        int named = json.count(LAYER_TYPES, "sliding_attention", numLayers);
        if (named >= 0) {
            return named;
        }
        int pattern = json.number(0, "sliding_window_pattern");
        if (pattern > 1) {
            return numLayers - numLayers / pattern;
        }
        // Qwen2 has full attention below this layer, Gemma 2 in every other one.
        int firstWindow = json.number(0, "max_window_layers");
        return family.equals("gemma2") ? numLayers - numLayers / 2 : Math.max(0, numLayers - firstWindow);
    }

    private LatentAttention latent(int kvRank) {
        return new LatentAttention(
                json.number(0, "q_lora_rank"),
                kvRank,
                json.positive("qk_rope_head_dim"),
                json.positive("qk_nope_head_dim"),
                json.positive("v_head_dim"),
                indexer());
    }

    private @Nullable Indexer indexer() {
        int topK = json.number(0, INDEX_TOPK);
        if (topK > 0 && json.number(0, "q_lora_rank") == 0) {
            throw json.problem("index_topk is " + topK + ", which needs q_lora_rank");
        }
        return topK == 0 ? null : new Indexer(json.positive("index_n_heads"), json.positive("index_head_dim"), topK);
    }

    private @Nullable LinearAttention linearAttention() {
        boolean isListed = json.count(LAYER_TYPES, LINEAR_ATTENTION, numLayers) > 0;
        int count = isListed || json.number(0, VALUE_HEADS) > 0 ? numLinearLayers() : 0;
        if (count == 0) {
            return null;
        }
        int keyHeads = json.positive("linear_num_key_heads");
        int valueHeads = json.positive(VALUE_HEADS);
        if (valueHeads % keyHeads != 0) {
            throw json.problem(VALUE_HEADS + " is " + valueHeads + ", must be a multiple of the " + keyHeads
                    + " of linear_num_key_heads");
        }
        boolean isFloat = json.text("mamba_ssm_dtype").equals("float32");
        return new LinearAttention(
                count,
                keyHeads,
                valueHeads,
                json.positive("linear_key_head_dim"),
                json.positive("linear_value_head_dim"),
                json.positive("linear_conv_kernel_dim"),
                isFloat ? Float.BYTES : Short.BYTES);
    }

    private int numLinearLayers() {
        int named = json.count(LAYER_TYPES, LINEAR_ATTENTION, numLayers);
        int interval = json.number(4, "full_attention_interval");
        if (interval == 0) {
            throw json.problem("full_attention_interval is 0, must be at least 1");
        }
        int count = named >= 0 ? named : numLayers - numLayers / interval;
        if (count >= numLayers) {
            throw json.problem("none of the " + numLayers + " layers has full_attention");
        }
        return count;
    }

    private LlmSpec.FeedForward feedForward() {
        int experts = json.number(0, "num_local_experts", "num_experts", "n_routed_experts");
        boolean isGated = !UNGATED.contains(family);
        if (experts < 2) {
            return new LlmSpec.FeedForward(denseSize(), isGated, numLayers, 0, 0, 0, 0, false, false);
        }
        int size = json.number(0, "moe_intermediate_size", "expert_intermediate_size");
        int expertSize = size == 0 ? json.positive("intermediate_size") : size;
        int dense = numDenseLayers();
        int shared = json.number(
                json.number(0, "n_shared_experts", "num_shared_experts") * expertSize,
                "shared_expert_intermediate_size");
        int perToken = json.positive("num_experts_per_tok", "num_experts_per_token", "moe_topk");
        return new LlmSpec.FeedForward(
                dense == 0 ? 0 : denseSize(),
                isGated,
                dense,
                experts,
                Math.min(perToken, experts),
                expertSize,
                shared,
                shared > 0 && SHARED_EXPERT_GATE.contains(family),
                FP32_ROUTERS.contains(family));
    }

    private int numDenseLayers() {
        int listed = json.count("moe_layer_freq", "0", numLayers);
        if (listed >= 0) {
            return listed;
        }
        int step = Math.max(1, json.number(1, "decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step"));
        int named = Math.max(0, json.size("mlp_only_layers"));
        int first = json.number(0, "first_k_dense_replace");
        return Math.min(numLayers, first + named + (numLayers - first) - (numLayers - first) / step);
    }

    private int denseSize() {
        int size =
                json.number(0, "intermediate_size_mlp", "intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size");
        if (size == 0 && !UNGATED.contains(family)) {
            throw json.problem("intermediate_size is missing");
        }
        return size == 0 ? Math.min(MAX, 4 * hidden) : size;
    }

    private static WeightFormat weights(Path file, JsonNode root) {
        var quantization = root.path("quantization_config");
        if (quantization.isObject()) {
            return quantized(file, quantization);
        }
        // vLLM's dtype = auto stores 32-bit weights in 16 bits; latency.dtype can say otherwise.
        return WeightFormat.BF16;
    }

    private static WeightFormat quantized(Path file, JsonNode quantization) {
        String all = quantization.toString().toLowerCase(Locale.ROOT).replace(" ", "");
        String method = quantization.path("quant_method").asText("").toLowerCase(Locale.ROOT);
        boolean isFloat = all.contains("\"type\":\"float\"");
        boolean hasEightBits = all.contains("\"num_bits\":8");
        if (all.contains("nvfp4") || all.contains("mxfp4")) {
            return all.contains("nvfp4") ? WeightFormat.NVFP4 : WeightFormat.MXFP4;
        }
        if (method.contains("fp8") || all.contains("\"quant_algo\":\"fp8\"") || (hasEightBits && isFloat)) {
            boolean hasBlocks = all.contains("\"weight_block_size\":[") || all.contains("\"strategy\":\"block\"");
            return hasBlocks ? WeightFormat.FP8_BLOCK : WeightFormat.FP8;
        }
        boolean hasFourBits =
                all.contains("\"bits\":4") || all.contains("\"num_bits\":4") || all.contains("4bit\":true");
        if (hasFourBits || method.equals("awq")) {
            return WeightFormat.INT4;
        }
        throw new ScenarioException(file + ": quantization_config has quant_method \"" + method
                + "\", which is none of fp8, compressed-tensors with 8-bit floats, mxfp4, awq and gptq with 4 bits;"
                + " set latency.dtype for a copy without quantization_config");
    }
}

package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.LlmSpec;
import understudy.latency.WeightFormat;
import understudy.settings.ScenarioException;

/** Files of different families, reduced to the fields that matter; expected numbers are the published ones. */
final class HuggingFaceConfigTest {
    @TempDir
    private Path directory;

    @Test
    void llama_isTheBundledModel() throws IOException {
        var llm = read("""
            {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
             "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "torch_dtype": "bfloat16",
             "max_position_embeddings": 131072, "tie_word_embeddings": false, "rope_scaling": {"factor": 8.0}}
            """);
        var bundled = LlmFile.read(SpecFiles.MODELS.find("llama-3.1-8b").orElseThrow())
                .spec();

        assertThat(llm.withAllWeights(WeightFormat.BF16))
                .usingRecursiveComparison()
                .ignoringFields("name")
                .isEqualTo(bundled);
    }

    @ParameterizedTest
    @CsvSource({"llama, true", "mixtral, true", "mistral, false", "qwen3, false"})
    void tablesOfAdapters_areThoseOfTheFamily(String family, boolean hasLoraEmbeddings) throws IOException {
        Files.writeString(directory.resolve("config.json"), """
            {"model_type": "%s", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
             "num_attention_heads": 32, "vocab_size": 32000}
            """.formatted(family));

        assertThat(HuggingFaceConfig.read(directory).hasLoraEmbeddings()).isEqualTo(hasLoraEmbeddings);
    }

    @Test
    void missingKvHeadsAndHeadDim_areDerived() throws IOException {
        var llm = read("""
            {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
             "num_attention_heads": 32, "vocab_size": 32000, "head_dim": null}
            """);

        assertThat(llm.attention().numKvHeads()).isEqualTo(32);
        assertThat(llm.attention().headDim()).isEqualTo(128);
        assertThat(llm.numParams()).isCloseTo(6.738e9, withinPercentage(0.1));
    }

    @Test
    void gpt2_hasOtherNamesAndOneMatrixForBothEnds() throws IOException {
        var llm = read("""
            {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": null,
             "vocab_size": 50257}
            """);

        assertThat(llm.numParams()).isCloseTo(0.124e9, withinPercentage(0.5));
        assertThat(llm.feedForward().isGated()).isFalse();
        assertThat(llm.maxPositionEmbeddings()).isEqualTo(1024);
    }

    @Test
    void qwen3Moe_hasExpertsAndNorms() throws IOException {
        var llm = read("""
            {"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 48,
             "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936,
             "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "decoder_sparse_step": 1,
             "mlp_only_layers": [], "sliding_window": null, "use_sliding_window": false, "max_window_layers": 48}
            """);

        assertThat(llm.numParams()).isCloseTo(30.53e9, withinPercentage(0.1));
        assertThat(llm.attention().qkNorm()).isEqualTo(LlmSpec.QkNorm.PER_HEAD);
        assertThat(llm.feedForward().routesInFp32()).isFalse();
        assertThat(llm.attention().numWindowLayers()).isZero();
    }

    @Test
    void minimaxM2_normalizesOverAllHeads_andRoutesInFp32() throws IOException {
        var llm = read("""
            {"model_type": "minimax_m2", "hidden_size": 3072, "intermediate_size": 1536, "num_hidden_layers": 62,
             "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 200064,
             "num_local_experts": 256, "num_experts_per_tok": 8, "use_qk_norm": true}
            """);

        assertThat(llm.attention().qkNorm()).isEqualTo(LlmSpec.QkNorm.PER_LAYER);
        assertThat(llm.feedForward().routesInFp32()).isTrue();
    }

    @Test
    void gptOss_hasWindowsAndFourBitExperts() throws IOException {
        var llm = read("""
            {"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 4,
             "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
             "num_local_experts": 32, "num_experts_per_tok": 4, "experts_per_token": 4, "sliding_window": 128,
             "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
             "quantization_config": {"quant_method": "mxfp4"}}
            """);

        assertThat(llm.attention().window()).isEqualTo(128);
        assertThat(llm.attention().numWindowLayers()).isEqualTo(2);
        assertThat(llm.weights()).isEqualTo(WeightFormat.BF16);
        assertThat(llm.expertWeights()).isEqualTo(WeightFormat.MXFP4);
        assertThat(llm.feedForward().expertSize()).isEqualTo(2880);
    }

    /** Published: 80 billion weights. vLLM says 544 tokens of 2 x 2 x 256 x 2 bytes for a state. */
    @Test
    void qwen3Next_hasLinearAttention() throws IOException {
        var llm = read("""
            {"model_type": "qwen3_next", "hidden_size": 2048, "intermediate_size": 5120, "num_hidden_layers": 48,
             "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 151936,
             "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
             "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128,
             "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512, "decoder_sparse_step": 1,
             "mlp_only_layers": [], "shared_expert_intermediate_size": 512, "use_sliding_window": false}
            """);

        assertThat(llm.numParams()).isCloseTo(80e9, withinPercentage(0.5));
        assertThat(llm.attention().hasOutputGate()).isTrue();
        assertThat(llm.feedForward().gatesSharedExpert()).isTrue();
        assertThat(llm.linearAttention()).isEqualTo(new LlmSpec.LinearAttention(36, 16, 32, 128, 128, 4, 2));
        assertThat(llm.numAttentionLayers()).isEqualTo(12);
        // 32 x 128 x 128 elements, and 3 tokens of 2 x 16 x 128 + 32 x 128, of two bytes, in each of 36 layers.
        assertThat(llm.stateBytesPerRank(1)).isEqualTo(36 * (2 * 524_288 + 2 * 3 * 8192));
    }

    /** The fifth one drafts, and is none of the four. */
    @Test
    void layerTypesOfNestedText_areCounted() throws IOException {
        var llm = read("""
            {"model_type": "qwen3_5_moe", "text_config": {
             "model_type": "qwen3_5_moe_text", "hidden_size": 64, "num_hidden_layers": 4, "attn_output_gate": true,
             "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 100,
             "layer_types": ["linear_attention", "linear_attention", "full_attention", "linear_attention",
                             "linear_attention"],
             "linear_conv_kernel_dim": 4, "linear_key_head_dim": 8, "linear_num_key_heads": 2,
             "linear_num_value_heads": 4, "linear_value_head_dim": 8, "mamba_ssm_dtype": "float32",
             "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 16}}
            """);

        assertThat(llm.linearAttention()).isEqualTo(new LlmSpec.LinearAttention(3, 2, 4, 8, 8, 4, 4));
    }

    @Test
    void linearAttentionInAllLayers_isRefused() {
        assertThatThrownBy(() -> read("""
            {"model_type": "qwen3_next", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
             "vocab_size": 100, "intermediate_size": 64, "layer_types": ["linear_attention", "linear_attention"],
             "linear_conv_kernel_dim": 4, "linear_key_head_dim": 8, "linear_num_key_heads": 2,
             "linear_num_value_heads": 4, "linear_value_head_dim": 8}
            """)).hasMessageEndingWith("none of the 2 layers has full_attention");
    }

    /** Fields that follow those of a model of four layers, and what is said of them. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"layer_types\": [\"linear_attention\", \"full_attention\"] | layer_types has 2 entries, must have the 4"
                        + " of num_hidden_layers",
                "\"linear_num_value_heads\": 4 | linear_num_key_heads is missing, must be from 1 to 100000000",
                "\"layer_types\": [\"linear_attention\", \"a\", \"b\", \"c\"], \"linear_num_key_heads\": 2 |"
                        + " linear_num_value_heads is missing, must be from 1 to 100000000",
                "\"linear_num_value_heads\": 5, \"linear_num_key_heads\": 2 | linear_num_value_heads is 5, must be a multiple"
                        + " of the 2 of linear_num_key_heads",
                "\"linear_num_value_heads\": 4, \"full_attention_interval\": 0 | full_attention_interval is 0, must be at"
                        + " least 1",
                "\"linear_num_value_heads\": -4 | linear_num_value_heads is -4, must be a whole number from 0 to 100000000",
                "\"linear_num_value_heads\": 4, \"linear_num_key_heads\": 2, \"linear_key_head_dim\": 8,"
                        + " \"linear_value_head_dim\": 8, \"linear_conv_kernel_dim\": 4, \"sliding_window\": 128 | has layers"
                        + " with linear_attention and others with sliding_window 128, which are not emulated together",
                "\"index_topk\": 2048 | index_topk is 2048, which needs kv_lora_rank",
                "\"index_topk\": 2048, \"kv_lora_rank\": 512, \"qk_rope_head_dim\": 64, \"qk_nope_head_dim\": 64,"
                        + " \"v_head_dim\": 64 | index_topk is 2048, which needs q_lora_rank"
            })
    void fieldsThatDoNotFit_areRefused(String fields, String problem) {
        assertThatThrownBy(() -> read("""
            {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 100,
             "intermediate_size": 64, %s}
            """.formatted(fields)))
                .isInstanceOf(ScenarioException.class)
                .hasMessageEndingWith("config.json: " + problem);
    }

    /** Published: 744 billion weights. Vectors of 512 + 64 elements, or in FP8 656 bytes; a key of 132 bytes beside each. */
    @Test
    void glm5_hasAnIndexer() throws IOException {
        var llm = read("""
            {"model_type": "glm_moe_dsa", "hidden_size": 6144, "intermediate_size": 12288, "num_hidden_layers": 78,
             "num_attention_heads": 64, "num_key_value_heads": 64, "vocab_size": 154880, "n_routed_experts": 256,
             "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1, "moe_layer_freq": 1,
             "first_k_dense_replace": 3, "q_lora_rank": 2048, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
             "qk_nope_head_dim": 192, "v_head_dim": 256, "index_topk": 2048, "index_n_heads": 32,
             "index_head_dim": 128,
             "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}}
            """);

        assertThat(llm.numParams()).isCloseTo(744e9, withinPercentage(0.1));
        assertThat(llm.kvBytesPerTokenPerRank(8, 2)).isEqualTo(78 * (576 * 2 + 132));
        assertThat(llm.kvBytesPerTokenPerRank(8, 1)).isEqualTo(78 * (656 + 132));
    }

    @Test
    void deepseek_hasLatentAttentionSharedExpertsAndDenseLayers() throws IOException {
        var llm = read("""
            {"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
             "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 129280, "n_routed_experts": 256,
             "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1, "moe_layer_freq": 1,
             "first_k_dense_replace": 3, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
             "qk_nope_head_dim": 128, "v_head_dim": 128,
             "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}}
            """);

        assertThat(llm.numParams()).isCloseTo(671e9, withinPercentage(0.1));
        assertThat(llm.kvBytesPerTokenPerRank(8, 2))
                .as("61 * (512 + 64) * 2, on every GPU")
                .isEqualTo(70_272);
        assertThat(llm.weights()).isEqualTo(WeightFormat.FP8_BLOCK);
    }

    @Test
    void multimodal_keepsItsModelInTextConfig() throws IOException {
        var llm = read("""
            {"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": {"model_type": "gemma3_text",
             "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "num_attention_heads": 8,
             "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208, "sliding_window": 1024,
             "sliding_window_pattern": 6}}
            """);

        // Every sixth of 34 layers is full: 5, so 29 have the window. 3.88 billion weights without the vision tower.
        assertThat(llm.attention().numWindowLayers()).isEqualTo(29);
        assertThat(llm.numParams()).isCloseTo(3.88e9, withinPercentage(0.5));
    }

    @Test
    void layersWithExperts_mayBeListed() throws IOException {
        var llm = read(small("\"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8,"
                + " \"intermediate_size\": 16, \"moe_layer_freq\": [0, 1], \"rope_theta\": Infinity"));

        assertThat(llm.feedForward().numDenseLayers()).isEqualTo(1);
        assertThat(llm.numMoeLayers()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"weights\":"
                        + " {\"num_bits\": 8, \"type\": \"float\"}}}} | FP8",
                "{\"quant_method\": \"fbgemm_fp8\"} | FP8",
                "{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\"} | FP8",
                "{\"quant_method\": \"awq\", \"bits\": 4} | INT4",
                "{\"quant_method\": \"gptq\", \"bits\": 4} | INT4"
            })
    void quantization_isRecognized(String quantization, WeightFormat format) throws IOException {
        assertThat(read(small("\"quantization_config\": " + quantization)).weights())
                .isEqualTo(format);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"quantization_config\": {\"quant_method\": \"hqq\"} | quant_method \"hqq\"",
                "\"num_key_value_heads\": \"many\" | num_key_value_heads is \"many\", must be a whole number",
                "\"num_key_value_heads\": 8 | num_key_value_heads is 8, which must divide the 4 heads",
                "\"num_key_value_heads\": 3 | num_key_value_heads is 3, which must divide the 4 heads",
                "\"intermediate_size\": null | intermediate_size is missing",
                "\"vocab_size\": -4 | vocab_size is -4, must be a whole number from 0"
            })
    void fileThatCannotBeUsed_isOneClearLine(String field, String problem) {
        assertThatThrownBy(() -> read(small(field)))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("config.json: ")
                .hasMessageContaining(problem);
    }

    @Test
    void missingField_isNamed() {
        assertThatThrownBy(() -> read("{\"hidden_size\": 10}"))
                .hasMessageContaining("config.json: num_hidden_layers is missing");
        assertThatThrownBy(() -> read("[]")).hasMessageContaining("config.json: not a JSON object");
        assertThatThrownBy(() -> read("{")).hasMessageContaining("config.json:1: ");
    }

    private static String small(String field) {
        return "{\"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 100, "
                + "\"intermediate_size\": 128, "
                + field + "}";
    }

    private LlmSpec read(String json) throws IOException {
        Files.writeString(directory.resolve("config.json"), json);
        assertThat(HuggingFaceConfig.isOne(directory.toString())).isTrue();
        return HuggingFaceConfig.read(directory).spec();
    }
}

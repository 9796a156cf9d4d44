package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.TestData;
import understudy.latency.WeightFormat;
import understudy.scenario.GpuFile;
import understudy.scenario.LlmFile;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;

/** The bundled files, and others of their form. */
final class SpecFilesTest {
    @TempDir
    private Path directory;

    @Test
    void everyModel_hasThePublishedNumberOfWeights() {
        var models = SpecFiles.MODELS.all().stream().map(LlmFile::read).toList();

        assertThat(models).hasSize(53);
        assertThat(models).allSatisfy(model -> {
            assertThat(model.spec().numParams() / 1e9)
                    .as(model.spec().name())
                    .isCloseTo(model.paramsBillion(), withinPercentage(0.5));
            assertThat(model.source()).isNotEmpty();
        });
    }

    /**
     * 2 * layers * KV heads * head width * 2 bytes; for latent attention layers * (512 + 64) * 2 bytes, and with an indexer
     * 128 + 4 bytes more for each; 15 and 12 of Qwen's layers attend.
     */
    @ParameterizedTest
    @CsvSource({
        "llama-3.1-8b, 131072",
        "llama-2-7b, 524288",
        "mistral-nemo-12b, 163840",
        "qwen2.5-7b, 57344",
        "qwen3-30b-a3b, 98304",
        "gpt2, 36864",
        "gpt-oss-120b, 73728",
        "deepseek-v3, 70272",
        "deepseek-v3.2, 78324",
        "glm-5, 100152",
        "qwen3.5-397b-a17b, 30720",
        "qwen3-next-80b-a3b, 24576"
    })
    void kvBytesPerToken_followTheHeads(String model, double bytes) {
        var spec = LlmFile.read(SpecFiles.MODELS.find(model).orElseThrow()).spec();

        assertThat(spec.kvBytesPerTokenPerRank(1, 2)).isEqualTo(bytes);
    }

    @Test
    void everyGpu_canBeRead() {
        var gpus = SpecFiles.GPUS.all().stream().map(GpuFile::read).toList();

        assertThat(gpus).hasSize(14).allSatisfy(gpu -> {
            assertThat(gpu.source()).isNotEmpty();
            assertThat(gpu.status() == GpuFile.Status.ASSUMED && gpu.assumed().isEmpty())
                    .as("an assumed GPU says what is assumed")
                    .isFalse();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"llama-3.1-8b", "Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3-8B"
            })
    void model_isFoundByItsOtherNames(String name) {
        assertThat(SpecFiles.MODELS.find(name).orElseThrow().text("name")).isEqualTo("llama-3.1-8b");
    }

    @ParameterizedTest
    @CsvSource({
        "meta-llama/Llama-3.1-70B, llama-3.1-70b, BF16",
        "nvidia/Llama-3.3-70B-Instruct, llama-3.1-70b, BF16",
        "nvidia/Llama-3.1-8B-Instruct-FP8, llama-3.1-8b-fp8, FP8",
        "openai/gpt-oss-120b, gpt-oss-120b, BF16",
        "MiniMaxAI/MiniMax-M2.5, minimax-m2.5, FP8_BLOCK",
        "moonshotai/Kimi-K2.5, kimi-k2.5, BF16",
        "Qwen/Qwen3-235B-A22B-FP8, qwen3-235b-a22b-fp8, FP8_BLOCK"
    })
    void model_isFoundByItsNameOnHuggingFace(String name, String file, WeightFormat weights) {
        var spec = LlmFile.read(SpecFiles.MODELS.find(name).orElseThrow()).spec();

        assertThat(spec.name()).isEqualTo(file);
        assertThat(spec.weights()).isEqualTo(weights);
    }

    @Test
    void coverage_isWhatADirectoryHas() {
        String tables = TestData.require("aiconfigurator").toString();

        // MiniMax's experts are 1536 wide, and an eighth of that, 192, is no multiple of the 128 of a block.
        assertThat(call("models", "--tables", tables, "--gpu", "h200", "--tensor-parallel-size", "8").out)
                .containsPattern("minimax-m2.5 +\\| fp8-block \\| fp8-block \\| moe ")
                .containsPattern("kimi-k2.5 +\\| bf16 +\\| int4 +\\|  ");
        assertThat(call("gpus", "--tables", tables).out)
                .containsPattern("h200 +\\| h200_sxm +\\| gemm/gemm +\\| 0.24.0, 0.19.0, 0.18.0, 0.14.0 ");
    }

    @Test
    void directoryWithoutTables_isNamed() {
        assertThat(call("gpus", "--tables", directory.toString()).err)
                .isEqualTo(directory + ": has no GPU.yaml with a folder data/GPU\n");
        assertThat(call("models", "--tables", directory.toString(), "--gpu", "h200").err)
                .isEqualTo(directory + ": has no tables of h200_sxm, but of []\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"h100-sxm", "H100", "NVIDIA H100 SXM", "h100_sxm"})
    void gpu_isFoundByItsOtherNames(String name) {
        assertThat(SpecFiles.GPUS.find(name).orElseThrow().text("name")).isEqualTo("h100-sxm");
    }

    @Test
    void commands_listThem() {
        assertThat(call("models").out).contains("qwen3-30b-a3b", "8 of 128 x 768", "deepseek-v3", "assumed");
        assertThat(call("gpus").out).contains("rtx-4090", "fitted", "h20");
    }

    @Test
    void gpuOfOnesOwn_hasTheGenericEfficiencies() throws IOException {
        var file = Files.writeString(
                directory.resolve("mine.conf"),
                "name = mine, memory-gib = 10, bf16-tflops = 100, bandwidth-gb-per-s = 1000");

        var gpu = GpuFile.read(SpecFiles.GPUS.read(file));

        assertThat(gpu.status()).isEqualTo(GpuFile.Status.ASSUMED);
        assertThat(gpu.spec().gemm().compute()).as("of the generic set").isEqualTo(0.7);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "memory-gib = 10, bf16-tflops = 100 | name is missing",
                "name = mine, memori-gib = 10 | :1: unknown key memori-gib; did you mean memory-gib?",
                "name = { | :1: "
            })
    void fileThatCannotBeUsed_isNamed(String text, String problem) throws IOException {
        var file = Files.writeString(directory.resolve("bad.conf"), text);

        assertThatThrownBy(() -> SpecFiles.GPUS.read(file))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageContaining(problem);
    }

    /** Keys that follow the file of a bundled model, and what is said of the first. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "llama-3.1-8b | index-topk = 2048 | needs kv-lora-rank",
                "deepseek-v3 | index-topk = 2048, q-lora-rank = 0 | needs q-lora-rank",
                "qwen3-next-80b-a3b | linear-num-value-heads = 24 | must be a multiple of linear-num-key-heads, which is 16",
                "qwen3-next-80b-a3b | num-linear-layers = 48 | must be from 0 to 47",
                "qwen3-next-80b-a3b | num-linear-layers = 36, sliding-window = 128, num-window-layers = 12 | num-window-layers"
            })
    void modelThatCannotBe_isRefused(String model, String keys, String problem) throws IOException {
        String bundled = Files.readString(Path.of("conf/models", model + ".conf"));
        var file = SpecFiles.MODELS.read(Files.writeString(directory.resolve("bad.conf"), bundled + keys));

        assertThatThrownBy(() -> LlmFile.read(file))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(keys.split(" = ", 2)[0] + " is ")
                .hasMessageContaining(problem);
    }
}

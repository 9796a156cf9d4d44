package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.latency.RooflineFixture.chunk;
import static understudy.latency.RooflineFixture.decodes;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.FeedForward;
import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.LinearAttention;
import understudy.latency.LlmSpec.QkNorm;
import understudy.scenario.LlmFile;
import understudy.scenario.SpecFiles;

/** Kernels of layers, as SGLang launches them. */
final class LaunchedKernelsTest {
    private static final Parallelism ONE_GPU = Parallelism.ofTensors(1);
    private static final Parallelism WHOLE_EXPERTS =
            new Parallelism(2, 1, true, Parallelism.All2AllBackend.ALLGATHER_REDUCESCATTER);
    private static final Attention ATTENTION = new Attention(2, 1, 5, QkNorm.NONE, false, 0, 0, null);
    private static final FeedForward DENSE = new FeedForward(20, true, 1, 0, 0, 0, 0, false, false);
    private static final StepExecution FUSING = new StepExecution("e", "e", CudaGraphs.VLLM, 0, 0, true, true);

    /** Two norms; two products, rotation, cache and attention; two products and an activation. */
    @Test
    void layer_hasTen() {
        assertThat(count(RooflineFixture.dense())).isEqualTo(2 + 5 + 3);
    }

    /** Inputs of four products are quantized. */
    @Test
    void productsInFp8_haveTwo() {
        var llm = RooflineFixture.dense(ATTENTION, WeightFormat.FP8_BLOCK);

        assertThat(count(llm)).isEqualTo(10 + 4);
        assertThat(count(llm.withWeights(WeightFormat.NVFP4))).isEqualTo(10 + 4);
        assertThat(count(llm.withWeights(WeightFormat.INT4))).isEqualTo(10);
    }

    @Test
    void normsAndGateOfAttention_haveOneEach() {
        var llm = RooflineFixture.dense(new Attention(2, 1, 5, QkNorm.PER_HEAD, true, 0, 0, null), WeightFormat.BF16);

        assertThat(count(llm)).isEqualTo(10 + 2);
    }

    /** Two GPUs sum up squares, exchange the sums, and multiply; one does all of it at once. */
    @Test
    void normOverAllHeads_isThreeOnSeveralGpus() {
        var llm = RooflineFixture.dense(new Attention(2, 2, 5, QkNorm.PER_LAYER, false, 0, 0, null), WeightFormat.BF16);

        assertThat(count(llm)).isEqualTo(10 + 1);
        assertThat(new LaunchedKernels(llm, Parallelism.ofTensors(2), StepExecution.VLLM).count(chunk(10, 0)))
                .isEqualTo(10 + 3);
    }

    /** Beside those of another it converts its inputs. */
    @Test
    void routerInFp32_hasTwo() {
        var llm = RooflineFixture.experts().withFeedForward(new FeedForward(0, true, 0, 8, 2, 4, 0, false, true));

        assertThat(count(llm)).isEqualTo(count(RooflineFixture.experts()) + 1);
    }

    /** Beside seven of norms and attention: router, choice, two that sort, two products, activation, and sum. */
    @Test
    void experts_areSortedAndAddedUp() {
        assertThat(count(RooflineFixture.experts())).isEqualTo(7 + 8);
        // Formats of experts are their own.
        assertThat(count(RooflineFixture.experts().withExpertWeights(WeightFormat.FP8)))
                .isEqualTo(7 + 8 + 2);
    }

    /** Two products, an activation, and a sum; a gate has a product, a function, and multiplies. */
    @Test
    void sharedExpert_hasKernelsUnlessItIsFused() {
        var experts = RooflineFixture.experts();
        var shared = experts.withFeedForward(new FeedForward(0, true, 0, 8, 2, 4, 4, false, false));
        var gated = experts.withFeedForward(new FeedForward(0, true, 0, 8, 2, 4, 4, true, false));

        assertThat(count(shared)).isEqualTo(15 + 4);
        assertThat(count(gated)).isEqualTo(15 + 4 + 3);
        assertThat(new LaunchedKernels(shared, ONE_GPU, FUSING).count(chunk(10, 0)))
                .isEqualTo(15);
        // With whole experts on each of two GPUs it would be on one of them alone.
        assertThat(new LaunchedKernels(shared, WHOLE_EXPERTS, FUSING).count(chunk(10, 0)))
                .isEqualTo(15 + 4);
    }

    /** Four products, two norms, rotation, two copies, cache, and attention, with two norms and a dense part of three. */
    @Test
    void latentAttention_hasEleven() {
        assertThat(count(latent(null))).isEqualTo(2 + 11 + 3);
    }

    /**
     * An indexer's keys take a product and six others; its choice two products and eight others, once a chunk is longer than
     * the 16 tokens that are chosen, and in decodes.
     */
    @Test
    void indexer_choosesForLongChunks() {
        var kernels = new LaunchedKernels(latent(new Indexer(2, 128, 16)), ONE_GPU, StepExecution.VLLM);

        assertThat(kernels.count(chunk(10, 6))).isEqualTo(16 + 7);
        assertThat(kernels.count(chunk(10, 7))).isEqualTo(16 + 7 + 10);
        assertThat(kernels.count(decodes(1, 3))).isEqualTo(16 + 7 + 10);
    }

    /**
     * One of two layers has three products, and seventeen others: taking apart, which have a state, convolution, gates, three
     * copies, two norms, seven of a chunk, and the norm.
     */
    @Test
    void linearAttention_hasTwenty() {
        var llm = RooflineFixture.dense()
                .withNumLayers(2)
                .withFeedForward(new FeedForward(20, true, 2, 0, 0, 0, 0, false, false));

        assertThat(count(llm.withLinearAttention(new LinearAttention(1, 2, 4, 8, 8, 4, 2))))
                .isEqualTo(10 + 5 + 20);
    }

    /**
     * Layers of the manual's models in FP8, whose prompts are too short for a choice: DeepSeek-R1 has 61 of 17 with 3 dense
     * parts of 5 and 58 of 10; GLM-5 has 78 of 25 with 3 of 5 and 75 of 10; Qwen3.5 has 45 of 24 and 15 of 11 with 60 parts of
     * 10 + 6 + 3.
     */
    @ParameterizedTest
    @CsvSource({"deepseek-r1, 1632", "glm-5, 2715", "qwen3.5-397b-a17b-fp8, 2385"})
    void modelsOfTheManual_haveAsManyAsItSays(String model, int count) {
        var llm = LlmFile.read(SpecFiles.MODELS.find(model).orElseThrow()).spec();
        boolean isFused = llm.attention().latent() != null;

        assertThat(new LaunchedKernels(llm, ONE_GPU, isFused ? FUSING : StepExecution.VLLM).count(chunk(1000, 0)))
                .isEqualTo(count);
    }

    private static LlmSpec latent(@Nullable Indexer indexer) {
        var latent = new LatentAttention(6, 3, 2, 4, 4, indexer);
        return RooflineFixture.dense(new Attention(4, 4, 6, QkNorm.NONE, false, 0, 0, latent), WeightFormat.BF16)
                .withFeedForward(DENSE);
    }

    private static int count(LlmSpec llm) {
        return new LaunchedKernels(llm, ONE_GPU, StepExecution.VLLM).count(chunk(10, 0));
    }
}

package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;
import static understudy.latency.Parallelism.All2AllBackend.ALLGATHER_REDUCESCATTER;
import static understudy.latency.Parallelism.All2AllBackend.DEEPEP_LOW_LATENCY;
import static understudy.latency.RooflineFixture.GPU;
import static understudy.latency.RooflineFixture.NO_HOST;
import static understudy.latency.RooflineFixture.decodes;
import static understudy.latency.RooflineFixture.dense;
import static understudy.latency.RooflineFixture.experts;
import static understudy.latency.RooflineFixture.gpu;
import static understudy.latency.RooflineFixture.part;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.QkNorm;

/** Experts that the GPUs of several data-parallel ranks share. */
final class ParallelismTest {
    private static final Parallelism TWO_RANKS = new Parallelism(1, 2, false, ALLGATHER_REDUCESCATTER);
    private static final Parallelism WHOLE_EXPERTS = new Parallelism(1, 2, true, ALLGATHER_REDUCESCATTER);

    /** Two ranks with one token each: 8 (1 - (6/8)^2) = 3.5 experts are in use. */
    private static final double EXPERTS_IN_USE = 3.5;

    /** Matrix products of attention, the router, norms and rotation of the one token, in bytes. */
    private static final double OWN_BYTES = 460 + 240 + 196 + 160 + 80;

    @Test
    void wholeExperts_areReadForTheTokensOfAllRanks() {
        double micros = linear(WHOLE_EXPERTS, decodes(1, 0));

        // Half of the experts in use, of (8 * 10 + 10 * 4) * 2 = 240 bytes. One of a token's two experts is here: 2 (18
        // + 14) = 64 bytes in and out, twice, and 1 + 0.56 * 2 sqrt(1/8) = 1.396 times that on the busier GPU.
        // Activation
        // and sum have the rows of all: 2 * 3 * 4 * 2 = 48 and (2 + 1) * 10 * 2 = 60 bytes for each of two tokens.
        double routed = EXPERTS_IN_USE / 2 * 240 + 1.39598 * 2 * 64 + 2 * 108;
        assertThat(micros).isCloseTo((OWN_BYTES + routed) / 1e3, within(1e-5));
    }

    @Test
    void slicesOfExperts_areReadForTheTokensOfAllRanks() {
        double micros = linear(TWO_RANKS, decodes(1, 0));

        // All experts in use, of width 2: (4 * 10 + 10 * 2) * 2 = 120 bytes; 2 * 2 (14 + 12) = 104 in and out for each
        // of two
        // tokens; activation 3 * 2 * 2 * 2 = 24, and (2 + 1) * 10 * 2 = 60.
        double routed = EXPERTS_IN_USE * 120 + 2 * 104 + 2 * 84;
        assertThat(micros).isCloseTo((OWN_BYTES + routed) / 1e3, within(1e-5));
    }

    @Test
    void tokensOfTheGroup_areThoseThatWereTold() {
        var batch = new BatchShape.Builder();
        batch.add(1, 0, true);

        // One token alone: 8 (1 - 6/8) = 2 experts of 120 bytes, 104 and 84 bytes.
        assertThat(linear(TWO_RANKS, batch.build().inGroupOf(1, false)))
                .isCloseTo((OWN_BYTES + 240 + 104 + 84) / 1e3, within(1e-5));
        assertThat(batch.build().numGroupTokens(2)).isEqualTo(2);
    }

    @Test
    void tokens_goToTheOtherRanksAndBack() {
        // 5 tokens of 20 bytes from the other rank, at 1000 bytes per us, and 3 us, twice.
        assertThat(all2All(WHOLE_EXPERTS)).isCloseTo(2 * (3 + 0.1), within(1e-9));
        // A token needs the other GPU unless both of its experts are here: 5 (1 - 1/4) tokens go.
        assertThat(all2All(new Parallelism(1, 2, true, DEEPEP_LOW_LATENCY))).isCloseTo(2 * (3 + 0.075), within(1e-9));
        // That takes whole experts: of slices all ranks have one.
        assertThat(all2All(new Parallelism(1, 2, false, DEEPEP_LOW_LATENCY))).isCloseTo(2 * (3 + 0.1), within(1e-9));
    }

    @Test
    void allReduces_areThoseMeasuredAmongSoManyGpus() {
        var table = new KernelTable.Builder();
        table.add(5, 2, 1000);
        table.add(9, 2, 3000);
        var link = new GpuSpec.AllReduce(20, 1, table.build());

        // Half way between 5 and 9 us; among four, which were not measured, 20 us and 2 * 3 / 4 of 2,000 bytes at 1 kB
        // per us.
        assertThat(link.micros(2, 2000)).isEqualTo(7);
        assertThat(link.micros(4, 2000)).isEqualTo(23);
    }

    @Test
    void expertsOfOneServer_exchangeAsTensorsDo() {
        var parallelism = new Parallelism(2, 1, true, DEEPEP_LOW_LATENCY);

        assertThat(all2All(parallelism)).isZero();
        assertThat(part("all-reduce", experts(), gpu(3, 0), parallelism, decodes(5, 0)))
                .isCloseTo(2 * (3 + 0.1), within(1e-9));
    }

    /** What AIConfigurator measured for 16,384 tokens under a power law of 1.2, over the same under equal loads. */
    @ParameterizedTest
    @CsvSource({"2, 1.10", "4, 1.42", "8, 1.69", "16, 2.30", "32, 3.07"})
    void busiestGpu_isThatOfAPowerLaw(int numGpus, double measured) {
        assertThat(ExpertLoad.imbalance(128, numGpus)).isCloseTo(measured, withinPercentage(10));
    }

    @Test
    void weights_ofExpertsAreSpreadOverAllRanks() {
        // 8 experts of (8 * 10 + 10 * 4) * 2 = 240 bytes; attention 10 * 20 + 10 * 10, head and embedding 2 * 100 * 10,
        // norms 30 and the router 80 weights of two bytes are on each rank.
        assertThat(experts().weightBytesPerRank(WHOLE_EXPERTS)).isEqualTo(2 * (300 + 2000 + 30 + 80) + 960);
        // Of two GPUs each has the one key head, norms and router, and half of the queries, head, and embedding.
        assertThat(experts().weightBytesPerRank(Parallelism.ofTensors(2)))
                .isEqualTo(2 * (100 + 200 / 2 + 2000 / 2 + 30 + 80) + 960);
    }

    /**
     * Latent attention of four heads, 10 x (6 + 3 + 2) weights to what is compressed, and for each head 6 x 6 of its query, 3 x
     * 8 of what is decompressed, and 4 x 10 of the way out; an indexer with 6 x 2 x 128 + 10 x (128 + 2). Each GPU has half of
     * the heads.
     */
    @Test
    void weights_ofWhatIsCompressedAreOnEachGpu() {
        var latent = new LatentAttention(6, 3, 2, 4, 4, new Indexer(2, 128, 16));
        var llm = dense(new Attention(4, 4, 6, QkNorm.NONE, false, 0, 0, latent), WeightFormat.BF16);
        double whole = 110 + 1536 + 1300;

        double onOne = llm.weightBytesPerRank(Parallelism.ofTensors(1));
        double onTwo = llm.weightBytesPerRank(Parallelism.ofTensors(2));

        // Of the rest three matrices of 10 x 20, embedding and head of 10 x 100 divide, and three norms of 10 do not.
        double divided = 4 * (36 + 24 + 40) + 600 + 2000;
        assertThat(onOne).isEqualTo(2 * (whole + 30 + divided));
        assertThat(onTwo).isEqualTo(2 * (whole + 30 + divided / 2));
    }

    @Test
    void tablesOfOneGpu_areReadForWhatTheBusiestHas() {
        var moe = new KernelTable.Builder();
        moe.add(10, 1, 1);
        moe.add(20, 1, 2);
        moe.add(50, 2, 1);
        moe.add(60, 2, 2);
        var dense = new KernelTable.Builder();
        dense.add(1, 1);
        var attention = new KernelTable.Builder();
        attention.add(1, 0, 0, 1, 1);
        var tables = new KernelTables(Map.of("layernorm", dense.build()), attention.build(), Map.of(), moe.build());
        var model = new ProfiledLatency(tables, experts(), WHOLE_EXPERTS, GPU, NO_HOST);

        // Two norms of 1 us. Two tokens use 1.75 of this GPU's experts: 17.5 at 1 token and 57.5 at 2; as one token
        // does that
        // computes all of its experts here, times 1.39598.
        assertThat(model.explain(decodes(1, 0)).get(0).nanos() / 1e3).isCloseTo(2 + 17.5 + 0.39598 * 40, within(1e-3));
    }

    private static double linear(Parallelism parallelism, BatchShape batch) {
        return part("linear", experts(), GPU, parallelism, batch);
    }

    private static double all2All(Parallelism parallelism) {
        return part("all2all", experts(), gpu(3, 0), parallelism, decodes(5, 0));
    }
}

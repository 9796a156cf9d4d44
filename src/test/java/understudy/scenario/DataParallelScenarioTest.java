package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import understudy.latency.BatchShape;
import understudy.latency.Share;

/** Qwen3-30B-A3B on two RTX PRO 6000, of which each has attention of its own and half of the experts. */
final class DataParallelScenarioTest {
    private static final Scenario SCENARIO = Scenario.read(new ScenarioFile(Map.of())
            .load("conf/validation/rtx-pro-6000-qwen3-30b-a3b-dp2-ep.conf", Map.of("workload.kind", "generated")));

    @Test
    void decodeStep_isTheSumOfItsKernels() {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < 32; i++) {
            batch.add(1, 999, true);
        }

        var micros = SCENARIO.latency().model().explain(batch.build()).stream()
                .collect(Collectors.toMap(Share::part, share -> share.nanos() / 1e3));

        // Of each of 48 layers, with products at 1,517 kB per us and 400 million operations per us:
        //   qkv 20.97 MB and 0.46 MB of activations, 3.4 + 14.2 us; output 16.78 and 0.39 MB, 3.4 + 11.4 us; router 3.8
        // us;
        //   experts: 64 (1 - (15/16)^64) = 62.97 of this GPU's 64 are in use by 2 x 32 tokens, and the busier GPU has 1
        // + 0.56 *
        //   2 sqrt(1 / 128) = 1.099 times its share of 4 experts per token; up 6.29 MB each and 7 us of arithmetic, 6 +
        // 262.6
        //   us, down 3.15 MB each, 6 + 131.7 us;
        //   elementwise kernels 8 * 2.7 us, and 4.85 MB at 4,791 kB per us: 22.6 us.
        assertThat(micros.get("linear")).isCloseTo(48 * 465.1, withinPercentage(0.1));
        // 32,000 tokens of 2 * 4 * 128 * 2 bytes at 0.92 * 1,597 kB per us, and 14 us.
        assertThat(micros.get("attention")).isCloseTo(48 * (14 + 44.6), withinPercentage(0.1));
        // The other rank's 32 tokens of 4,096 bytes at 14 kB per us, and 20 us, to the experts and back.
        assertThat(micros.get("all2all")).isCloseTo(48 * 2 * (20 + 9.36), withinPercentage(0.1));
        assertThat(micros.get("all-reduce")).isZero();
        assertThat(micros.get("host")).isEqualTo(320);
    }

    @Test
    void prefillStep_takesLongerForPairsWithinTheChunk() {
        var batch = new BatchShape.Builder();
        batch.add(512, 0, true);

        // 1.18 * 512 * (512 + 128) / 2 pairs of 4 * 32 * 128 operations at 0.49 * 500 million per us, and 14 us.
        var attention = SCENARIO.latency().model().explain(batch.build()).get(1);
        assertThat(attention.nanos() / 1e3).isCloseTo(48 * (14 + 12.929), withinPercentage(0.1));
    }

    @Test
    void kvCache_hasTheRoomOfHalfTheExperts() {
        // 0.9 * 94.5 = 85.05 GiB; experts 48 * 128 * 3 * 2048 * 768 * 2 bytes = 54.0 GiB, of which half; 2.87 GiB of
        // the rest; 1.2
        // GiB in reserve. That leaves 53.98 GiB for blocks of 16 * 98,304 bytes.
        assertThat((double) SCENARIO.engine().kvCache().numGpuBlocks())
                .isCloseTo(53.98 * (1 << 30) / (16 * 98_304), withinPercentage(0.1));
    }
}

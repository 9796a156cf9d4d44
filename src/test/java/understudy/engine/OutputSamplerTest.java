package understudy.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class OutputSamplerTest {

    @Test
    void sample_saysWhichTokenIsTheLast() {
        var sampler = new OutputSampler(new OutputPlan(index -> index, 3));

        assertThat(sampler.sample()).isFalse();
        assertThat(sampler.sample()).isFalse();
        assertThat(sampler.sample()).isTrue();
        assertThat(sampler.sample()).as("only one token ends a sequence").isFalse();
    }

    @Test
    void readingAhead_isCounted() {
        var sampler = new OutputSampler(new OutputPlan(index -> 10 + index, 3));
        sampler.sample();

        assertThat(sampler.tokenAt(0)).isEqualTo(10);
        assertThat(sampler.numPeeks()).isZero();
        assertThat(sampler.tokenAt(1)).isEqualTo(11);
        assertThat(sampler.numPeeks()).isEqualTo(1);
    }

    @Test
    void emptyAnswer_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new OutputPlan(index -> index, 0));
    }
}

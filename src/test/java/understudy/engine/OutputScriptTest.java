package understudy.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class OutputScriptTest {

    @Test
    void sample_saysWhichTokenIsTheLast() {
        var script = new OutputScript(index -> index, 3);

        assertThat(script.sample()).isFalse();
        assertThat(script.sample()).isFalse();
        assertThat(script.sample()).isTrue();
        assertThat(script.sample()).as("only one token ends a sequence").isFalse();
    }

    @Test
    void readingAhead_isCounted() {
        var script = new OutputScript(index -> 10 + index, 3);
        script.sample();

        assertThat(script.tokenAt(0)).isEqualTo(10);
        assertThat(script.numPeeks()).isZero();
        assertThat(script.tokenAt(1)).isEqualTo(11);
        assertThat(script.numPeeks()).isEqualTo(1);
    }

    @Test
    void emptyAnswer_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new OutputScript(index -> index, 0));
    }
}

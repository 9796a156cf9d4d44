package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class PaceTest {

    @Test
    void speedTen_makesTenVirtualNanosOfOneOnTheWall() {
        var pace = new Pace(10, 500, 1_000);

        // 20 ns of wall time after the origin are 200 virtual ns after it, and the other way round.
        assertThat(pace.virtualAt(520)).isEqualTo(1_200);
        assertThat(pace.wallAt(1_200)).isEqualTo(520);
    }

    @Test
    void farFuture_doesNotOverflow() {
        assertThat(new Pace(1e-9, 500, 0).wallAt(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void speedZero_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Pace(0, 0, 0)).withMessageContaining("0");
        assertThatIllegalArgumentException().isThrownBy(() -> new Pace(Double.NaN, 0, 0));
    }
}

package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LoadingLatencyTest {

    /** A step of 2,000 ns that loads 1,000 tokens at 3 ns each takes 3,000 ns; 500 tokens come in its own time. */
    @ParameterizedTest
    @CsvSource({"1000, 3000", "500, 2000", "0, 2000"})
    void step_takesAtLeastAsLongAsItsCopies(int numLoaded, long nanos) {
        var batch = new BatchShape.Builder();
        batch.add(10, 1000, true);
        batch.setLoadedTokens(numLoaded);

        assertThat(new LoadingLatency(step -> 2000, 3).stepNanos(batch.build())).isEqualTo(nanos);
    }
}

package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LoadingLatencyTest {

    /** A step of 2,000 ns waits for what takes 3,000 ns; what takes 1,500 ns comes in its own time. */
    @ParameterizedTest
    @CsvSource({"3000, 3000", "1500, 2000", "0, 2000"})
    void step_takesAtLeastAsLongAsItsCopies(long loadNanos, long nanos) {
        var batch = new BatchShape.Builder();
        batch.add(10, 1000, true);
        batch.setLoadNanos(loadNanos);

        assertThat(new LoadingLatency(step -> 2000).stepNanos(batch.build())).isEqualTo(nanos);
    }
}

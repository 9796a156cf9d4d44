package understudy.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that want a processor, by files as Linux has them. */
final class ProcessorDemandTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void twoProcessors() throws IOException {
        Files.writeString(directory.resolve("stat"), "cpu  1 2 3\ncpu0 1 1 1\ncpu1 0 1 2\nintr 7\nctxt 8\n");
    }

    private void look(ProcessorDemand demand, int atMillis, int numRunnable) throws IOException {
        Files.writeString(directory.resolve("loadavg"), "1.41 2.50 3.06 " + numRunnable + "/417 13129\n");
        demand.look(atMillis * 1_000_000L);
    }

    /**
     * Without the one that looks there are 4 and 8 threads in the first second, a mean of 6, and 10 and 12 in the next, a
     * mean of 11: 5.5 for each of two processors. The third second is not over.
     */
    @Test
    void worstSecondCounts() throws IOException {
        var demand = new ProcessorDemand(directory);

        look(demand, 100, 5);
        look(demand, 900, 9);
        assertThat(demand.mostThreadsPerProcessor()).isZero();
        look(demand, 1_000, 11);
        assertThat(demand.mostThreadsPerProcessor()).isEqualTo(3);
        look(demand, 1_900, 13);
        look(demand, 2_000, 400);

        assertThat(demand.mostThreadsPerProcessor()).isEqualTo(5.5);
        look(demand, 2_500, 400);
        look(demand, 3_000, 1);
        assertThat(demand.mostThreadsPerProcessor()).isEqualTo(199.5);
        look(demand, 4_000, 1);
        assertThat(demand.mostThreadsPerProcessor()).isEqualTo(199.5);
    }

    @Test
    void otherSystemsTellNothing() throws IOException {
        var demand = new ProcessorDemand(directory.resolve("none"));

        look(demand, 100, 5);
        look(demand, 1_100, 5);

        assertThat(demand.mostThreadsPerProcessor()).isZero();
    }
}

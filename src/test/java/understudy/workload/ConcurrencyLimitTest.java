package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.workload.trace.CsvTraceReader;
import understudy.workload.trace.TraceWorkload;

final class ConcurrencyLimitTest {
    @TempDir
    private Path directory;

    @Test
    void requestsBeyondTheLimit_followAnswers() throws IOException {
        var limited = new ConcurrencyLimit(trace("0,9,9\n0,9,9\n0,9,9\n5,9,9\n"), 2);

        var first = limited.next();
        var second = limited.next();
        assertThat(limited.next()).as("two are under way").isNull();

        var third = limited.followUp(second, 9, 1_000_000_000L);
        assertThat(third.id()).isEqualTo(2);
        assertThat(third.arrivalNanos()).as("due long ago, sent now").isEqualTo(1_000_000_000L);

        var fourth = limited.followUp(first, 9, 2_000_000_000L);
        assertThat(fourth.arrivalNanos()).as("not before it is due").isEqualTo(5_000_000_000L);
        assertThat(limited.followUp(third, 9, 6_000_000_000L))
                .as("the trace is over")
                .isNull();
    }

    @Test
    void requestThatHasWaited_wasWantedWhenItWouldHaveArrived() throws IOException {
        var limited = new ConcurrencyLimit(trace("0,9,9\n1,9,9\n7,9,9\n"), 1);
        var first = limited.next();

        // The second one arrives after 1 s and waits for an answer until 2 s; the third one comes later than that.
        var second = limited.followUp(first, 9, 2_000_000_000L);
        assertThat(limited.intendedNanos(second)).isEqualTo(1_000_000_000L);
        assertThat(limited.intendedNanos(first)).isZero();
        var third = limited.followUp(second, 9, 3_000_000_000L);
        assertThat(limited.intendedNanos(third)).isEqualTo(7_000_000_000L);
    }

    private TraceWorkload trace(String rows) throws IOException {
        var file = Files.writeString(directory.resolve("t.csv"), "arrival_s,input_toks,output_toks\n" + rows);
        var options = new TraceWorkload.Options(1, 0, OutputLimit.MAX_TOKENS, 1000);
        return new TraceWorkload(new CsvTraceReader(file, 16), file.toString(), options);
    }
}

package understudy.fidelity.cells;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MeasuredCellsTest {
    private static final String HEADER = "isl,osl,concurrency,mean_ttft_ms,mean_tpot_ms,request_throughput\n";

    @TempDir
    private Path directory;

    /** 101 tokens in 100 + 100 x 9 ms are a second, so that 8 requests in flight are 8 requests per second. */
    @ParameterizedTest
    @CsvSource({
        "8, ''",
        "10, ''",
        "6, ''",
        "10.1, '10.10 requests/s x (100.00 ms + 100 x 9.00 ms) are 10.1 in flight, not 8'",
        "5.9, '5.900 requests/s x (100.00 ms + 100 x 9.00 ms) are 5.9 in flight, not 8'"
    })
    void throughput_isWhatIsInFlightByLittlesLaw(String requestsPerSecond, String problem) throws IOException {
        var measured = read(HEADER + "9,101,8,100,9," + requestsPerSecond + "\n");

        assertThat(measured.contradicting()).extracting(Remark::text).isEqualTo(problems(problem));
        assertThat(measured.cells()).hasSize(problem.isEmpty() ? 1 : 0);
    }

    /** 808 output tokens per second in answers of 101 are 8 requests per second, of a second each. */
    @Test
    void throughputOfTokens_isThatOfRequestsTimesTheirLength() throws IOException {
        String header = "isl,osl,concurrency,mean_ttft_ms,mean_tpot_ms,output_throughput\n";

        assertThat(read(header + "9,101,8,100,9,808\n").contradicting()).isEmpty();
        assertThat(read(header + "9,101,4,100,9,808\n").contradicting()).hasSize(1);
    }

    @Test
    void firstToken_takesAStep() throws IOException {
        var measured = read(HEADER + "9,101,8,8.9,9,\n9,101,16,9,9,\n");

        assertThat(measured.contradicting())
                .extracting(Remark::text)
                .containsExactly("TTFT 8.90 ms is below TPOT 9.00 ms, but the first token takes a step, too");
        assertThat(measured.cells()).hasSize(1);
    }

    /**
     * Requests take 1, 1.1, 4.1 and 2 s, which are 4, 7.3, 3.9 and 16 per second at 4, 8, 16 and 32 in flight: that at 16 is
     * less than three quarters of that at 8 (4 x 0.75 = 3 is less than 3.9), of its equal and so is no other.
     */
    @Test
    void rowThatServesFewerWithMoreInFlight_isLeftOut() throws IOException {
        var measured = read(
                HEADER + "9,101,4,100,9,\n9,101,8,100,10,\n9,101,16,100,40,\n9,101,16,100,14,\n9,101,32,100,19,\n");

        assertThat(measured.contradicting()).hasSize(1);
        var remark = measured.contradicting().get(0);
        assertThat(remark.lines()).containsExactly(4L);
        // 16 / 1.5 s are 10.67 per second.
        assertThat(remark.text())
                .isEqualTo("16 / (100.00 ms + 100 x 40.00 ms) are 3.902 requests/s, but line 5 with 16 in flight has"
                        + " 10.67");
        assertThat(measured.cells())
                .extracting(cell -> cell.setup().concurrency())
                .containsExactly(4, 8, 16, 32);
        assertThat(measured.cells().get(2).tpotMillis()).isEqualTo(14);
    }

    /** A request in 1 s and one in 2 s, both alone: either may be wrong. */
    @Test
    void whereNothingDecides_bothAreLeftOut() throws IOException {
        var measured = read(HEADER + "9,101,1,100,9,\n9,101,1,100,19,\n");

        assertThat(measured.contradicting()).extracting(Remark::lines).hasSize(2);
        assertThat(measured.cells()).isEmpty();
    }

    /** 16 in 1 s twice, and in 3.9 s: those that wait for memory do so in each row of the same load. */
    @Test
    void waitingForMemory_doesNotExplainRowsOfTheSameLoad() throws IOException {
        var measured = read(HEADER + "9,101,16,100,9,\n9,101,16,100,9,\n9,101,16,3000,9,\n");

        assertThat(measured.contradicting()).extracting(Remark::lines).containsExactly(List.of(4L));
    }

    /** Other lengths are another load, and are not compared. */
    @Test
    void rowsOfOtherLengths_contradictNothing() throws IOException {
        assertThat(read(HEADER + "9,101,1,100,9,\n90,101,1,100,19,\n").contradicting())
                .isEmpty();
    }

    /**
     * From 8 to 16 in flight the time to first token may double to 200 ms. 0.4 s are 200 ms more, in a request of 1.3 s: 16 x
     * 0.2 / 1.3 = 2.5 requests wait. 0.24 s are 40 ms more, in 1.14 s: 0.56 wait. With 0.23 s it is 16 x 0.03 / 1.13 = 0.42.
     */
    @ParameterizedTest
    @CsvSource({"400, true", "240, true", "230, false", "200, false"})
    void timeToFirstTokenThatGrowsFasterThanTheLoad_isWaitedForMemory(double ttftMillis, boolean isWaiting)
            throws IOException {
        var measured = read(HEADER + "9,101,8,100,9,\n9,101,16," + ttftMillis + ",9,\n");

        assertThat(MeasuredWaiting.of(measured.cells()))
                .hasSize(isWaiting ? 1 : 0)
                .allMatch(setup -> setup.concurrency() == 16);
    }

    /** With 32 in flight requests wait, too: 4 s is not twice 3 s, but far above four times 100 ms. */
    @Test
    void cellsThatWait_areNoMeasureOfOthers() throws IOException {
        var measured = read(HEADER + "9,101,8,100,9,\n9,101,16,3000,9,\n9,101,32,4000,9,\n");

        assertThat(MeasuredWaiting.of(measured.cells()))
                .extracting(MeasuredSetup::concurrency)
                .containsExactlyInAnyOrder(16, 32);
    }

    /** Waiting for memory explains that more requests are served more slowly: 8 in 1 s, 16 in 3.9 s. */
    @Test
    void rowsThatWaitForMemory_contradictNothing() throws IOException {
        assertThat(read(HEADER + "9,101,8,100,9,\n9,101,16,3000,9,\n").contradicting())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        // The GPUs of a rank, or those of all: 8 x 8 experts' GPUs would be 64, of which nothing else tells.
        "8, 1, 8, 1, TP8, ''",
        "1, 8, 1, 8, DP8 TP1 EP, ''",
        "8, 8, 1, 64, DP8 TP1 EP, 'tp_size 8, attention_dp_size 8, moe_ep_size 64 are 8 GPUs: 8 ranks of 1'",
        "4, 4, 1, 16, DP4 TP1 EP, 'tp_size 4, attention_dp_size 4, moe_ep_size 16 are 4 GPUs: 4 ranks of 1'",
        "8, 2, 1, 8, DP2 TP4 EP, 'tp_size 8, attention_dp_size 2, moe_ep_size 8 are 8 GPUs: 2 ranks of 4'",
        "8, 2, 1, 16, DP2 TP8 EP, ''",
        "4, 2, 0, 0, DP2 TP4, ''"
    })
    void ranks_haveTheirTrueLayout(int tp, int dp, int moeTp, int moeEp, String layout, String assumed)
            throws IOException {
        String header =
                "isl,osl,concurrency,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,mean_ttft_ms,mean_tpot_ms\n";
        var measured = read(header + "9,9,64," + tp + "," + dp + "," + moeTp + "," + moeEp + ",9,9\n");

        var setup = measured.cells().get(0).setup();
        assertThat(setup.parallelism()).isEqualTo(layout);
        assertThat(setup.expertParallelSize())
                .isLessThanOrEqualTo(setup.tensorParallelSize() * setup.dataParallelSize());
        assertThat(measured.assumed()).extracting(Remark::text).isEqualTo(problems(assumed));
    }

    private static List<String> problems(String problem) {
        return problem.isEmpty() ? List.of() : List.of(problem);
    }

    private MeasuredCells read(String table) throws IOException {
        return MeasuredCells.read(Files.writeString(directory.resolve("cells.csv"), table), "vllm");
    }
}

package understudy.workload.servegen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.workload.RandomStreams;
import understudy.workload.files.TraceException;
import understudy.workload.trace.TraceRow;

final class ServeGenReaderTest {
    private static final long ALL_SECONDS = 100_000;
    private static final String LENGTHS =
            "{\"0\": {\"input_tokens\": \"{10: 0.25, 30: 0.75}\", \"output_tokens\": \"{100: 0.5, 200: 0.5}\","
                    + " \"reason_ratio\": \"{0.5: 1.0}\"}}";

    @TempDir
    private Path directory;

    @Test
    void eachWindow_hasTheRequestsThatItsRateStandsFor() throws IOException {
        // 0.5 per second for 600 s is 300 requests, and 0.1 is 60; in the window between them none come.
        client(1, "0,0.5,2,Gamma,0.25,8\n600,0,0,,0,0\n1200,0.1,1,Weibull,1.1,10\n", LENGTHS);

        var rows = rows(all(1));

        assertThat(rows).hasSize(360).isSortedAccordingTo((a, b) -> Long.compare(a.arrivalNanos(), b.arrivalNanos()));
        assertThat(rows.stream().filter(row -> seconds(row) < 600)).hasSize(300);
        assertThat(rows.stream().filter(row -> seconds(row) > 1200)).hasSize(60);
        assertThat(rows).extracting(TraceRow::tenant).containsOnly("0/chunk-1");
    }

    @Test
    void lengths_haveTheSharesOfTheirTable() throws IOException {
        client(1, "0,5,1,Gamma,1,1\n", LENGTHS);

        var rows = rows(all(1));

        // 3,000 draws of a quarter: 750, and four standard errors are 4 x sqrt(3000 x 1/4 x 3/4) = 95; of a half 110.
        assertThat(count(rows, row -> row.prompt().length() == 10)).isCloseTo(750, within(95));
        assertThat(count(rows, row -> row.prompt().length() == 30)).isCloseTo(2250, within(95));
        assertThat(count(rows, row -> row.numOutputTokens() == 100)).isCloseTo(1500, within(110));
    }

    /** The shares need not add up to 1: a quarter of all is at 10, three quarters are at 30. */
    @Test
    void quantile_isTheFirstValueWithSoManyAtOrBelowIt() {
        var table = LengthTable.parse("{10: 0.5, 20: 0.0, 30: 1.5}");

        assertThat(new double[] {table.quantile(0), table.quantile(0.25), table.quantile(0.2500001)})
                .containsExactly(10, 10, 30);
    }

    /** One draw decides: the shorter prompts, a quarter of all, have the shorter answers, which are a half of all. */
    @Test
    void coupledLengths_goTogether() throws IOException {
        client(1, "0,5,1,Gamma,1,1\n", LENGTHS);

        assertThat(count(rows(all(1)), ServeGenReaderTest::isShortWithLongAnswer))
                .isZero();
        // Apart from each other an eighth of 3,000 have a short prompt and a long answer: 375.
        var apart = new ServeGenOptions(services(1), 0, ALL_SECONDS, 0, true, false);
        assertThat(count(rows(apart), ServeGenReaderTest::isShortWithLongAnswer))
                .isCloseTo(375, within(73));
    }

    private static boolean isShortWithLongAnswer(TraceRow row) {
        return row.prompt().length() == 10 && row.numOutputTokens() == 200;
    }

    @Test
    void reasoning_canBeLeftOut() throws IOException {
        client(1, "0,1,1,Gamma,1,1\n", LENGTHS);

        // Half of each answer of 100 or 200 tokens is reasoning.
        assertThat(rows(new ServeGenOptions(services(1), 0, ALL_SECONDS, 0, false, true)))
                .extracting(TraceRow::numOutputTokens)
                .containsOnly(50, 100);
    }

    @Test
    void gaps_areAsUnevenAsTheirDistribution() throws IOException {
        client(1, "0,20,3,Gamma,0.25,1\n", LENGTHS);
        client(2, "0,20,0.5,Weibull,2,1\n", LENGTHS);

        // A gamma distribution of shape 1/4 has a coefficient of variation of 1 / sqrt(1/4) = 2; a Weibull distribution
        // of
        // shape 2 has sqrt(4 / pi - 1) = 0.523. Of 12,000 gaps the first is known to some 5 %, the second to 1 %.
        assertThat(variation("0/chunk-1")).isCloseTo(2, within(0.2));
        assertThat(variation("0/chunk-2")).isCloseTo(0.523, within(0.02));
    }

    private double variation(String client) {
        var times = rows(all(1)).stream()
                .filter(row -> row.tenant().equals(client))
                .mapToDouble(ServeGenReaderTest::seconds)
                .toArray();
        double squares = 0;
        for (int i = 1; i < times.length; i++) {
            squares += (times[i] - times[i - 1]) * (times[i] - times[i - 1]);
        }
        double mean = (times[times.length - 1] - times[0]) / (times.length - 1);
        return Math.sqrt(squares / (times.length - 1) / (mean * mean) - 1);
    }

    @Test
    void cut_leavesOutTheRestOfTheDayAndChangesNothingElse() throws IOException {
        client(1, "0,0.5,2,Gamma,0.25,8\n600,0.5,2,Gamma,0.25,8\n", LENGTHS);
        var whole = rows(all(1));

        var cut = rows(new ServeGenOptions(services(1), 300, 600, 0, true, true));

        assertThat(cut.stream().map(TraceRow::arrivalNanos))
                .containsExactlyElementsOf(whole.stream()
                        .map(row -> row.arrivalNanos() - 300_000_000_000L)
                        .filter(nanos -> nanos >= 0 && nanos < 600_000_000_000L)
                        .toList());
    }

    @Test
    void oneClientMore_changesNothingForTheOthers() throws IOException {
        client(1, "0,0.5,2,Gamma,0.25,8\n", LENGTHS);
        var alone = rows(all(1));

        client(2, "0,0.1,2,Gamma,0.25,8\n", LENGTHS);

        assertThat(rows(all(1))).hasSize(360);
        var busiest = rows(new ServeGenOptions(services(1), 0, ALL_SECONDS, 1, true, true));
        assertThat(busiest.stream().map(TraceRow::arrivalNanos))
                .containsExactlyElementsOf(
                        alone.stream().map(TraceRow::arrivalNanos).toList());
    }

    /** A scale of 0.45 makes 135.5 requests of 300 and 0.5 more: 135 or 136, drawn with the share of the fraction. */
    @Test
    void scaledRates_areRightOnAverage() throws IOException {
        var windows = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            windows.append(i * 100).append(",0.03,1,Gamma,1,1\n");
        }
        client(1, windows.toString(), LENGTHS);

        // 1,000 windows of 3 x 0.45 = 1.35 requests: 1,350; four standard errors are 4 x sqrt(1000 x 0.35 x 0.65) = 60.
        assertThat(rows(all(0.45))).hasSizeBetween(1290, 1410);
    }

    @Test
    void services_runSideBySide() throws IOException {
        client(1, "0,0.5,1,Gamma,1,1\n", LENGTHS);
        var twice = List.of(new ServeGenOptions.Service(directory, 1), new ServeGenOptions.Service(directory, 0.5));

        var rows = rows(new ServeGenOptions(twice, 0, ALL_SECONDS, 0, true, true));

        assertThat(count(rows, row -> row.tenant().equals("0/chunk-1"))).isEqualTo(300);
        assertThat(count(rows, row -> row.tenant().equals("1/chunk-1"))).isEqualTo(150);
        assertThat(rows.stream().map(TraceRow::arrivalNanos)).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0,1,1,Gamma,1 | chunk-1-trace.csv:1: has 5 fields, must be start, rate, cv, family, shape and scale",
                "0,x,1,Gamma,1,1 | chunk-1-trace.csv:1: rate is x, must be a number from 0.0 to 1e9",
                "0,1,1,Pareto,1,1 | chunk-1-trace.csv:1: the family is Pareto, must be Gamma or Weibull",
                "0,1,1,Gamma,0,1 | chunk-1-trace.csv:1: shape is 0, must be a number from 0.01 to 1e9",
            })
    void malformedRate_isReportedWithFileAndLine(String line, String problem) throws IOException {
        client(1, line + "\n", LENGTHS);

        assertProblem(directory + "/" + problem);
    }

    @Test
    void windowsBackInTime_areReported() throws IOException {
        client(1, "600,1,1,Gamma,1,1\n0,1,1,Gamma,1,1\n", LENGTHS);

        assertProblem(directory + "/chunk-1-trace.csv:2: the window starts no later than the one above it");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{ | :1: not JSON: ",
                "{'x': {}} | : has the window 'x', which is not a time in seconds",
                "{'0': {'output_tokens': '{1: 1}'}} | : window 0 has no input_tokens",
                "{'0': {'input_tokens': '[1]', 'output_tokens': '{1: 1}'}} | : window 0: input_tokens is not a table",
                "{'0': {'input_tokens': '{1: 0.5, 2}', 'output_tokens': '{1: 1}'}}"
                        + " | : window 0: input_tokens has no number and share at 2",
                "{'0': {'input_tokens': '{}', 'output_tokens': '{1: 1}'}} | : has no lengths for second",
            })
    void malformedLengths_areReportedWithTheirFile(String lengths, String problem) throws IOException {
        client(1, "0,1,1,Gamma,1,1\n", lengths.replace('\'', '"'));

        assertProblem(directory + "/chunk-1-dataset.json" + problem.replace('\'', '"'));
    }

    @Test
    void missingFiles_areReported() throws IOException {
        assertProblem(directory + ": has no files chunk-N-trace.csv and chunk-N-dataset.json");
        Files.writeString(directory.resolve("chunk-3-trace.csv"), "0,1,1,Gamma,1,1\n");
        assertProblem(directory + ": has no file chunk-3-dataset.json");
    }

    private void assertProblem(String message) {
        assertThatThrownBy(() -> rows(all(1)))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(message);
    }

    private void client(int number, String windows, String lengths) throws IOException {
        Files.writeString(directory.resolve("chunk-" + number + "-trace.csv"), windows);
        Files.writeString(directory.resolve("chunk-" + number + "-dataset.json"), lengths);
    }

    private ServeGenOptions all(double rateScale) {
        return new ServeGenOptions(services(rateScale), 0, ALL_SECONDS, 0, true, true);
    }

    private List<ServeGenOptions.Service> services(double rateScale) {
        return List.of(new ServeGenOptions.Service(directory, rateScale));
    }

    private static List<TraceRow> rows(ServeGenOptions options) {
        var rows = new ArrayList<TraceRow>();
        try (var reader = new ServeGenReader(options, new RandomStreams(1))) {
            for (var row = reader.next(); row != null; row = reader.next()) {
                rows.add(row);
            }
        }
        return rows;
    }

    private static int count(List<TraceRow> rows, Predicate<TraceRow> isCounted) {
        return (int) rows.stream().filter(isCounted).count();
    }

    private static double seconds(TraceRow row) {
        return row.arrivalNanos() / 1e9;
    }
}

package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.TokenSequence;
import understudy.workload.files.TraceException;
import understudy.workload.trace.AzureTraceReader;
import understudy.workload.trace.CsvTraceReader;
import understudy.workload.trace.JsonTraceReader;
import understudy.workload.trace.TraceReader;
import understudy.workload.trace.TraceRow;

final class TraceReadersTest {
    @TempDir
    private Path directory;

    @Test
    void mooncake_expandsHashIdsTo512TokensEach() throws IOException {
        var rows = mooncake("""
                {"timestamp": 0, "input_length": 1000, "output_length": 5, "hash_ids": [7, 8]}

                {"timestamp": 27.5, "input_length": 1024, "output_length": 6, "hash_ids": [7, 9], "extra": {"a": [1]}}
                """);

        assertThat(rows).hasSize(2);
        assertThat(rows.get(0).prompt().length()).isEqualTo(1000);
        assertThat(rows.get(0).numOutputTokens()).isEqualTo(5);
        assertThat(rows.get(1).arrivalNanos()).isEqualTo(27_500_000);
        assertThat(commonPrefix(rows.get(0).prompt(), rows.get(1).prompt())).isEqualTo(512);
        assertThat(rows.get(0).prompt().tokenAt(512)).isEqualTo(new SyntheticTokens(8).tokenAt(0));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | not JSON: ",
                "[1] | not a JSON object",
                "{\"timestamp\": 0 | not JSON: ",
                "{\"timestamp\": 0} {} | something follows the JSON object",
                "{\"timestamp\": 0, \"output_length\": 5, \"hash_ids\": [1]} | field input_length is missing",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5} | field hash_ids is missing",
                "{\"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1]} | field timestamp is missing",
                "{\"timestamp\": 0, \"input_length\": -3, \"output_length\": 5, \"hash_ids\": [1]}"
                        + " | input_length is -3, must be a whole number of at least 1",
                "{\"timestamp\": 0, \"input_length\": 3, \"output_length\": 1.5, \"hash_ids\": [1]}"
                        + " | output_length is 1.5, must be a whole number of at least 1",
                "{\"timestamp\": -1, \"input_length\": 3, \"output_length\": 1, \"hash_ids\": [1]} | timestamp is -1, must be from 0",
                "{\"timestamp\": 0, \"input_length\": \"x\", \"output_length\": 1, \"hash_ids\": [1]}"
                        + " | input_length is x, which is not a number",
                "{\"timestamp\": 0, \"input_length\": 513, \"output_length\": 1, \"hash_ids\": [1]}"
                        + " | the 1 hash_ids cover at most 512 tokens",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [\"a\"]} | not a whole number",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": 4} | hash_ids is not a list"
            })
    void mooncake_namesFileAndLineOfABadRow(String line, String problem) throws IOException {
        String good = "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1]}\n";
        var file = write("trace.jsonl", good + good + line + "\n");

        assertThatThrownBy(() -> readAll(new JsonTraceReader(file)))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(file + ":3: ")
                .hasMessageContaining(problem);
    }

    @Test
    void gzip_isRecognisedByItsContent() throws IOException {
        var file = directory.resolve("trace.data");
        try (var out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write("arrival_s,input_toks,output_toks\n1,2,3\n".getBytes(StandardCharsets.UTF_8));
        }

        assertThat(readAll(new CsvTraceReader(file, 16))).hasSize(1);
    }

    @Test
    void truncatedGzip_isReported() throws IOException {
        var whole = directory.resolve("whole.gz");
        try (var out = new GZIPOutputStream(Files.newOutputStream(whole))) {
            out.write("arrival_s,input_toks,output_toks\n".getBytes(StandardCharsets.UTF_8));
            for (int i = 1; i < 10_000; i++) {
                out.write((i + ",2,3\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        byte[] bytes = Files.readAllBytes(whole);
        var file = Files.write(directory.resolve("cut.gz"), Arrays.copyOf(bytes, bytes.length / 2));

        assertThatThrownBy(() -> readAll(new CsvTraceReader(file, 16)))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(file + ": ")
                .hasMessageNotContaining("null");
        assertThatThrownBy(() -> readAll(new JsonTraceReader(Files.write(file, Arrays.copyOf(bytes, 5)))))
                .hasMessage(file + ": cannot be read: it ends in the middle");
    }

    @Test
    void byteOrderMark_isPassedOver() throws IOException {
        assertThat(mooncake("\ufeff{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1]}\n"))
                .hasSize(1);
        assertThat(readAll(new CsvTraceReader(write("b.csv", "\ufeffarrival_s,input_toks,output_toks\n1,2,3\n"), 16)))
                .hasSize(1);
    }

    @Test
    void tenant_isOptional() throws IOException {
        var rows = readAll(new CsvTraceReader(
                write("t.csv", "arrival_s,input_toks,output_toks,tenant\n1,2,3, ada \n2,2,3,\n"), 16));

        assertThat(rows).extracting(TraceRow::tenant).containsExactly("ada", "");
    }

    @Test
    void priority_isOptional() throws IOException {
        var rows = readAll(new CsvTraceReader(
                write("t.csv", "arrival_s,input_toks,output_toks,priority\n1,2,3,-4\n2,2,3,\n"), 16));
        assertThat(rows).extracting(TraceRow::priority).containsExactly(-4, 0);

        var lines = mooncake("""
                {"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [1], "priority": 2}
                {"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [1]}
                """);
        assertThat(lines).extracting(TraceRow::priority).containsExactly(2, 0);
    }

    @Test
    void missingFile_isReported() {
        var file = directory.resolve("nowhere.csv");

        assertThatThrownBy(() -> new CsvTraceReader(file, 16))
                .isInstanceOf(TraceException.class)
                .hasMessage(file + ": no such file");
    }

    @Test
    void emptyFile_hasNoRows() throws IOException {
        assertThat(mooncake("")).isEmpty();
        assertThat(readAll(new CsvTraceReader(write("empty.csv", ""), 16))).isEmpty();
    }

    @Test
    void csv_sharesBlocksByIdAndNothingElse() throws IOException {
        var rows = readAll(new CsvTraceReader(write("trace.csv", """
                id,arrival_s,input_toks,output_toks,shared_prefix_block_ids
                0,0.5,40,7,11 12
                1,1.25,40,8,11 13
                2,2,40,9,
                """), 16));

        assertThat(rows)
                .extracting(TraceRow::arrivalNanos)
                .containsExactly(500_000_000L, 1_250_000_000L, 2_000_000_000L);
        assertThat(rows).extracting(TraceRow::numOutputTokens).containsExactly(7, 8, 9);
        assertThat(rows).allSatisfy(row -> assertThat(row.prompt().length()).isEqualTo(40));
        assertThat(commonPrefix(rows.get(0).prompt(), rows.get(1).prompt())).isEqualTo(16);
        assertThat(commonPrefix(rows.get(0).prompt(), rows.get(2).prompt())).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x,2,3, | arrival_s is x, must be seconds from 0",
                "-1,2,3, | arrival_s is -1, must be seconds from 0",
                "1,-2,3, | input_toks is -2, must be a whole number of at least 1",
                "1,2,0, | output_toks is 0, must be a whole number of at least 1",
                "1,2,, | output_toks is missing, must be a whole number of at least 1",
                "0x1p3,2,3, | arrival_s is 0x1p3, must be seconds",
                "1d,2,3, | arrival_s is 1d, must be seconds",
                "1,+2,3, | input_toks is +2, must be a whole number",
                "1,\u0662,3, | must be a whole number",
                "1,2147483648,3, | input_toks is 2147483648, must be at most 2147483647",
                "1,2,3 | has 3 fields, but the header has 4",
                "1,2,3,,9 | has 5 fields, but the header has 4",
                "1,20,3,1 2 | shared_prefix_block_ids names 2 blocks of 16",
                "1,20,3,a | shared_prefix_block_ids is a, must be whole numbers"
            })
    void csv_namesFileAndLineOfABadRow(String line, String problem) throws IOException {
        var file = write("t.csv", "arrival_s,input_toks,output_toks,shared_prefix_block_ids\n1,2,3,\n" + line + "\n");

        assertThatThrownBy(() -> readAll(new CsvTraceReader(file, 16)))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(file + ":3: ")
                .hasMessageContaining(problem);
    }

    @Test
    void csvWithoutAColumn_saysWhichItHas() throws IOException {
        var file = write("t.csv", "arrival,input_toks,output_toks\n1,2,3\n");

        assertThatThrownBy(() -> readAll(new CsvTraceReader(file, 16)))
                .hasMessage(file + ":1: no column arrival_s; the header has arrival, input_toks, output_toks");
    }

    @Test
    void azure_countsTimeFromItsFirstRow() throws IOException {
        var rows = readAll(new AzureTraceReader(write("azure.csv", """
                TIMESTAMP,ContextTokens,GeneratedTokens\r
                2023-11-16 18:15:46.6805900,374,44\r
                2023-11-16 18:15:50.9951690,396,109\r
                """)));

        assertThat(rows).extracting(TraceRow::arrivalNanos).containsExactly(0L, 4_314_579_000L);
        assertThat(rows.get(1).prompt().length()).isEqualTo(396);
        assertThat(rows.get(1).numOutputTokens()).isEqualTo(109);
        assertThat(commonPrefix(rows.get(0).prompt(), rows.get(1).prompt())).isZero();
    }

    @Test
    void azure2024_hasAnOffset() throws IOException {
        var rows = readAll(new AzureTraceReader(write("azure.csv", """
                TIMESTAMP,ContextTokens,GeneratedTokens
                2024-05-10 00:00:00.009930+00:00,2162,5
                2024-05-10 02:00:00.017335+02:00,2399,6
                """)));

        assertThat(rows.get(1).arrivalNanos()).isEqualTo(7_405_000);
    }

    @Test
    void azure_namesABadTime() throws IOException {
        var file = write("azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n");

        assertThatThrownBy(() -> readAll(new AzureTraceReader(file)))
                .hasMessageStartingWith(file + ":2: TIMESTAMP is yesterday, must be a time");
    }

    private List<TraceRow> mooncake(String text) throws IOException {
        return readAll(new JsonTraceReader(write("trace.jsonl", text)));
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private static List<TraceRow> readAll(TraceReader reader) {
        try (reader) {
            var rows = new ArrayList<TraceRow>();
            for (var row = reader.next(); row != null; row = reader.next()) {
                rows.add(row);
            }
            return rows;
        }
    }

    private static int commonPrefix(TokenSequence one, TokenSequence other) {
        int i = 0;
        while (i < Math.min(one.length(), other.length()) && one.tokenAt(i) == other.tokenAt(i)) {
            i++;
        }
        return i;
    }
}

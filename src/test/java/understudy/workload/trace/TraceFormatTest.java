package understudy.workload.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.prompt.SessionTurn;
import understudy.workload.files.TraceException;

/** The formats of traces that people have. */
final class TraceFormatTest {
    private static final String BURSTGPT_HEADER =
            "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n";

    @TempDir
    private Path directory;

    @Test
    void qwenBailian_hasBlocksOf16TokensAndConversations() throws IOException {
        var rows = read(TraceFormat.QWEN_BAILIAN, """
                {"chat_id": 7, "parent_chat_id": -1, "timestamp": 61.1, "input_length": 40, "output_length": 9, \
                "type": "text", "turn": 1, "hash_ids": [1, 2, 3]}
                {"chat_id": 8, "parent_chat_id": -1, "timestamp": 61.5, "input_length": 16, "output_length": 1, \
                "type": "search", "turn": 1, "hash_ids": [4]}
                {"chat_id": 9, "parent_chat_id": 7, "timestamp": 70, "input_length": 60, "output_length": 3, \
                "type": "text", "turn": 2, "hash_ids": [1, 2, 5, 6]}
                {"chat_id": 10, "parent_chat_id": 9, "timestamp": 71, "input_length": 20, "output_length": 3, \
                "type": "text", "turn": 3, "hash_ids": [1]}
                """);

        assertThat(rows).extracting(TraceRow::arrivalNanos).startsWith(61_100_000_000L, 61_500_000_000L);
        assertThat(rows)
                .extracting(TraceRow::turn)
                .containsExactly(
                        SessionTurn.of(7, 1), SessionTurn.of(8, 1), SessionTurn.of(7, 2), SessionTurn.of(7, 3));
        // Blocks 1 and 2 are the same, the third ones differ: 32 tokens. Of the last prompt one block is known.
        assertThat(commonPrefix(rows.get(0), rows.get(2))).isEqualTo(32);
        assertThat(commonPrefix(rows.get(3), rows.get(2))).isEqualTo(16);
        assertThat(rows.get(3).prompt().length()).isEqualTo(20);
    }

    @Test
    void burstGpt_hasSessionsAndLeavesOutWhatHasFailed() throws IOException {
        var rows = read(
                TraceFormat.BURSTGPT,
                BURSTGPT_HEADER
                        + "5,,3,ChatGPT,472,18,490,API log\n"
                        + "45.5,s1,3,ChatGPT,10,0,10,Conversation log\n"
                        + "46,s1,3,GPT-4,10,20,30,Conversation log\n"
                        + "50,s2,3,GPT-4,10,20,30,Conversation log\n"
                        + "60,s1,3,GPT-4,50,20,70,Conversation log\n");

        assertThat(rows)
                .extracting(TraceRow::arrivalNanos)
                .containsExactly(5_000_000_000L, 46_000_000_000L, 50_000_000_000L, 60_000_000_000L);
        assertThat(rows)
                .extracting(TraceRow::turn)
                .containsExactly(SessionTurn.NONE, SessionTurn.of(0, 1), SessionTurn.of(1, 1), SessionTurn.of(0, 2));
        assertThat(rows.get(0).numPromptTokens()).isEqualTo(472);
        assertThat(rows.get(0).numOutputTokens()).isEqualTo(18);
        assertThat(commonPrefix(rows.get(1), rows.get(3))).isZero();
    }

    /** The traces of 2024 have an offset, those of 2023 have none, and full seconds have no fraction. */
    @ParameterizedTest
    @CsvSource({
        "2024-05-10 00:00:00.009930+00:00, 2024-05-10 00:00:02+00:00, 1990070000",
        "2024-05-10 00:00:00Z, 2024-05-10 02:00:00.5+02:00, 500000000",
        "2024-05-09 19:00:00-05:00, 2024-05-10 00:00:01+00:00, 1000000000",
        "2023-11-16 18:15:46.6805900, 2023-11-16 18:15:47, 319410000"
    })
    void azure_hasTimesWithAndWithoutAnOffset(String first, String second, long nanos) throws IOException {
        var rows = read(
                TraceFormat.AZURE,
                "TIMESTAMP,ContextTokens,GeneratedTokens\n" + first + ",374,44\n" + second + ",396,109\n");

        assertThat(rows).extracting(TraceRow::arrivalNanos).containsExactly(0L, nanos);
        assertThat(rows).extracting(TraceRow::numOutputTokens).containsExactly(44, 109);
    }

    @Test
    void vllmBench_hasStartTimesInAnyOrder() throws IOException {
        var rows = read(TraceFormat.VLLM_BENCH, """
                {"date": "20260101-000000", "request_rate": "inf", "input_lens": [10, 20, 30], "output_lens": [1, 2, 0],
                 "ttfts": [0.1, 0.2, 0], "itls": [[], [0.1], []], "start_times": [100.5, 100.25, 101], "errors": ["", "", "x"]}
                """);

        assertThat(rows).extracting(TraceRow::arrivalNanos).containsExactly(0L, 250_000_000L);
        assertThat(rows).extracting(TraceRow::numPromptTokens).containsExactly(20, 10);
    }

    @Test
    void vllmBenchWithoutStartTimes_isSpreadAtItsRate() throws IOException {
        String lengths = "\"input_lens\": [10, 20], \"output_lens\": [1, 2]}";

        assertThat(read(TraceFormat.VLLM_BENCH, "{\"request_rate\": 4.0, " + lengths))
                .extracting(TraceRow::arrivalNanos)
                .containsExactly(0L, 250_000_000L);
        assertThat(read(TraceFormat.VLLM_BENCH, "{\"request_rate\": Infinity, " + lengths))
                .extracting(TraceRow::arrivalNanos)
                .containsExactly(0L, 0L);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "QWEN_BAILIAN | {'chat_id': 1, 'timestamp': 1, 'input_length': 3, 'output_length': 1, 'hash_ids': []}"
                        + " | :1: field turn is missing",
                "QWEN_BAILIAN | {'chat_id': 'x'} | :1: chat_id is x, which is not a number",
                "BURSTGPT | Timestamp,Request tokens~1,2 | :1: no column Response tokens",
                "AZURE | TIMESTAMP,ContextTokens,GeneratedTokens~2024,1,1 | :2: TIMESTAMP is 2024, must be a time such as",
                "VLLM_BENCH | [] | :1: not a JSON object",
                "VLLM_BENCH | {'input_lens': [1,~'x']} | :2: input_lens has x, which is not a number",
                "VLLM_BENCH | {'input_lens': [1],~~'output_lens': 3} | :3: output_lens is not a list",
                "VLLM_BENCH | {'input_lens': [1]} | : has 1 input_lens and 0 output_lens, must be as many of both",
                "VLLM_BENCH | {'input_lens': [1], 'output_lens': [1]} | : has neither start_times nor a request_rate",
                "VLLM_BENCH | {'input_lens': [0], 'output_lens': [1], 'request_rate': 1}"
                        + " | : input_lens of request 1 is 0.0, must be at least 1",
                "VLLM_BENCH | {'input_lens': [1, | :1: not JSON: ",
            })
    void malformedLine_isReportedWithFileAndLine(TraceFormat format, String text, String problem) throws IOException {
        var file = write(text.replace('\'', '"').replace('~', '\n'));

        assertThatThrownBy(() -> read(format, file))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(file + problem);
    }

    @ParameterizedTest
    @CsvSource({
        "'x,,3,m,10,20,30,API log', 2: Timestamp is x",
        "'1,,3,m,ten,20,30,API log', 2: Request tokens is ten",
        "'1,,3,m,10,-2,30,API log', 2: Response tokens is -2",
        "'1,,3,m,10', '2: has 5 fields, but the header has 8'"
    })
    void malformedRowOfBurstGpt_isReportedWithFileAndLine(String row, String problem) throws IOException {
        var file = write(BURSTGPT_HEADER + row + "\n");

        assertThatThrownBy(() -> read(TraceFormat.BURSTGPT, file)).hasMessageStartingWith(file + ":" + problem);
    }

    @Test
    void anyFormat_mayBeGzipped() throws IOException {
        var file = directory.resolve("result.json");
        try (var out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write("{\"input_lens\": [1], \"output_lens\": [2], \"request_rate\": 1}"
                    .getBytes(StandardCharsets.UTF_8));
        }

        assertThat(read(TraceFormat.VLLM_BENCH, file)).hasSize(1);
    }

    private Path write(String text) throws IOException {
        return Files.writeString(directory.resolve("trace"), text);
    }

    private List<TraceRow> read(TraceFormat format, String text) throws IOException {
        return read(format, write(text));
    }

    private static List<TraceRow> read(TraceFormat format, Path file) {
        var rows = new ArrayList<TraceRow>();
        try (var reader = format.open(file, 16)) {
            for (var row = reader.next(); row != null; row = reader.next()) {
                rows.add(row);
            }
        }
        return rows;
    }

    private static int commonPrefix(TraceRow a, TraceRow b) {
        int length = Math.min(a.prompt().length(), b.prompt().length());
        int common = 0;
        while (common < length && a.prompt().tokenAt(common) == b.prompt().tokenAt(common)) {
            common++;
        }
        return common;
    }
}

package understudy.workload.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.prompt.Prompt;
import understudy.prompt.SequenceTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;
import understudy.workload.files.TraceException;

/** Our own format: what is written is read again. */
final class TraceLineTest {
    private static final String HEADER = new String(TraceLine.header(4), StandardCharsets.UTF_8);

    @TempDir
    private Path directory;

    @Test
    void line_isReadAsItWasWritten() throws IOException {
        var line = TraceLineBuilder.builder()
                .atNanos(1_500_000_001L)
                .numPromptTokens(9)
                .numOutputTokens(5)
                .blockHashes(LongList.of(11, 12, 13))
                .numPromptBlocks(2)
                .turn(SessionTurn.of(3, 2))
                .maxTokens(7)
                .ignoresEos(true)
                .priority(-1)
                .user("ada")
                .loraName("sql")
                .build();

        try (var reader = read(HEADER + new String(line.bytes(), StandardCharsets.UTF_8))) {
            assertThat(reader.next())
                    .isEqualTo(TraceRowBuilder.builder()
                            .line(2)
                            .arrivalNanos(1_500_000_001L)
                            .numPromptTokens(9)
                            .blockIds(LongList.of(11, 12))
                            .blockTokens(4)
                            .outputBlockIds(LongList.of(13))
                            .numOutputTokens(5)
                            .maxTokens(7)
                            .priority(-1)
                            .tenant("ada")
                            .loraName("sql")
                            .turn(SessionTurn.of(3, 2))
                            .build());
            assertThat(reader.next()).isNull();
        }
    }

    /**
     * A prompt of 6 tokens and an answer of 7 have three full blocks of 4, the second of which lies in both. The next turn
     * begins with these 13 tokens; so do the tokens that are made up for both, block by block.
     */
    @Test
    void madeUpAnswer_isTheBeginningOfTheNextTurn() throws IOException {
        var hasher = new Xxh3BlockHasher(4);
        var prompt = new TokenIds(1, 2, 3, 4, 5, 6);
        var answer = new SyntheticTokens(77);
        var next = new int[14];
        new SequenceTokens(prompt, answer).copy(0, 14, next, 0);
        var first = TraceLine.hashes(new Prompt(prompt), answer, 7, hasher);
        var second = TraceLine.hashes(new Prompt(new TokenIds(next)), new SyntheticTokens(5), 1, hasher);

        try (var reader = read(HEADER + text(first, 6, 7) + text(second, 14, 1))) {
            var asked = reader.next();
            var followUp = reader.next();
            var answered = asked.answer(0);
            for (int i = 0; i < 6; i++) {
                assertThat(followUp.prompt().tokenAt(6 + i)).isEqualTo(answered.tokenAt(i));
            }
            for (int i = 0; i < 6; i++) {
                assertThat(followUp.prompt().tokenAt(i))
                        .isEqualTo(asked.prompt().tokenAt(i));
            }
        }
    }

    private static String text(LongList hashes, int numPrompt, int numOutput) {
        var line = TraceLineBuilder.builder()
                .numPromptTokens(numPrompt)
                .numOutputTokens(numOutput)
                .blockHashes(hashes)
                .numPromptBlocks(numPrompt / 4)
                .turn(SessionTurn.NONE)
                .maxTokens(numOutput)
                .ignoresEos(true)
                .user("")
                .loraName("")
                .build();
        return new String(line.bytes(), StandardCharsets.UTF_8);
    }

    /** Whoever wrote it was killed in the middle of the last line. */
    @Test
    void lastLineWithoutABreak_isPassedOver() throws IOException {
        String line = text(LongList.of(1, 2), 9, 1);

        try (var reader = read(HEADER + line + line.substring(0, line.length() / 2))) {
            assertThat(reader.next()).isNotNull();
            assertThat(reader.next()).isNull();
        }
        try (var reader = read(HEADER + line.substring(0, line.length() / 2) + "\n")) {
            assertThatThrownBy(reader::next).hasMessageContaining("trace:2: not JSON");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{'format': 'other', 'version': 1} | 1: the format is not understudy-trace, version 1",
                "{'format': 'understudy-trace', 'version': 2, 'block_size': 16} | 1: the format is not",
                "{'format': 'understudy-trace', 'version': 1} | 1: field block_size is missing",
                "{'time': 1, 'input_length': 9, 'output_length': 1, 'hash_ids': []} | 2: input_length is 9, which is 2"
                        + " full blocks of 4 tokens, but hash_ids has 0",
                "{'timestamp': 1, 'input_length': 3, 'output_length': 1, 'hash_ids': []} | 2: field time is missing",
                "{'time': 1, 'input_length': 3, 'output_length': 1, 'output_hash_ids': [-1]} | 2: output_hash_ids has"
                        + " -1",
                "{'time': 1, 'input_length': 3, 'output_length': 1, 'session': 1.5} | 2: session is 1.5, must be a"
                        + " whole",
                "{'time': 1, 'input_length': 3, 'output_length': 1, 'user': 5} | 2: user is 5, which is not a text",
            })
    void malformedLine_isReportedWithFileAndLine(String line, String problem) throws IOException {
        String text = line.replace('\'', '"') + "\n";

        try (var reader = read(problem.startsWith("1") ? text : HEADER + text)) {
            assertThatThrownBy(reader::next)
                    .isInstanceOf(TraceException.class)
                    .hasMessageStartingWith(directory.resolve("trace") + ":" + problem);
        }
    }

    private JsonTraceReader read(String text) throws IOException {
        return new JsonTraceReader(Files.writeString(directory.resolve("trace"), text));
    }
}

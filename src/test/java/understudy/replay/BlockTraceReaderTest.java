package understudy.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.workload.files.TraceException;

final class BlockTraceReaderTest {
    private static final int DERIVED = 0;
    private static final long ALL = 0;

    @TempDir
    private Path directory;

    private int blockSize;
    private int numBlocks;

    @Test
    void blocks_areNumberedInOrderOfAppearance() throws IOException {
        var file = write("t.jsonl", line(3, 1500, "90", "7", "9223372036854775807") + "\r\n" + line(4, 600, "90", "8"));

        var chunk = readOne(DERIVED, ALL, file);

        assertThat(chunk.numRequests()).isEqualTo(2);
        assertThat(chunk.blocks()).containsExactly(0, 1, 2, 0, 3);
        assertThat(chunk.ends()).containsExactly(3, 5);
        assertThat(chunk.promptTokens()).containsExactly(1500, 600);
        assertThat(chunk.timestampMillis()).containsExactly(3, 4);
        assertThat(blockSize).isEqualTo(512);
        assertThat(numBlocks).isEqualTo(4);
    }

    @Test
    void files_areOneStreamWithTheirTimestamps() throws IOException {
        var first = write("a.jsonl", "\ufeff" + line(5, 512, "1") + "\n\n");
        var second = directory.resolve("b.gz");
        try (var out = new GZIPOutputStream(Files.newOutputStream(second))) {
            out.write((line(2, 1024, "1", "2") + "\n").getBytes(StandardCharsets.UTF_8));
        }

        var chunk = readOne(DERIVED, ALL, first, second);

        assertThat(chunk.blocks()).containsExactly(0, 0, 1);
        assertThat(chunk.timestampMillis()).containsExactly(5, 2);
    }

    @Test
    void limit_countsOverAllFiles() throws IOException {
        var file = write("t.jsonl", (line(0, 512, "1") + "\n").repeat(3));

        assertThat(readOne(DERIVED, 4, file, file).numRequests()).isEqualTo(4);
        assertThat(readOne(DERIVED, 3, file, write("bad.jsonl", "nonsense")).numRequests())
                .isEqualTo(3);
    }

    @Test
    void longTrace_comesInSeveralChunks() throws IOException {
        // 2,000 requests of 40 ids, more than two chunks of some 32,768 accesses.
        String ids = ids(40);
        var file = write("t.jsonl", (line(0, 40 * 512, ids) + "\n").repeat(2_000));

        var chunks = read(DERIVED, ALL, file);

        assertThat(chunks).hasSizeBetween(2, 4);
        assertThat(chunks.stream().mapToInt(TraceChunk::numRequests).sum()).isEqualTo(2_000);
        assertThat(chunks).allSatisfy(chunk -> assertThat(chunk.blocks()).hasSize(40 * chunk.numRequests()));
    }

    @ParameterizedTest
    @CsvSource({
        // 1000 tokens and 63 ids: more than 62 blocks and less than 64, 15.6 to 16.1 tokens each.
        "1000, 63, 16",
        // 1000 tokens and 62 ids, which leave out a partial block: 15.9 to 16.4.
        "1000, 62, 16",
        // 1000 tokens and 10 ids: 90.9 to 111.1, where there is no power of two, but a multiple of 16.
        "1000, 10, 96",
        // One id alone: above 350, so 512 will do; above 600, so the least power of two.
        "700, 1, 512",
        "1200, 1, 1024",
        // 1000 tokens and 100 ids: 9.9 to 10.1.
        "1000, 100, 10"
    })
    void blockSize_followsFromTheLengths(int promptTokens, int numIds, int expected) throws IOException {
        String ids = ids(numIds);

        readOne(DERIVED, ALL, write("t.jsonl", line(0, promptTokens, ids)));

        assertThat(blockSize).isEqualTo(expected);
    }

    @Test
    void blockSizeThatIsNotClear_mustBeGiven() throws IOException {
        // 1000 tokens and 30 ids: 1000 / 31 = 32.3 to 1000 / 29 = 34.5.
        var file = write("t.jsonl", line(0, 1000, ids(30)));

        assertThatThrownBy(() -> readOne(DERIVED, ALL, file))
                .hasMessage(
                        file
                                + ": block sizes of 33 to 34 tokens go with the lengths of the prompts; say which by --block-size");
        assertThat(readOne(34, ALL, file).numRequests()).isEqualTo(1);
    }

    @Test
    void otherBlockSize_isNamed() throws IOException {
        // 1000 tokens in 63 blocks go with 16 alone.
        var file = write("t.jsonl", line(0, 1000, ids(63)) + "\n" + line(0, 160, ids(10)));

        assertThatThrownBy(() -> readOne(512, ALL, file))
                .isInstanceOf(TraceException.class)
                .hasMessage(
                        file + ":1: input_length is 1000, which is 1 or 2 blocks of 512 tokens, but hash_ids has 63;"
                                + " the trace goes with a block size of 16");
    }

    @Test
    void shortLine_isTheLinesProblemAndNotTheBlockSizes() throws IOException {
        String good = line(0, 10 * 512, ids(10)) + "\n";
        var file = write("t.jsonl", good + line(0, 10 * 512, ids(8)) + "\n" + good);

        // 5120 tokens in 10 blocks: 466 to 568 each; in 8: 569 to 731. Nothing goes with both.
        for (int size : new int[] {DERIVED, 512}) {
            assertThatThrownBy(() -> readOne(size, ALL, file))
                    .hasMessage(
                            file + ":2: input_length is 5120, which is 10 blocks of 512 tokens, but hash_ids has 8");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | not JSON: Unrecognized token 'nonsense'",
                "{\"timestamp\": 0 | not JSON: ",
                "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 5} | field hash_ids is missing",
                "{\"input_length\": 512, \"output_length\": 5, \"hash_ids\": [1]} | field timestamp is missing",
                "{\"timestamp\": 0, \"output_length\": 5, \"hash_ids\": [1]} | field input_length is missing",
                "{\"timestamp\": 0, \"input_length\": 512, \"hash_ids\": [1]} | field output_length is missing",
                "{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 5, \"hash_ids\": []}"
                        + " | input_length is 0, must be a whole number of at least 1",
                "{\"timestamp\": 0, \"input_length\": 3000000000, \"output_length\": 5, \"hash_ids\": [1]}"
                        + " | input_length is 3000000000, must be at most 2147483647",
                "{\"timestamp\": 0, \"input_length\": 1e400, \"output_length\": 5, \"hash_ids\": [1]}"
                        + " | input_length is Infinity, must be at most 2147483647",
                "{\"timestamp\": -1, \"input_length\": 512, \"output_length\": 5, \"hash_ids\": [1]}"
                        + " | timestamp is -1, must be from 0 to 1000000000000",
                "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 5, \"hash_ids\": [-1]}"
                        + " | hash_ids has -1, must be whole numbers from 0 to 9223372036854775807",
                "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 5, \"hash_ids\": [9223372036854775808]}"
                        + " | hash_ids has 9223372036854775808, must be whole numbers from 0",
                "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 5, \"hash_ids\": [1.5]}"
                        + " | hash_ids has 1.5, which is not a whole number",
                "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 5, \"hash_ids\": [null]}"
                        + " | hash_ids has null, which is not a whole number",
                "{\"timestamp\": \"x\", \"input_length\": 512, \"output_length\": 5, \"hash_ids\": [1]}"
                        + " | timestamp is x, which is not a number",
                "{\"timestamp\": 0, \"input_length\": 1536, \"output_length\": 5, \"hash_ids\": [4, 5]}"
                        + " | input_length is 1536, which is 3 blocks of 512 tokens, but hash_ids has 2"
            })
    void badLine_isNamedWithItsFile(String line, String problem) throws IOException {
        String good = line(0, 5120, ids(10)) + "\n";
        var file = write("trace.jsonl", good + "\n" + line + "\n" + good);

        assertThatThrownBy(() -> read(DERIVED, ALL, file))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(file + ":3: ")
                .hasMessageContaining(problem);
    }

    @Test
    void lineThatEndsInTheMiddle_isNamed() throws IOException {
        var file = write("cut.jsonl", line(0, 512, "1") + "\n{\"timestamp\": 0, \"hash_ids\": [1, 2");

        assertThatThrownBy(() -> readOne(DERIVED, ALL, file))
                .hasMessage(file + ":2: not JSON: Unexpected end-of-input: expected close marker for Array");
    }

    @Test
    void idsOfAnEarlierRequest_areNoDuplicates() throws IOException {
        var file = write("t.jsonl", line(0, 1024, "1,2") + "\n" + line(0, 1024, "2,1"));

        assertThat(readOne(DERIVED, ALL, file).blocks()).containsExactly(0, 1, 1, 0);
    }

    @Test
    void azureTrace_isRefusedWithTheReason() throws IOException {
        var file = write("azure.csv", "\ufeffTIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,374,44\n");

        assertThatThrownBy(() -> readOne(DERIVED, ALL, file))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(file + ":1: an Azure trace says how long prompts are, but nothing about their");
    }

    @Test
    void emptyOrMissingFile_isReported() throws IOException {
        var good = write("t.jsonl", line(0, 512, "1"));
        var empty = write("empty.jsonl", "\n \n");
        var missing = directory.resolve("nowhere");

        assertThatThrownBy(() -> readOne(DERIVED, ALL, good, empty)).hasMessage(empty + ": the trace has no requests");
        assertThatThrownBy(() -> readOne(DERIVED, ALL, good, missing)).hasMessage(missing + ": no such file");
        assertThatThrownBy(() -> readOne(DERIVED, ALL, directory))
                .isInstanceOf(TraceException.class)
                .hasMessageStartingWith(directory + ": cannot be read: ");
    }

    private TraceChunk readOne(int givenBlockSize, long limit, Path... files) {
        var chunks = read(givenBlockSize, limit, files);
        assertThat(chunks).hasSize(1);
        return chunks.get(0);
    }

    private List<TraceChunk> read(int givenBlockSize, long limit, Path... files) {
        var chunks = new ArrayList<TraceChunk>();
        try (var reader = new BlockTraceReader(List.of(files), givenBlockSize, limit)) {
            for (var chunk = reader.next(); chunk != null; chunk = reader.next()) {
                chunks.add(chunk);
            }
            blockSize = reader.blockSize();
            numBlocks = reader.numBlocks();
        }
        return chunks;
    }

    private static String ids(int number) {
        return IntStream.range(0, number).mapToObj(String::valueOf).collect(Collectors.joining(","));
    }

    private static String line(long millis, int promptTokens, String... ids) {
        return "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 1, \"hash_ids\": [%s]}"
                .formatted(millis, promptTokens, String.join(", ", ids));
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }
}

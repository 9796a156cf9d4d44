package understudy.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.TestData;

final class ParquetTableTest {
    private static final String LATENCY = "latency";

    @TempDir
    private Path folder;

    @Test
    void smallestFile_isRead() throws IOException {
        var table = read(new ParquetBytes().build());

        // The dictionary is 1.5, 2.5; the indices are 0, 1, 1.
        assertThat(IntStream.range(0, table.numRows()).mapToDouble(row -> table.number(LATENCY, row)))
                .containsExactly(1.5, 2.5, 2.5);
        assertThat(table.has("window_size")).isFalse();
        assertThatThrownBy(() -> table.text(LATENCY, 0)).hasMessageEndingWith("it has numbers, not text");
        assertThatThrownBy(() -> table.number("m", 0)).hasMessageEndingWith("column m: it is missing");
    }

    /** Rows, and sums over all rows of a column of numbers and of the lengths of a column of text, as DuckDB 1.5.6 has them. */
    @ParameterizedTest
    @CsvSource({
        "a100_sxm/moe/vllm/0.14.0/moe_perf.parquet, 6360, num_tokens, 37447468.0, distribution, 85860",
        "b200_sxm/comm/nccl/2.28.9/nccl_perf.parquet, 504, message_size, 19327343616.0, op_name, 5292",
        "h100_sxm/mla/vllm/0.24.0/mla_generation_module_perf.parquet, 5840, step, 78118208.0, gemm_type, 49640",
        "h200_sxm/gemm/vllm/0.19.0/gemm_perf.parquet, 101004, latency, 36030.23449120245, gemm_dtype, 658842",
        "h200_sxm/gemm/vllm/0.19.0/gemm_perf.parquet, 101004, m, 188353572.0, kernel_source, 1212048"
    })
    void publicFiles_haveTheSumsOfAnIndependentReader(
            String file, int numRows, String numbers, double sum, String texts, double lengths) {
        var path = TestData.require("aiconfigurator/data/" + file);

        var table = ParquetTable.read(path, Set.of(numbers, texts));

        assertThat(table.numRows()).isEqualTo(numRows);
        assertThat(sum(table, row -> table.number(numbers, row))).isCloseTo(sum, within(1e-9 * sum));
        assertThat(sum(table, row -> table.text(texts, row).length())).isEqualTo(lengths);
    }

    /** Those of vLLM on four GPUs, which DuckDB has added up. */
    @Test
    void allPublicFiles_areRead() throws IOException {
        var root = TestData.require("aiconfigurator/data");
        var sums = new double[2];
        try (var files = Files.walk(root)) {
            files.filter(ParquetTableTest::isAddedUp).sorted().forEach(file -> {
                var table = ParquetTable.read(file, Set.of(LATENCY));
                sums[0] += table.numRows();
                sums[1] += sum(table, row -> table.number(LATENCY, row));
            });
        }

        assertThat(sums[0]).as("rows").isEqualTo(2_211_985);
        assertThat(sums[1]).as("sum of latencies, by DuckDB").isCloseTo(1636484.776781, within(1e-3));
    }

    private static boolean isAddedUp(Path file) {
        String name = file.toString();
        return name.endsWith(".parquet") && !name.contains("sglang") && !name.contains("b300");
    }

    static Stream<Arguments> damages() {
        return Stream.of(
                damage("it has 9000000000 rows, not 1 to 1048576", f -> f.numRows = 9_000_000_000L),
                damage("it has -1 rows", f -> f.numRows = -1),
                damage("it has 2 row groups, not 1", f -> f.numRowGroups = 2),
                damage("column latency: its repetition is 0, not OPTIONAL (1)", f -> f.repetition = 0),
                damage("column latency: its type is number 4 of the format", f -> f.type = 4),
                damage("column latency: its compression is number 2 of the format", f -> f.codec = 2),
                damage("column latency: a page has the encoding 3 of the format, not 0", f -> f.dictionaryEncoding = 3),
                damage("column latency: a page has the encoding 0 of the format, not 8", f -> f.dataEncoding = 0),
                damage("column latency: it has 4 values, and the table 3 rows", f -> f.numValues = 4),
                damage("column latency: there are 17 values of a dictionary, not 1 to 16", f -> f.numDistinct = 17),
                damage("column latency: it ends 0 bytes on, where 8 should follow", f -> f.numDistinct = 3),
                damage("column latency: the index 1 is not below 1", f -> f.numDistinct = 1),
                damage("column latency: there are 2147483647 bytes of a page", f -> f.pageBytes = Integer.MAX_VALUE),
                damage("column latency: there are -2 bytes of a page", f -> f.pageBytes = -2),
                damage("column latency: a page has 16 bytes, not 99", f -> f.pageBytes = 99),
                damage("column latency: a page cannot be decompressed", f -> f.pageBytes = 15),
                damage("column latency: there are -3 bytes of a compressed page", f -> f.compressedBytes = -3),
                damage("column latency: there are 5000 bytes of a compressed page", f -> f.compressedBytes = 5000),
                damage("column latency: it ends", f -> f.columnBytes = 1 << 30),
                damage("column latency: it has nulls", f -> f.levels = new byte[] {6, 0}),
                damage("column latency: a run has the length 0", f -> f.indices = new byte[] {1, 0, 0}),
                damage("column latency: indices have 200 bits", f -> f.indices = new byte[] {(byte) 200, 3, 0}),
                damage(
                        "column latency: the index 8388608 is not below 2",
                        f -> f.indices = new byte[] {24, 6, 0, 0, (byte) 128}));
    }

    private static Arguments damage(String message, Consumer<ParquetBytes> change) {
        return arguments(message, change);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damages")
    void damage_isRefusedByFileAndColumn(String message, Consumer<ParquetBytes> change) {
        var file = new ParquetBytes();
        change.accept(file);

        assertThatThrownBy(() -> read(file.build()))
                .isInstanceOf(ParquetException.class)
                .hasMessageStartingWith(folder.resolve("x.parquet") + ": " + message);
    }

    @Test
    void cutFile_isRefusedWhereverItIsCut() {
        var whole = new ParquetBytes().build();

        for (int length = 0; length < whole.length; length++) {
            var cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> read(cut)).isInstanceOf(ParquetException.class);
        }
    }

    @Test
    void flippedBytes_areReadOrRefused() throws IOException {
        var random = new Random(1);
        var whole = new ParquetBytes().build();
        for (int i = 0; i < 3_000; i++) {
            var flipped = whole.clone();
            flipped[4 + random.nextInt(whole.length - 8)] = (byte) random.nextInt();
            try {
                assertThat(read(flipped).numRows()).isPositive();
            } catch (ParquetException e) {
                assertThat(e).hasMessageContaining("x.parquet: ");
            }
        }
    }

    private static double sum(ParquetTable table, ToDoubleFunction<Integer> value) {
        double sum = 0;
        for (int row = 0; row < table.numRows(); row++) {
            sum += value.applyAsDouble(row);
        }
        return sum;
    }

    private ParquetTable read(byte[] bytes) throws IOException {
        return ParquetTable.read(Files.write(folder.resolve("x.parquet"), bytes), Set.of(LATENCY, "window_size"));
    }
}

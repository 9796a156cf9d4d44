package understudy.replay;

import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.List;
import java.util.function.Function;

/** Writes one line per cache; the capacity of a policy without bounds is empty. */
public final class ReplayCsv {
    /** Name of a column, and its values. */
    private record Column(String name, Function<ReplayResult, String> value) {}

    private static final List<Column> COLUMNS = List.of(
            new Column("policy", r -> r.policy().toString()),
            new Column("cache_capacity_blocks", r -> r.policy().bounded() ? String.valueOf(r.capacityBlocks()) : ""),
            new Column("block_size", r -> String.valueOf(r.blockSize())),
            new Column("total_requests", r -> String.valueOf(r.totalRequests())),
            new Column("total_prompt_tokens", r -> String.valueOf(r.totalPromptTokens())),
            new Column("total_hit_tokens", r -> String.valueOf(r.totalHitTokens())),
            new Column("overall_hit_rate", r -> String.valueOf(r.overallHitRate())),
            new Column("final_cache_blocks", r -> String.valueOf(r.finalCacheBlocks())),
            new Column("block_accesses", r -> String.valueOf(r.blockAccesses())),
            new Column("block_hits", r -> String.valueOf(r.blockHits())));

    private ReplayCsv() {}

    /** Writes header and lines; the caller closes {@code out}. */
    public static void write(ReplayReport report, Writer out) throws IOException {
        var csv = CsvWriter.builder().build(out);
        try {
            csv.writeRecord(COLUMNS.stream().map(Column::name).toList());
            report.results()
                    .forEach(result -> csv.writeRecord(COLUMNS.stream()
                            .map(column -> column.value.apply(result))
                            .toList()));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        csv.flush();
    }
}

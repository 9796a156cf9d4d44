package understudy.replay;

import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;

/** Writes one line per cache; the capacity of a policy without bounds is empty. */
public final class ReplayCsv {
    private static final String[] HEADER = {
        "policy",
        "cache_capacity_blocks",
        "block_size",
        "total_requests",
        "total_prompt_tokens",
        "total_hit_tokens",
        "overall_hit_rate",
        "final_cache_blocks",
        "block_accesses",
        "block_hits"
    };

    private ReplayCsv() {}

    /** Writes header and lines; the caller closes {@code out}. */
    public static void write(ReplayReport report, Writer out) throws IOException {
        var csv = CsvWriter.builder().build(out);
        try {
            csv.writeRecord(HEADER);
            report.results().forEach(result -> writeRun(csv, result));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        csv.flush();
    }

    private static void writeRun(CsvWriter csv, ReplayResult result) {
        csv.writeRecord(
                result.policy().toString(),
                result.policy().bounded() ? String.valueOf(result.capacityBlocks()) : "",
                String.valueOf(result.blockSize()),
                String.valueOf(result.totalRequests()),
                String.valueOf(result.totalPromptTokens()),
                String.valueOf(result.totalHitTokens()),
                String.valueOf(result.overallHitRate()),
                String.valueOf(result.finalCacheBlocks()),
                String.valueOf(result.blockAccesses()),
                String.valueOf(result.blockHits()));
    }
}

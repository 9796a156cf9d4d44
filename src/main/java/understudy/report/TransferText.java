package understudy.report;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;
import understudy.report.transfers.PromptTokens;
import understudy.report.transfers.TransferReport;

/** Prints what a report says about KV from other memories. */
final class TransferText {
    private static final double NANOS_PER_MILLI = 1e6;

    private TransferText() {}

    /** Writes the figures of the run. */
    static void writeTotals(TransferReport report, ReportSink text) {
        var external = report.external();
        text.heading("KV Transfers and Tiers", '-');
        text.line("External prefix queries (tokens):", external.queries());
        text.line("External prefix hits (tokens):", external.hits());
        text.line("External prefix hit rate (%):", external.hitRate() * 100);
        text.line("Transfer time per request (ms):", report.waitNanosPerRequest() / NANOS_PER_MILLI);
        text.line("Transfer time of mean TTFT (%):", report.waitShareOfTtft() * 100);
        text.line("Expired leases:", report.numExpired());
        if (report.numStale() > 0) {
            text.line("Reads of other prompts' KV:", report.numStale());
        }
    }

    /** Writes the tables: prompt tokens by source, transfers by kind, slower memories. */
    static void writeTables(TransferReport report, ReportSink text) {
        text.table(prompts(report), promptColumns(report.promptTokens()));
        text.table(report.kinds(), kindColumns());
        if (!report.tiers().isEmpty()) {
            text.table(report.tiers(), tierColumns());
        }
    }

    private record Prompts(String of, PromptTokens tokens) {}

    private static List<Prompts> prompts(TransferReport report) {
        var rows = new ArrayList<Prompts>();
        rows.add(new Prompts("all requests", report.promptTokens()));
        if (report.groups().size() > 1) {
            report.groups().forEach(group -> rows.add(new Prompts("group " + group.name(), group.promptTokens())));
        }
        return rows;
    }

    private static List<ColumnData<Prompts>> promptColumns(PromptTokens all) {
        var columns = new ArrayList<ColumnData<Prompts>>();
        columns.add(Tables.words("Prompt tokens", Prompts::of));
        columns.add(Tables.counts("Tokens", row -> row.tokens.total()));
        columns.add(share("Computed %", PromptTokens::numComputed));
        columns.add(share("Local hit %", PromptTokens::numLocal));
        columns.add(share("Host %", tokens -> tokens.from(KvSource.HOST)));
        for (var source : List.of(KvSource.DISK, KvSource.STORE)) {
            if (all.from(source) > 0) {
                columns.add(share(source == KvSource.DISK ? "Disk %" : "Store %", tokens -> tokens.from(source)));
            }
        }
        columns.add(share("Transferred %", tokens -> tokens.from(KvSource.PEER)));
        return columns;
    }

    private static ColumnData<Prompts> share(String header, ToLongFunction<PromptTokens> part) {
        return Tables.numbers(header, row -> ReportText.percent(part.applyAsLong(row.tokens), row.tokens.total()));
    }

    private static List<ColumnData<TransferReport.Kind>> kindColumns() {
        return List.of(
                Tables.words("Transfers", TransferReport.Kind::name),
                Tables.counts("Count", kind -> kind.time().count()),
                Tables.counts("Failed", TransferReport.Kind::numFailed),
                Tables.decimals("GB", "%.2f", kind -> kind.bytes() / 1e9),
                Tables.decimals("Mean ms", "%.2f", kind -> kind.time().meanNanos() / NANOS_PER_MILLI),
                Tables.decimals("Median ms", "%.2f", kind -> kind.time().p50Nanos() / NANOS_PER_MILLI),
                Tables.decimals("P99 ms", "%.2f", kind -> kind.time().p99Nanos() / NANOS_PER_MILLI),
                Tables.decimals("GB/s", "%.2f", TransferReport.Kind::gigabytesPerSecond));
    }

    private static List<ColumnData<TierState>> tierColumns() {
        return List.of(
                Tables.words("Tier", tier -> tier.tier().label()),
                Tables.counts("Blocks", TierState::numBlocks),
                Tables.decimals("Used %", "%.2f", tier -> tier.usage() * 100),
                Tables.numbers(
                        "Hit rate %",
                        tier -> ReportText.percent(
                                tier.stats().numHits(), tier.stats().numLookups())),
                Tables.counts("Stored", tier -> tier.stats().numStores()),
                Tables.counts("Evicted", tier -> tier.stats().numEvictions()),
                Tables.counts("Skipped", tier -> tier.stats().numSkippedStores()),
                Tables.counts("Refused", tier -> tier.stats().numRefusedStores()));
    }
}

package understudy.report;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;
import understudy.report.transfers.PromptTokens;
import understudy.report.transfers.TransferReport;

/** Figures about KV from other memories, under vLLM's names where it has one. */
final class TransferFigures {
    private static final double NANOS_PER_MILLI = 1e6;

    private TransferFigures() {}

    /** Adds the object of all these figures. */
    static void add(TransferReport report, Figures to) {
        var of = to.addObject("kv_transfers");
        var external = report.external();
        addPromptTokens(report.promptTokens(), of);
        of.add("external_prefix_cache_queries", "External prefix queries", Unit.TOKENS, external.queries())
                .add("external_prefix_cache_hits", "External prefix hits", Unit.TOKENS, external.hits())
                .addForPeople("external_hit_rate", "External prefix hit rate", Unit.SHARE, external.hitRate())
                .add("nixl_num_kv_expired_reqs", "Expired leases", Unit.NONE, report.numExpired())
                .add(
                        "num_stale_reads",
                        report.numStale() > 0 ? "Reads of other prompts' KV" : "",
                        Unit.NONE,
                        report.numStale())
                .add(
                        "mean_transfer_ms_per_request",
                        "Transfer time per request",
                        Unit.MILLIS,
                        report.waitNanosPerRequest() / NANOS_PER_MILLI)
                .add("transfer_share_of_mean_ttft", "Transfer time of mean TTFT", Unit.SHARE, report.waitShareOfTtft());
        var kinds = of.addObject("transfers");
        report.kinds().forEach(kind -> addKind(kind, kinds.addObject(kind.name())));
        var tiers = of.addObject("tiers");
        report.tiers().forEach(tier -> addTier(tier, tiers.addObject(tier.tier().label())));
        of.add("per_group", report.groups().stream().map(TransferFigures::group).toList());
    }

    /** Adds prompt tokens by source, and those that were cached by the memory that had them. */
    static void addPromptTokens(PromptTokens tokens, Figures to) {
        to.addObject("prompt_tokens_by_source")
                .add("local_compute", tokens.numComputed())
                .add("local_cache_hit", tokens.numLocal())
                .add("external_kv_transfer", tokens.numExternal());
        var cached = to.addObject("prompt_tokens_cached_by_source").add("device", tokens.numLocal());
        for (var source : KvSource.values()) {
            cached.add(source.label(), tokens.from(source));
        }
    }

    private static void addKind(TransferReport.Kind kind, Figures to) {
        to.add("count", kind.time().count())
                .add("failed", kind.numFailed())
                .add("bytes", kind.bytes())
                .add("mean_ms", kind.time().meanNanos() / NANOS_PER_MILLI)
                .add("median_ms", kind.time().p50Nanos() / NANOS_PER_MILLI)
                .add("p99_ms", kind.time().p99Nanos() / NANOS_PER_MILLI)
                .add("max_ms", kind.time().maxNanos() / NANOS_PER_MILLI)
                .add("gb_per_s", kind.gigabytesPerSecond());
    }

    private static void addTier(TierState tier, Figures to) {
        var stats = tier.stats();
        to.add("blocks", tier.numBlocks())
                .add("used_blocks", stats.numUsed())
                .add("lookups", stats.numLookups())
                .add("hits", stats.numHits())
                .add("stores", stats.numStores())
                .add("stores_skipped", stats.numSkippedStores())
                .add("stores_refused", stats.numRefusedStores())
                .add("evictions", stats.numEvictions());
    }

    private static Figures group(TransferReport.Group group) {
        var of = new Figures().add("group", group.name());
        addPromptTokens(group.promptTokens(), of);
        PrefixCacheStats external = group.external();
        return of.add("external_prefix_cache_queries", external.queries())
                .add("external_prefix_cache_hits", external.hits());
    }

    static void addBlock(Result result) {
        result.block(
                "KV Transfers and Tiers",
                '-',
                "kv_transfers.external_prefix_cache_queries",
                "kv_transfers.external_prefix_cache_hits",
                "kv_transfers.external_hit_rate",
                "kv_transfers.mean_transfer_ms_per_request",
                "kv_transfers.transfer_share_of_mean_ttft",
                "kv_transfers.nixl_num_kv_expired_reqs",
                "kv_transfers.num_stale_reads");
    }

    /** Adds the tables: prompt tokens by source, transfers by kind, slower memories. */
    static void addTables(TransferReport report, Result result) {
        result.table(prompts(report), promptColumns(report.promptTokens()));
        result.table(report.kinds(), kindColumns());
        if (!report.tiers().isEmpty()) {
            result.table(report.tiers(), tierColumns());
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

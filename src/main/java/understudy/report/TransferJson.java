package understudy.report;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;
import understudy.report.transfers.PromptTokens;
import understudy.report.transfers.TransferReport;

/** Writes what a report says about KV from other memories, under vLLM's names where it has one. */
final class TransferJson {
    private final JsonGenerator json;

    TransferJson(JsonGenerator json) {
        this.json = json;
    }

    /** Writes the fields of an object that has been begun. */
    void write(TransferReport report) throws IOException {
        writePromptTokens(report.promptTokens());
        writeExternal(report.external());
        json.writeNumberField("nixl_num_kv_expired_reqs", report.numExpired());
        json.writeNumberField("num_stale_reads", report.numStale());
        json.writeNumberField("mean_transfer_ms_per_request", report.waitNanosPerRequest() / 1e6);
        json.writeNumberField("transfer_share_of_mean_ttft", report.waitShareOfTtft());
        json.writeObjectFieldStart("transfers");
        for (var kind : report.kinds()) {
            writeKind(kind);
        }
        json.writeEndObject();
        json.writeObjectFieldStart("tiers");
        for (var tier : report.tiers()) {
            writeTier(tier);
        }
        json.writeEndObject();
        json.writeArrayFieldStart("per_group");
        for (var group : report.groups()) {
            json.writeStartObject();
            json.writeStringField("group", group.name());
            writePromptTokens(group.promptTokens());
            writeExternal(group.external());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** Writes prompt tokens by source, and those that were cached by the memory that had them. */
    void writePromptTokens(PromptTokens tokens) throws IOException {
        json.writeObjectFieldStart("prompt_tokens_by_source");
        json.writeNumberField("local_compute", tokens.numComputed());
        json.writeNumberField("local_cache_hit", tokens.numLocal());
        json.writeNumberField("external_kv_transfer", tokens.numExternal());
        json.writeEndObject();
        json.writeObjectFieldStart("prompt_tokens_cached_by_source");
        json.writeNumberField("device", tokens.numLocal());
        for (var source : KvSource.values()) {
            json.writeNumberField(source.label(), tokens.from(source));
        }
        json.writeEndObject();
    }

    private void writeExternal(PrefixCacheStats external) throws IOException {
        json.writeNumberField("external_prefix_cache_queries", external.queries());
        json.writeNumberField("external_prefix_cache_hits", external.hits());
    }

    private void writeKind(TransferReport.Kind kind) throws IOException {
        json.writeObjectFieldStart(kind.name());
        json.writeNumberField("count", kind.time().count());
        json.writeNumberField("failed", kind.numFailed());
        json.writeNumberField("bytes", kind.bytes());
        json.writeNumberField("mean_ms", kind.time().meanNanos() / 1e6);
        json.writeNumberField("median_ms", kind.time().p50Nanos() / 1e6);
        json.writeNumberField("p99_ms", kind.time().p99Nanos() / 1e6);
        json.writeNumberField("max_ms", kind.time().maxNanos() / 1e6);
        json.writeNumberField("gb_per_s", kind.gigabytesPerSecond());
        json.writeEndObject();
    }

    private void writeTier(TierState tier) throws IOException {
        var stats = tier.stats();
        json.writeObjectFieldStart(tier.tier().label());
        json.writeNumberField("blocks", tier.numBlocks());
        json.writeNumberField("used_blocks", stats.numUsed());
        json.writeNumberField("lookups", stats.numLookups());
        json.writeNumberField("hits", stats.numHits());
        json.writeNumberField("stores", stats.numStores());
        json.writeNumberField("stores_skipped", stats.numSkippedStores());
        json.writeNumberField("stores_refused", stats.numRefusedStores());
        json.writeNumberField("evictions", stats.numEvictions());
        json.writeEndObject();
    }
}

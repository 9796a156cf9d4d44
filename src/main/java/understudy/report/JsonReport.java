package understudy.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Locale;
import understudy.report.engine.EngineJson;
import understudy.report.latency.LatencyStats;

/** Writes a report as JSON, under the key names of {@code vllm bench serve --save-result}. */
public final class JsonReport {
    private static final JsonFactory JSON = new JsonFactory();
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private final RunReport report;
    private final JsonGenerator json;

    /** Writes one request's entry of a list, given its index in the log. */
    private interface EntryWriter {
        void write(int index) throws IOException;
    }

    private JsonReport(RunReport report, JsonGenerator json) {
        this.report = report;
        this.json = json;
    }

    /**
     * Returns the report as indented JSON.
     *
     * @param requests source of the per-request lists, which are written if it keeps token times
     * @param host goes into the object {@code host}, the only part that differs between equal runs
     */
    public static String write(RunReport report, RequestLog requests, HostStats host) {
        var text = new StringWriter();
        try (var json = JSON.createGenerator(text)) {
            json.useDefaultPrettyPrinter();
            json.writeStartObject();
            var writer = new JsonReport(report, json);
            writer.writeTotals();
            if (report.goodput().isMeasured()) {
                writer.writeGoodput(report.goodput());
            }
            writer.writeLatencies();
            new EngineJson(json).write(report.drafts());
            new EngineJson(json).write(report.loras());
            writer.writeCaches();
            writer.writePrefixCaching(report.prefixCaching());
            if (report.transfers().isPresent()) {
                json.writeObjectFieldStart("kv_transfers");
                new TransferJson(json).write(report.transfers().get());
                json.writeEndObject();
            }
            if (report.fleet().isPresent()) {
                writer.writeFleet(report.fleet().get());
            }
            if (report.timeline().isOn()) {
                json.writeFieldName("timeline");
                TimelineReport.writeJson(report.timeline(), json);
            }
            if (requests.keepsTokenTimes()) {
                writer.writeDetails(requests);
            }
            writer.writeHost(host);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text + "\n";
    }

    private void writeTotals() throws IOException {
        json.writeBooleanField("partial", report.isPartial());
        json.writeNumberField("duration", report.durationSeconds());
        json.writeNumberField("completed", report.numCompleted());
        json.writeNumberField("failed", report.numFailed());
        json.writeNumberField("aborted", report.numAborted());
        json.writeNumberField("rejected", report.numRejected());
        if (!report.loadShed().isEmpty()) {
            json.writeObjectFieldStart("load_shed");
            for (var entry : report.loadShed().entrySet()) {
                json.writeNumberField(entry.getKey().name().toLowerCase(Locale.ROOT), entry.getValue());
            }
            json.writeEndObject();
        }
        json.writeNumberField("abandoned", report.numAbandoned());
        json.writeNumberField("unfinished", report.numUnfinished());
        json.writeNumberField("total_input_tokens", report.totalInputTokens());
        json.writeNumberField("total_output_tokens", report.totalOutputTokens());
        json.writeNumberField("request_throughput", report.requestThroughput());
        json.writeNumberField("output_throughput", report.outputThroughput());
        json.writeNumberField("total_token_throughput", report.totalTokenThroughput());
        json.writeNumberField("max_output_tokens_per_s", report.maxOutputTokensPerSecond());
        json.writeNumberField("max_concurrent_requests", report.maxConcurrentRequests());
    }

    private void writeGoodput(Goodput goodput) throws IOException {
        json.writeNumberField("request_goodput", report.requestGoodput());
        json.writeArrayFieldStart("service_levels");
        for (var each : goodput.classes()) {
            writeServiceClass(each);
        }
        json.writeEndArray();
    }

    /** A priority of null is the class of all that have none of their own. */
    private void writeServiceClass(Goodput.ServiceClass each) throws IOException {
        json.writeStartObject();
        if (each.priority().isPresent()) {
            json.writeNumberField("priority", each.priority().getAsInt());
        } else {
            json.writeNullField("priority");
        }
        json.writeNumberField("requests", each.numRequests());
        json.writeNumberField("good", each.numGood());
        json.writeNumberField("attainment", each.attainment());
        json.writeNumberField("wanted", each.wanted());
        json.writeBooleanField("met", each.isMet());
        json.writeEndObject();
    }

    private void writeLatencies() throws IOException {
        writeLatency("ttft", report.ttft());
        writeLatency("tpot", report.tpot());
        writeLatency("itl", report.itl());
        writeLatency("e2el", report.e2el());
        writeLatency("queue_time", report.queueTime());
    }

    private void writeLatency(String name, LatencyStats stats) throws IOException {
        json.writeNumberField("num_" + name, stats.count());
        writeMillis("mean_" + name, stats.meanNanos());
        writeMillis("median_" + name, stats.p50Nanos());
        writeMillis("std_" + name, stats.stddevNanos());
        writeMillis("p90_" + name, stats.p90Nanos());
        writeMillis("p95_" + name, stats.p95Nanos());
        writeMillis("p99_" + name, stats.p99Nanos());
        writeMillis("max_" + name, stats.maxNanos());
    }

    private void writeMillis(String name, double nanos) throws IOException {
        json.writeNumberField(name + "_ms", nanos / NANOS_PER_MILLI);
    }

    private void writeCaches() throws IOException {
        var cache = report.prefixCache();
        json.writeNumberField("prefix_cache_queries", cache.queries());
        json.writeNumberField("prefix_cache_hits", cache.hits());
        json.writeNumberField("preempted_prefix_cache_queries", cache.preemptedQueries());
        json.writeNumberField("preempted_prefix_cache_hits", cache.preemptedHits());
        json.writeNumberField("num_preemptions", report.numPreemptions());
        json.writeStringField("step_digest", String.format(Locale.ROOT, "%016x", report.stepDigest()));
        json.writeArrayFieldStart("per_replica");
        for (var replica : report.replicas()) {
            writeReplica(replica);
        }
        json.writeEndArray();
    }

    /** The session cache's summary, under its names. */
    private void writePrefixCaching(PrefixCachingStats stats) throws IOException {
        json.writeObjectFieldStart("prefix_caching");
        json.writeNumberField("eligible_requests", stats.eligible());
        json.writeNumberField("conversational_turns", stats.conversationalTurns());
        json.writeObjectFieldStart("events");
        json.writeNumberField("CONVERSATIONAL_HIT", stats.conversationalHits());
        json.writeNumberField("CROSS_REQUEST_HIT", stats.crossRequestHits());
        json.writeNumberField("MISS_FULL", stats.fullMisses());
        json.writeNumberField("FULL_HIT_NO_PREFILL_NEEDED", stats.fullHits());
        json.writeNumberField("CONVERSATIONAL_MISS_UNEXPECTED_PROMPT", stats.unexpectedPrompts());
        json.writeEndObject();
        json.writeNumberField("hit_rate", stats.hitRate());
        json.writeNumberField("conversational_hit_rate", stats.conversationalHitRate());
        json.writeNumberField("cross_request_hit_rate", stats.crossRequestHitRate());
        json.writeNumberField("mean_cached_prefix_length_used", stats.meanCachedTokensOfHits());
        json.writeNumberField("mean_num_tokens_actually_prefilled", stats.meanPrefilledTokens());
        json.writeNumberField("total_num_tokens_actually_prefilled", stats.prefilledTokens());
        json.writeNumberField("prefilled_to_prompt_ratio", stats.prefilledShare());
        writeLatency("ttft_hit", stats.ttftOfHits());
        writeLatency("ttft_miss", stats.ttftOfMisses());
        json.writeEndObject();
    }

    private void writeReplica(ReplicaStats replica) throws IOException {
        json.writeStartObject();
        json.writeNumberField("replica", replica.replicaIndex());
        if (!replica.group().isEmpty()) {
            json.writeStringField("group", replica.group());
        }
        json.writeNumberField("requests", replica.numRequests());
        json.writeNumberField("steps", replica.numSteps());
        json.writeNumberField("prefill_tokens", replica.numPrefillTokens());
        json.writeNumberField("decode_tokens", replica.numDecodeTokens());
        json.writeNumberField("busy_s", replica.busyNanos() / NANOS_PER_SECOND);
        json.writeNumberField("peak_kv_cache_usage", replica.peakKvUsage());
        json.writeNumberField("prefix_cache_queries", replica.prefixCache().queries());
        json.writeNumberField("prefix_cache_hits", replica.prefixCache().hits());
        json.writeNumberField("num_preemptions", replica.numPreemptions());
        if (report.transfers().isPresent()) {
            new TransferJson(json).writePromptTokens(replica.transfers().promptTokens());
        }
        json.writeEndObject();
    }

    private void writeFleet(FleetStats fleet) throws IOException {
        json.writeObjectFieldStart("fleet");
        json.writeNumberField("replica_hours", fleet.replicaHours());
        json.writeNumberField("gpu_hours", fleet.gpuHours());
        json.writeNumberField("cost", fleet.cost());
        json.writeNumberField("cost_per_million_output_tokens", fleet.costPerMillionTokens(report.totalOutputTokens()));
        json.writeNumberField("max_replicas", fleet.maxReplicas());
        json.writeArrayFieldStart("history");
        for (var point : fleet.history()) {
            json.writeStartObject();
            json.writeNumberField("at_s", point.atNanos() / NANOS_PER_SECOND);
            json.writeNumberField("ready", point.numReady());
            json.writeNumberField("starting", point.numStarting());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** Lists with one entry per completed request, in order of arrival, as {@code --save-detailed} does. */
    private void writeDetails(RequestLog requests) throws IOException {
        var completed = requests.completed();
        completed.sort((a, b) -> Long.compare(requests.requestIds.get(a), requests.requestIds.get(b)));
        writeList("request_ids", completed, i -> json.writeNumber(requests.requestIds.get(i)));
        writeList("input_lens", completed, i -> json.writeNumber(requests.promptTokens.get(i)));
        writeList("output_lens", completed, i -> json.writeNumber(requests.outputTokens.get(i)));
        writeList("start_times", completed, i -> json.writeNumber(requests.arrivalNanos.get(i) / NANOS_PER_SECOND));
        writeList(
                "ttfts",
                completed,
                i -> json.writeNumber(
                        (requests.firstTokenNanos.get(i) - requests.arrivalNanos.get(i)) / NANOS_PER_SECOND));
        writeList("itls", completed, i -> writeGaps(requests.tokenNanos(i)));
    }

    private void writeList(String name, IntList indexes, EntryWriter writer) throws IOException {
        json.writeArrayFieldStart(name);
        for (int i = 0; i < indexes.size(); i++) {
            writer.write(indexes.getInt(i));
        }
        json.writeEndArray();
    }

    /** Tokens that came at once are one piece of the answer, and no gaps. */
    private void writeGaps(LongList times) throws IOException {
        json.writeStartArray();
        for (int i = 1; i < times.size(); i++) {
            long nanos = times.getLong(i) - times.getLong(i - 1);
            if (nanos > 0) {
                json.writeNumber(nanos / NANOS_PER_SECOND);
            }
        }
        json.writeEndArray();
    }

    private void writeHost(HostStats host) throws IOException {
        json.writeObjectFieldStart("host");
        json.writeNumberField("wall_time_s", host.wallSeconds());
        json.writeNumberField("speed_up", host.wallSeconds() == 0 ? 0 : report.durationSeconds() / host.wallSeconds());
        json.writeNumberField("events", host.numEvents());
        json.writeNumberField("events_per_s", host.wallSeconds() == 0 ? 0 : host.numEvents() / host.wallSeconds());
        json.writeNumberField("heap_used_mb", host.usedHeapBytes() / 1e6);
        writeMillis("lateness_p50", (double) host.latenessP50Nanos());
        writeMillis("lateness_p99", (double) host.latenessP99Nanos());
        writeMillis("lateness_max", (double) host.latenessMaxNanos());
        json.writeEndObject();
    }
}

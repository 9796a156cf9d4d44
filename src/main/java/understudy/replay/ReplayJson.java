package understudy.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import it.unimi.dsi.fastutil.ints.IntList;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import understudy.json.Jackson;

/** Writes the report of a replay as JSON. */
public final class ReplayJson {
    private static final double MILLIS_PER_SECOND = 1e3;

    private final ReplayReport report;
    private final JsonGenerator json;
    private final boolean isDetailed;

    private ReplayJson(ReplayReport report, JsonGenerator json, boolean isDetailed) {
        this.report = report;
        this.json = json;
        this.isDetailed = isDetailed;
    }

    /**
     * Writes the report, indented; each run has a list of its requests if their hits were kept.
     *
     * @param wallSeconds goes into the object {@code host}, the only part that differs between equal replays
     */
    public static void write(ReplayReport report, double wallSeconds, Writer out) throws IOException {
        try (var json = Jackson.FACTORY.createGenerator(out)) {
            json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
            json.useDefaultPrettyPrinter();
            json.writeStartObject();
            var writer = new ReplayJson(report, json, true);
            writer.writeContent();
            writer.writeHost(wallSeconds);
            json.writeEndObject();
        }
        out.write("\n");
    }

    /** Returns the report on one line, without requests and without what depends on the machine. */
    static String compact(ReplayReport report) {
        var text = new StringWriter();
        try (var json = Jackson.FACTORY.createGenerator(text)) {
            json.writeStartObject();
            new ReplayJson(report, json, false).writeContent();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private void writeContent() throws IOException {
        writeTrace();
        writeSharing(report.sharing());
        json.writeArrayFieldStart("runs");
        for (var result : report.results()) {
            writeRun(result);
        }
        json.writeEndArray();
    }

    private void writeTrace() throws IOException {
        json.writeObjectFieldStart("trace");
        json.writeArrayFieldStart("files");
        for (String file : report.files()) {
            json.writeString(file);
        }
        json.writeEndArray();
        json.writeNumberField("requests", report.numRequests());
        json.writeNumberField("prompt_tokens", report.numPromptTokens());
        json.writeNumberField("block_size", report.blockSize());
        json.writeNumberField("block_accesses", report.sharing().numAccesses());
        json.writeNumberField("distinct_blocks", report.sharing().numBlocks());
        json.writeEndObject();
        json.writeObjectFieldStart("s3fifo");
        json.writeNumberField("small_ratio", report.smallRatio());
        json.writeNumberField("max_freq", report.maxFreq());
        json.writeEndObject();
    }

    private void writeSharing(SharingView sharing) throws IOException {
        json.writeObjectFieldStart("sharing");
        json.writeNumberField("reuses", sharing.numReuses());
        json.writeArrayFieldStart("reuse_distance");
        long fewer = 0;
        for (int i = 0; i < sharing.reusesByLruBlocks().size(); i++) {
            long reuses = sharing.reusesByLruBlocks().getLong(i);
            json.writeStartObject();
            json.writeNumberField("lru_blocks", 1L << i);
            json.writeNumberField("reuses", reuses - fewer);
            json.writeNumberField("cumulative_reuses", reuses);
            json.writeNumberField("share_of_accesses", share(reuses, sharing.numAccesses()));
            json.writeEndObject();
            fewer = reuses;
        }
        json.writeEndArray();
        writeReuseWithin(sharing);
        json.writeEndObject();
    }

    private void writeReuseWithin(SharingView sharing) throws IOException {
        if (!sharing.isTimed()) {
            json.writeNullField("reuse_within");
            return;
        }
        json.writeArrayFieldStart("reuse_within");
        for (int i = 0; i < SharingView.numLimits(); i++) {
            long reuses = sharing.reusesWithinMillis().getLong(i);
            json.writeStartObject();
            json.writeNumberField("seconds", SharingView.limitMillis(i) / MILLIS_PER_SECOND);
            json.writeNumberField("reuses", reuses);
            json.writeNumberField("share_of_reuses", share(reuses, sharing.numReuses()));
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** Key names and meaning of the prefix-cache-replay task. */
    private void writeRun(ReplayResult result) throws IOException {
        json.writeStartObject();
        json.writeStringField("policy", result.policy().toString());
        if (result.policy().bounded()) {
            json.writeNumberField("cache_capacity_blocks", result.capacityBlocks());
        } else {
            json.writeNullField("cache_capacity_blocks");
        }
        json.writeNumberField("block_size", result.blockSize());
        json.writeNumberField("total_requests", result.totalRequests());
        json.writeNumberField("total_prompt_tokens", result.totalPromptTokens());
        json.writeNumberField("total_hit_tokens", result.totalHitTokens());
        json.writeNumberField("overall_hit_rate", result.overallHitRate());
        json.writeNumberField("final_cache_blocks", result.finalCacheBlocks());
        json.writeNumberField("block_accesses", result.blockAccesses());
        json.writeNumberField("block_hits", result.blockHits());
        var hitTokens = result.perRequestHitTokens();
        if (hitTokens != null && isDetailed) {
            writePerRequest(hitTokens);
        }
        json.writeEndObject();
    }

    /** Written by hand, since every request on lines of its own would make long lists longer. */
    private void writePerRequest(IntList hitTokens) throws IOException {
        json.writeArrayFieldStart("per_request");
        int request = 0;
        for (var chunk : report.chunks()) {
            for (int promptTokens : chunk.promptTokens()) {
                json.writeRawValue(
                        "{\"prompt_tokens\": " + promptTokens + ", \"hit_tokens\": " + hitTokens.getInt(request) + "}");
                request++;
            }
        }
        json.writeEndArray();
    }

    private void writeHost(double wallSeconds) throws IOException {
        long numReplayed =
                report.results().stream().mapToLong(ReplayResult::blockAccesses).sum();
        json.writeObjectFieldStart("host");
        json.writeNumberField("wall_time_s", wallSeconds);
        json.writeNumberField("block_accesses_per_s", wallSeconds == 0 ? 0 : numReplayed / wallSeconds);
        json.writeEndObject();
    }

    private static double share(long part, long whole) {
        return whole == 0 ? 0 : (double) part / whole;
    }
}

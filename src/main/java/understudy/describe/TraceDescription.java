package understudy.describe;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.Writer;
import understudy.json.Jackson;
import understudy.replay.SharingView;

/** Description of a trace. */
public final class TraceDescription {
    private static final ObjectMapper JSON = Jackson.mapper();

    final String file;
    final String format;
    final double durationSeconds;
    final double gapVariation;
    final ValueCounts promptTokens;
    final ValueCounts outputTokens;
    final SessionCounts sessions;
    final int numTenants;
    final TimeCourse course;
    final int blockTokens;
    final long numHitTokens;
    final SharingView sharing;

    TraceDescription(
            String file,
            String format,
            double durationSeconds,
            double gapVariation,
            ValueCounts promptTokens,
            ValueCounts outputTokens,
            SessionCounts sessions,
            int numTenants,
            TimeCourse course,
            int blockTokens,
            long numHitTokens,
            SharingView sharing) {
        this.file = file;
        this.format = format;
        this.durationSeconds = durationSeconds;
        this.gapVariation = gapVariation;
        this.promptTokens = promptTokens;
        this.outputTokens = outputTokens;
        this.sessions = sessions;
        this.numTenants = numTenants;
        this.course = course;
        this.blockTokens = blockTokens;
        this.numHitTokens = numHitTokens;
        this.sharing = sharing;
    }

    long numRequests() {
        return promptTokens.number();
    }

    double requestsPerSecond() {
        return durationSeconds == 0 ? 0 : numRequests() / durationSeconds;
    }

    /** Returns whether the trace says which prompts have what in common. */
    boolean hasContent() {
        return blockTokens > 0;
    }

    /** Returns the share of prompt tokens that a cache that never forgets would have had, from 0 to 1. */
    double infiniteHitRate() {
        return promptTokens.sum() == 0 ? 0 : numHitTokens / promptTokens.sum();
    }

    /** Returns everything as JSON. */
    public String json() throws IOException {
        var root = JSON.createObjectNode();
        root.put("file", file).put("format", format).put("requests", numRequests());
        root.put("duration_s", durationSeconds).put("requests_per_s", requestsPerSecond());
        root.put("gap_cv", gapVariation).put("tenants", numTenants);
        put(root.putObject("prompt_tokens"), promptTokens);
        put(root.putObject("output_tokens"), outputTokens);
        var inSessions = root.putObject("sessions");
        put(inSessions.putObject("turns"), sessions.turns());
        put(inSessions.putObject("pause_ms"), sessions.pauseMillis());
        if (hasContent()) {
            putContent(root.putObject("content"));
        }
        putCourse(root.putObject("course"));
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
    }

    private static void put(ObjectNode node, ValueCounts counts) {
        node.put("count", counts.number()).put("sum", Math.round(counts.sum())).put("mean", counts.mean());
        double[] values = counts.percentiles(ValueCounts.PERCENTS);
        for (int i = 0; i < values.length; i++) {
            node.put("p" + Math.round(ValueCounts.PERCENTS[i]), values[i]);
        }
    }

    private void putContent(ObjectNode node) {
        node.put("block_tokens", blockTokens).put("block_accesses", sharing.numAccesses());
        node.put("different_blocks", sharing.numBlocks()).put("reused_accesses", sharing.numReuses());
        node.put("infinite_cache_hit_tokens", numHitTokens).put("infinite_cache_hit_rate", infiniteHitRate());
        var distances = node.putArray("reuses_by_lru_blocks");
        for (int i = 0; i < sharing.reusesByLruBlocks().size(); i++) {
            distances
                    .addObject()
                    .put("blocks", 1L << i)
                    .put("reuses", sharing.reusesByLruBlocks().getLong(i));
        }
        var ages = node.putArray("reuses_within");
        for (int i = 0; i < SharingView.numLimits(); i++) {
            ages.addObject()
                    .put("ms", SharingView.limitMillis(i))
                    .put("reuses", sharing.reusesWithinMillis().getLong(i));
        }
    }

    private void putCourse(ObjectNode node) {
        node.put("interval_s", course.widthSeconds());
        for (var sum : TimeCourse.Sum.values()) {
            if (!sum.isOfContent || hasContent()) {
                var list = node.putArray(DescriptionText.word(sum));
                for (int i = 0; i < course.numBins(); i++) {
                    list.add(course.at(sum, i));
                }
            }
        }
        if (hasContent()) {
            var list = node.putArray("working_set_blocks");
            for (double blocks : course.workingSet()) {
                list.add(Math.round(blocks));
            }
        }
    }

    /** Returns everything for a terminal. */
    public String text() {
        return DescriptionText.of(this);
    }

    /** Writes a page; the caller closes {@code out}. */
    public void writePage(Writer out) throws IOException {
        DescriptionPage.write(this, out);
    }
}

package understudy.describe;

import it.unimi.dsi.fastutil.objects.ObjectOpenHashSet;
import java.util.Set;
import understudy.workload.trace.TraceRow;

/** Describes a trace whose requests it is told one after the other. Not thread-safe. */
public final class TraceDescriber {
    private static final double NANOS_PER_SECOND = 1e9;

    private final TimeCourse course = new TimeCourse();
    private final ValueCounts promptTokens = new ValueCounts();
    private final ValueCounts outputTokens = new ValueCounts();
    private final SessionCounts sessions = new SessionCounts();
    private final ContentCounts content = new ContentCounts(course);
    private final Set<String> tenants = new ObjectOpenHashSet<>();
    private long startNanos = -1;
    private long latestNanos;
    private double squaredGaps;

    /** Takes in a request. Time counts from the first one; one that arrives earlier than that counts as arriving with it. */
    public void add(TraceRow row) {
        if (startNanos < 0) {
            startNanos = row.arrivalNanos();
            latestNanos = startNanos;
        }
        long atNanos = Math.max(0, row.arrivalNanos() - startNanos);
        double gapSeconds = (row.arrivalNanos() - latestNanos) / NANOS_PER_SECOND;
        squaredGaps += gapSeconds * gapSeconds;
        latestNanos = row.arrivalNanos();
        promptTokens.add(row.numPromptTokens());
        outputTokens.add(row.numOutputTokens());
        course.add(TimeCourse.Sum.REQUESTS, atNanos, 1);
        course.add(TimeCourse.Sum.PROMPT_TOKENS, atNanos, row.numPromptTokens());
        course.add(TimeCourse.Sum.OUTPUT_TOKENS, atNanos, row.numOutputTokens());
        sessions.add(row.turn(), atNanos);
        content.add(row, atNanos);
        if (!row.tenant().isEmpty()) {
            tenants.add(row.tenant());
        }
    }

    public long numRequests() {
        return promptTokens.number();
    }

    /** Returns the description; no rows may be added any more. */
    public TraceDescription finish(String file, String format) {
        var sharing = content.finish();
        return new TraceDescription(
                file,
                format,
                numRequests() == 0 ? 0 : (latestNanos - startNanos) / NANOS_PER_SECOND,
                gapVariation(),
                promptTokens,
                outputTokens,
                sessions,
                tenants.size(),
                course,
                content.blockTokens(),
                content.numHitTokens(),
                sharing);
    }

    /** Standard deviation of the gaps by their mean; 1 if requests come independently of each other at one rate. */
    private double gapVariation() {
        double numGaps = numRequests() - 1.0;
        double mean = (latestNanos - startNanos) / NANOS_PER_SECOND / numGaps;
        return numGaps < 1 || mean <= 0 ? 0 : Math.sqrt(Math.max(0, squaredGaps / numGaps / (mean * mean) - 1));
    }
}

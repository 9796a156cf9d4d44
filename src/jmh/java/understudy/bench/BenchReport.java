package understudy.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import understudy.report.Tables;

/** Writes all rows, for people and as JSON. */
final class BenchReport {
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private BenchReport() {}

    /** Returns one line about the machine, its load included. */
    static String host() {
        var os = ManagementFactory.getOperatingSystemMXBean();
        return String.format(
                Locale.ROOT,
                "%d cores, JDK %s, load %.2f",
                os.getAvailableProcessors(),
                System.getProperty("java.version"),
                os.getSystemLoadAverage());
    }

    static String table(List<BenchRow> rows) {
        return Tables.text(
                rows,
                List.of(
                        Tables.words("Run", row -> row.run.name()),
                        Tables.words("Program", row -> row.program.name()),
                        Tables.words("JVM", row -> row.jvm()),
                        Tables.decimals("Wall s", "%.2f", row -> BenchRow.min(row.wallSeconds)),
                        Tables.decimals("median", "%.2f", row -> BenchRow.median(row.wallSeconds)),
                        Tables.decimals("CPU s", "%.2f", row -> BenchRow.min(row.cpuSeconds)),
                        Tables.decimals("median", "%.2f", row -> BenchRow.median(row.cpuSeconds)),
                        Tables.decimals("RSS MB", "%.0f", row -> BenchRow.max(row.rssMegabytes)),
                        Tables.decimals("Events/s", "%.0f", row -> BenchRow.max(row.eventsPerSecond)),
                        Tables.decimals("CPU ns/token", "%.0f", BenchRow::nanosPerOutputToken),
                        Tables.words("Digest", row -> row.stepDigest)));
    }

    static void writeJson(Path file, String host, List<BenchRow> rows) throws IOException {
        var root = JSON.createObjectNode().put("host", host);
        var list = root.putArray("rows");
        rows.forEach(row -> write(row, list.addObject()));
        JSON.writeValue(file.toFile(), root);
    }

    private static void write(BenchRow row, ObjectNode json) {
        json.put("run", row.run.name());
        json.put("program", row.program.name());
        json.put("jvm", row.jvm());
        json.put("step_digest", row.stepDigest);
        json.put("total_output_tokens", row.outputTokens);
        json.put("cpu_ns_per_output_token", row.nanosPerOutputToken());
        json.putPOJO("wall_s", row.wallSeconds);
        json.putPOJO("cpu_s", row.cpuSeconds);
        json.putPOJO("max_rss_mb", row.rssMegabytes);
        json.putPOJO("events_per_s", row.eventsPerSecond);
    }
}

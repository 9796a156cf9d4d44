package understudy.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Row of the table: a run by one program, in processes of its own or warm, with what each repetition took. */
final class BenchRow {
    /** Whether each repetition had a process of its own, or all of them one JVM. */
    enum Mode {
        PROCESS,
        WARM
    }

    final BenchRun run;
    final Program program;
    final Mode mode;
    final List<Double> wallSeconds = new ArrayList<>();
    final List<Double> cpuSeconds = new ArrayList<>();
    final List<Double> rssMegabytes = new ArrayList<>();
    final List<Double> eventsPerSecond = new ArrayList<>();
    String stepDigest = "";
    long outputTokens;

    BenchRow(BenchRun run, Program program, Mode mode) {
        this.run = run;
        this.program = program;
        this.mode = mode;
    }

    String jvm() {
        return mode.name().toLowerCase(Locale.ROOT);
    }

    void add(double wall, double cpu) {
        wallSeconds.add(wall);
        cpuSeconds.add(cpu);
    }

    /** Takes over what the program's own report says. */
    void addReport(JsonNode report) {
        stepDigest = report.path("step_digest").asText();
        outputTokens = report.path("total_output_tokens").asLong();
        eventsPerSecond.add(report.path("host").path("events_per_s").asDouble());
    }

    double nanosPerOutputToken() {
        return min(cpuSeconds) * 1e9 / Math.max(1, outputTokens);
    }

    static double min(List<Double> values) {
        return values.stream().mapToDouble(v -> v).min().orElse(0);
    }

    static double max(List<Double> values) {
        return values.stream().mapToDouble(v -> v).max().orElse(0);
    }

    static double median(List<Double> values) {
        var sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        if (sorted.isEmpty()) {
            return 0;
        }
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}

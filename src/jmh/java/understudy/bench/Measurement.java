package understudy.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Measurement of one run by several programs, which take turns so that a slow minute hits all of them. */
final class Measurement {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double NANOS_PER_SECOND = 1e9;

    private final Path folder;

    /**
     * Prepares measurements.
     *
     * @param folder for reports and outputs, and for the class that warm runs need
     */
    Measurement(Path folder) throws IOException {
        this.folder = folder;
        String file = WarmRuns.class.getName().replace('.', '/') + ".class";
        var copy = folder.resolve(file);
        Files.createDirectories(Objects.requireNonNull(copy.getParent()));
        try (var helper = Objects.requireNonNull(WarmRuns.class.getResourceAsStream("/" + file))) {
            Files.copy(helper, copy, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Runs each program {@code repeat} times, each time in a process of its own. */
    List<BenchRow> processes(BenchRun run, List<Program> programs, int repeat)
            throws IOException, InterruptedException {
        var rows = programs.stream()
                .map(program -> new BenchRow(run, program, BenchRow.Mode.PROCESS))
                .toList();
        for (int i = 0; i < repeat; i++) {
            for (int p = 0; p < programs.size(); p++) {
                var process = programs.get(p).process(run.heapMegabytes(), reporting(run));
                var used = ChildProcess.run(process, folder.resolve("out"), folder.resolve("err"));
                rows.get(p).add(used.wallSeconds(), used.cpuSeconds());
                rows.get(p).rssMegabytes.add(used.maxRssMegabytes());
                rows.get(p).addReport(report());
            }
        }
        return rows;
    }

    /** Runs a program {@code repeat} times in one JVM; the first runs pay for its compilation, so count the least. */
    BenchRow warm(BenchRun run, Program program, int repeat) throws IOException, InterruptedException {
        var row = new BenchRow(run, program, BenchRow.Mode.WARM);
        var process = program.warmProcess(run.heapMegabytes(), folder, repeat, reporting(run));
        var used = ChildProcess.run(process, folder.resolve("out"), folder.resolve("err"));
        for (String line : Files.readAllLines(folder.resolve("out"))) {
            String[] nanos = line.split(" ");
            row.add(Long.parseLong(nanos[0]) / NANOS_PER_SECOND, Long.parseLong(nanos[1]) / NANOS_PER_SECOND);
        }
        row.rssMegabytes.add(used.maxRssMegabytes());
        row.addReport(report());
        return row;
    }

    private List<String> reporting(BenchRun run) {
        var arguments = new ArrayList<>(run.arguments());
        arguments.addAll(List.of("--json", reportFile().toString()));
        return arguments;
    }

    private JsonNode report() throws IOException {
        return JSON.readTree(reportFile().toFile());
    }

    private Path reportFile() {
        return folder.resolve("report.json");
    }
}

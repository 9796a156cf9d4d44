package understudy.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Main class of the table of whole runs: how long they take, cold and warm, and against other versions. */
@Command(
        name = "BenchTable",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Times whole runs of the program on Linux, from the project's folder. Versions take turns, so that a slow"
                    + " minute hits all of them. The table has the least and the median of each time, and most memory.",
            "Scenarios: one (one request), w1, w2 (conf/bench), b512, reasoning, mooncake (with its trace)."
        })
public final class BenchTable implements Callable<Integer> {
    private static final String TRACE = "traces/conversation_trace.jsonl";

    @Option(names = "--only", split = ",", paramLabel = "NAME", description = "Scenarios to run; else all.")
    private List<String> only = BenchRun.SCENARIOS;

    @Option(names = "--requests", split = ",", description = "Requests of w1 and w2; default ${DEFAULT-VALUE}.")
    private List<Integer> requests = List.of(10_000, 100_000);

    @Option(names = "--replicas", split = ",", description = "Replicas of w2; default ${DEFAULT-VALUE}.")
    private List<Integer> replicas = List.of(4, 64);

    @Option(names = "--repeat", description = "Processes of each run and version; default ${DEFAULT-VALUE}.")
    private int repeat = 5;

    @Option(names = "--warm", description = "Runs in one JVM, 0 for none; default ${DEFAULT-VALUE}.")
    private int warm = 10;

    @Option(names = "--jar", description = "The runnable jar under test; default ${DEFAULT-VALUE}.")
    private Path jar = Path.of("target/understudy.jar");

    @Option(names = "--against", paramLabel = "JAR", description = "Another version's jar to compare; repeatable.")
    private List<Path> others = List.of();

    @Option(names = "--launcher", paramLabel = "FILE", description = "A launcher to compare, cold only; repeatable.")
    private List<Path> launchers = List.of();

    @Option(names = "--java-option", description = "Of every JVM, beside -Xmx; repeatable.")
    private List<String> javaOptions = List.of();

    @Option(names = "--data", description = "Folder with " + TRACE + "; default ${DEFAULT-VALUE}.")
    private Path data = Path.of(System.getProperty("understudy.data", "../shared/data"));

    @Option(names = "--json", paramLabel = "FILE", description = "Writes every measurement as JSON.")
    private @Nullable Path json;

    private final List<BenchRow> rows = new ArrayList<>();

    private BenchTable() {}

    /** Prints the table, or help. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new BenchTable()).execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        var measurement = new Measurement(Path.of("target/bench").toAbsolutePath());
        String host = BenchReport.host();
        System.err.println(host);
        for (String scenario : only) {
            measure(scenario, measurement);
        }
        System.out.println(host);
        System.out.println(BenchReport.table(rows));
        BenchRatios.lines(rows).forEach(System.out::println);
        if (json != null) {
            BenchReport.writeJson(json, host, rows);
        }
        return 0;
    }

    private void measure(String scenario, Measurement measurement) throws IOException, InterruptedException {
        var trace = data.resolve(TRACE);
        if (scenario.equals("mooncake") && !Files.exists(trace)) {
            System.err.println("mooncake: skipped, there is no " + trace + "; name its folder with --data");
            return;
        }
        for (var run : BenchRun.of(scenario, requests, replicas, trace)) {
            System.err.println(run.name());
            rows.addAll(measurement.processes(run, programs(), repeat));
            for (var program : warm > 0 ? jars() : List.<Program>of()) {
                rows.add(measurement.warm(run, program, warm));
            }
        }
    }

    private List<Program> jars() {
        var jars = new ArrayList<Program>();
        jars.add(new Program(jar, false, javaOptions));
        others.forEach(other -> jars.add(new Program(other, false, javaOptions)));
        return jars;
    }

    private List<Program> programs() {
        var programs = jars();
        launchers.forEach(launcher -> programs.add(new Program(launcher, true, javaOptions)));
        return programs;
    }
}

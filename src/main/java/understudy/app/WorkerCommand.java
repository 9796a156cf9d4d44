package understudy.app;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.LogLevel;
import understudy.scenario.keys.ScenarioException;
import understudy.sweep.remote.Build;
import understudy.sweep.remote.ClusterWorker;
import understudy.sweep.remote.HostPort;

/** Runs points of a sweep that another machine drives. */
@Command(
        name = "worker",
        mixinStandardHelpOptions = true,
        description = {
            "Runs points of a sweep that was started with --cluster, until it is over.",
            "",
            "A worker needs no scenario; a trace or another file that the sweep reads must be at the same path, with"
                    + " the same content. It waits for a driver that is not there yet, or not there any more. If the"
                    + " worker dies, its points are run elsewhere."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the sweep is over",
            "2:bad input, another build or secret than the driver's, or a file that is missing",
            "130:broken off by Ctrl-C"
        },
        footer = {
            "",
            "Examples:",
            "  understudy sweep conf/demo.conf --vary cluster.replicas=1..64 --out results --cluster",
            "  understudy worker --join 127.0.0.1:7355",
            "",
            "  understudy sweep conf/demo.conf --vary cluster.replicas=1..64 --out results --cluster \\",
            "      --listen big.example.org:7355 --tls certificates",
            "  understudy worker --join big.example.org:7355 --tls certificates --jobs 8"
        })
final class WorkerCommand extends ConsoleCommand {
    private static final int REFUSED = 2;
    private static final int INTERRUPTED = 130;

    @Option(
            names = "--join",
            required = true,
            split = ",",
            paramLabel = "HOST:PORT",
            description = "Where the sweep is driven; several if it may be one of them.")
    private List<String> drivers = new ArrayList<>();

    @Option(names = "--jobs", paramLabel = "N", description = "Runs at a time. Default: one for each processor.")
    private int numJobs = Runtime.getRuntime().availableProcessors();

    @Mixin
    private final ClusterOptions cluster = new ClusterOptions();

    WorkerCommand() {
        super(new LogLevel(LogLevel.Level.ERROR));
    }

    @Override
    public Integer call() {
        if (numJobs < 1) {
            throw new ScenarioException("--jobs must be at least 1");
        }
        var addresses = drivers.stream().map(HostPort::parse).toList();
        String build = Build.of(Understudy.Version.text());
        var worker = new ClusterWorker(cluster.worker(addresses), addresses, build, numJobs, console()::warn);
        return switch (worker.run()) {
            case OVER -> 0;
            case REFUSED -> REFUSED;
            case BROKEN_OFF -> INTERRUPTED;
        };
    }
}

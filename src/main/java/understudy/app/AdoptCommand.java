package understudy.app;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.adopt.AdoptedScenario;
import understudy.adopt.Adoption;
import understudy.adopt.Findings;
import understudy.adopt.Sources;
import understudy.app.console.ConsoleCommand;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;

/** Makes a scenario of a server that runs. */
@Command(
        name = "adopt",
        mixinStandardHelpOptions = true,
        description = {
            "Makes a scenario of a running server of vLLM or SGLang: its twin.",
            "",
            "A SOURCE is its start log, a page of its /metrics, one of its answers in JSON, or its address, of which"
                    + " /v1/models,",
            "/version, /metrics and /server_info are asked. Several are put together, and must agree. The scenario says"
                    + " behind each",
            "value where it comes from, and at its end what the sources do not say. Its KV cache is exactly as large as"
                    + " the",
            "server's.",
            "",
            "--metrics adds the load: rates over time, lengths by the histograms, and what the prefix cache has found."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "2:bad input"},
        footer = {
            "",
            "Examples:",
            "  understudy adopt vllm.log --out twin.conf",
            "  kubectl logs deploy/vllm | understudy adopt /dev/stdin --gpu h200",
            "  understudy adopt http://localhost:8000 vllm.log --out twin.conf",
            "  understudy adopt vllm.log --metrics http://prometheus:9090 --since 6h --selector 'pod=~\"vllm.*\"'"
                    + " --out twin.conf",
            "  understudy adopt http://localhost:8000 --metrics http://localhost:8000/metrics --interval 5m",
            "  understudy run twin.conf",
            "  understudy serve twin.conf --set clock.speed=1"
        })
final class AdoptCommand extends ConsoleCommand {
    private static final long MAX_BYTES = 1L << 30;

    @Parameters(arity = "0..*", paramLabel = "SOURCE", description = "Start log, page of metrics, JSON, or address.")
    private List<String> sources = List.of();

    @Option(names = "--gpu", paramLabel = "GPU", description = "The GPU, which few sources tell, by name or path.")
    private @Nullable String gpu;

    @Option(names = "--out", paramLabel = "FILE", description = "Where to write the scenario. Default: it is printed.")
    private @Nullable String out;

    @Option(
            names = "--metrics",
            paramLabel = "LOAD",
            description =
                    "Two pages of metrics, the earlier first (give the option twice); an address that ends with /metrics, which"
                            + " is asked twice; the address of a Prometheus; or its JSON of query_range.")
    private List<String> loads = List.of();

    @Option(
            names = "--since",
            paramLabel = "TIME",
            defaultValue = "1h",
            description = "How much of Prometheus' past counts. Default: ${DEFAULT-VALUE}.")
    private String since = "";

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            description = "From one page of metrics to the other. Default: between the files' times, or 60s.")
    private @Nullable String interval;

    @Option(
            names = "--selector",
            paramLabel = "LABELS",
            defaultValue = "",
            description = "Labels of the series to ask Prometheus for: namespace=\"prod\",pod=~\"llama.*\".")
    private String selector = "";

    @Option(
            names = "--header",
            paramLabel = "KEY=VALUE",
            description = "Header of requests to addresses, repeatable. OPENAI_API_KEY in the environment gives a key.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Override
    public Integer call() throws Exception {
        var file = ReportFiles.writable("--out", out);
        requireGpu();
        var adopted = adopted();
        if (file == null) {
            console().out().print(adopted.text());
            return console().flush();
        }
        ReportFiles.writeText(file, adopted.text());
        print(adopted);
        return console().flush();
    }

    private AdoptedScenario adopted() throws InterruptedException {
        if (sources.isEmpty() && loads.isEmpty()) {
            throw new ScenarioException("adopt: needs a SOURCE, or --metrics; try 'understudy adopt --help'");
        }
        var load = loads.isEmpty()
                ? null
                : new LoadSource(loads, since, interval, selector, headers, System.getenv("OPENAI_API_KEY")).adopt();
        if (sources.isEmpty()) {
            return Objects.requireNonNull(load);
        }
        var findings = findings();
        var engine = Adoption.of(findings, EngineCommandLine.of(Adoption.engine(findings)), gpu);
        return load == null ? engine : engine.with(load.settings(), load.seen(), load.unknown());
    }

    private void requireGpu() {
        if (gpu != null && !SpecFiles.isPath(gpu) && SpecFiles.GPUS.find(gpu).isEmpty()) {
            throw new ScenarioException("--gpu is \"" + gpu + "\", " + SpecFiles.GPUS.allowed(gpu));
        }
    }

    private Findings findings() throws InterruptedException {
        @Nullable Findings all = null;
        for (String source : sources) {
            var each = read(source);
            all = all == null ? each : all.with(each);
        }
        return Objects.requireNonNull(all);
    }

    private Findings read(String source) throws InterruptedException {
        if (source.startsWith("http://") || source.startsWith("https://")) {
            return new AdoptedServer(source, headers, System.getenv("OPENAI_API_KEY")).findings();
        }
        return Sources.read(source, text(source));
    }

    /** Returns the text of a file. */
    static String text(String source) {
        try {
            var file = Path.of(source);
            if (!Files.exists(file)) {
                throw new ScenarioException(source + ": no such file, and no address that begins with http://");
            }
            if (Files.isDirectory(file)) {
                throw new ScenarioException(source + ": a directory, not a file");
            }
            if (Files.size(file) > MAX_BYTES) {
                throw new ScenarioException(source + ": larger than 1 GiB; cut out the server's start, or its metrics");
            }
            // Logs of terminals may have bytes of any kind, which no line that matters has.
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (InvalidPathException e) {
            throw new ScenarioException(source + ": not a path: " + e.getReason());
        } catch (IOException e) {
            throw new ScenarioException(source + ": cannot be read: " + e);
        }
    }

    private void print(AdoptedScenario adopted) {
        var terminal = console().out();
        terminal.println(adopted.title());
        terminal.println(out + ": " + adopted.settings().size() + " settings; not said by the sources:");
        adopted.unknown().forEach(line -> terminal.println("  " + line));
    }
}

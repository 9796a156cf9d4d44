package understudy.app;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.api.EmulationServer;
import understudy.api.ServerSettings;
import understudy.api.WarmUp;
import understudy.api.call.ApiSettings;
import understudy.api.call.RequestRecorder;
import understudy.api.http.HttpSettings;
import understudy.api.kvevents.UnusableEndpointException;
import understudy.app.console.Console;
import understudy.app.console.ConsoleCommand;
import understudy.app.sglang.SglangCommandLine;
import understudy.app.vllm.VllmSettings;
import understudy.app.vllm.VllmWords;
import understudy.scenario.Scenario;
import understudy.settings.ScenarioException;

/** Serves a scenario's cluster over HTTP. */
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        description = "Serves an emulated cluster behind an OpenAI-compatible HTTP server, until SIGTERM or Ctrl-C.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:ended by a signal, after calls in flight were answered",
            "1:the emulation failed",
            "2:bad input"
        },
        footer = {
            "",
            "Examples:",
            "  understudy serve conf/serve.conf",
            "  understudy serve conf/serve.conf --set server.port=8080 --set cluster.replicas=8 --set clock.speed=2",
            "  understudy serve conf/serve.conf --record today.jsonl",
            "  understudy serve --vllm-args 'Qwen/Qwen3-32B --tensor-parallel-size 2 --port 8080'",
            "  curl -N localhost:8000/v1/chat/completions -H 'Content-Type: application/json' \\",
            "    -d '{\"stream\": true, \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'"
        })
final class ServeCommand extends ConsoleCommand {
    private static final int FAILED = 1;
    private static final String SCENARIO = "conf/serve.conf";
    private static final Pattern FILE_NAME = Pattern.compile("|.*\\.(conf|json|properties|ya?ml)");

    @Mixin
    private ScenarioOptions options;

    @Parameters(
            arity = "0..1",
            paramLabel = "SCENARIO",
            description = "Scenario file, HOCON or YAML. Default: " + SCENARIO + ", or " + VllmSettings.SCENARIO
                    + " with --vllm-args, " + SglangCommandLine.SCENARIO + " with --sglang-args.")
    private @Nullable String scenarioFile;

    @Option(names = "--port", paramLabel = "N", description = "Port to listen at; short for --set server.port=N.")
    private @Nullable Integer port;

    @Option(
            names = "--record",
            paramLabel = "FILE",
            description =
                    "Records the requests as a trace, a new file of JSON lines without texts, that run, replay, bench"
                            + " and describe read.")
    private @Nullable Path recordFile;

    @Option(names = "--record-text", description = "Records the prompts' texts, too.")
    private boolean recordsText;

    @Option(
            names = "--vllm-args",
            paramLabel = "WORDS",
            description = "What 'vllm serve' would be given, as one word; weaker than --set.")
    private @Nullable String vllmArgs;

    @Option(
            names = "--sglang-args",
            paramLabel = "WORDS",
            description = "What 'sglang serve' would be given, as one word; weaker than --set.")
    private @Nullable String sglangArgs;

    @Override
    public Integer call() {
        if (vllmArgs != null && sglangArgs != null) {
            throw new ScenarioException("--sglang-args: a server is either vLLM's or SGLang's; leave out --vllm-args");
        }
        var flags = port == null ? Map.<String, String>of() : Map.of("server.port", port.toString());
        if (vllmArgs != null) {
            String file = Objects.requireNonNullElse(scenarioFile, VllmSettings.SCENARIO);
            return serveAsVllm(VllmWords.split(vllmArgs), file, options.with(flags), this::recorder, console());
        }
        if (sglangArgs != null) {
            String file = Objects.requireNonNullElse(scenarioFile, SglangCommandLine.SCENARIO);
            return serveAsSglang(VllmWords.split(sglangArgs), file, options.with(flags), this::recorder, console());
        }
        requireNoModel(scenarioFile);
        var scenario = Scenario.read(options.load(Objects.requireNonNullElse(scenarioFile, SCENARIO), flags));
        return serve(scenario, scenario.server().read(), this::recorder, console());
    }

    /** Requires a scenario, or no argument: behind {@code serve}, vLLM's command line has a model. */
    private static void requireNoModel(@Nullable String file) {
        if (file != null
                && !Files.exists(Path.of(file))
                && !FILE_NAME.matcher(file).matches()) {
            throw new ScenarioException(
                    file + ": no such file; to serve a model of this name: understudy vllm serve " + file);
        }
    }

    /** Serves as {@code vllm serve} does with these flags. */
    static int serveAsVllm(List<String> words, Console console) {
        return serveAsVllm(words, VllmSettings.SCENARIO, Map.of(), scenario -> Optional.empty(), console);
    }

    private static int serveAsVllm(
            List<String> words,
            String file,
            Map<String, String> stronger,
            Function<Scenario, Optional<RequestRecorder>> recorder,
            Console console) {
        var vllm = VllmSettings.of(words, System.getenv(), file);
        vllm.warnings().forEach(console::warn);
        var served = vllm.start(file, System.getenv(), stronger);
        served.warnings().forEach(console::warn);
        var scenario = served.scenario();
        var settings = VllmSettings.namingFlags(() -> scenario.server().read());
        if (vllm.isHeadless()) {
            return workHeadless("--headless", console.out());
        }
        return serve(scenario, settings, recorder, console);
    }

    /** Serves as {@code sglang serve} does with these flags. */
    static int serveAsSglang(List<String> words, Console console) {
        return serveAsSglang(words, SglangCommandLine.SCENARIO, Map.of(), scenario -> Optional.empty(), console);
    }

    private static int serveAsSglang(
            List<String> words,
            String file,
            Map<String, String> stronger,
            Function<Scenario, Optional<RequestRecorder>> recorder,
            Console console) {
        var sglang = SglangCommandLine.of(words, System.getenv());
        sglang.warnings().forEach(console::warn);
        var served = sglang.start(file, System.getenv(), stronger);
        served.warnings().forEach(console::warn);
        var scenario = served.scenario();
        var settings = SglangCommandLine.namingFlags(() -> scenario.server().read());
        if (sglang.isWorker()) {
            return workHeadless("--node-rank", console.out());
        }
        return serve(scenario, settings, recorder, console);
    }

    /** Is there until it is told to end: a worker without HTTP, whose engine is that of the first node. */
    private static int workHeadless(String flag, PrintWriter out) {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0), "end"));
        out.println("ready: a worker without HTTP (" + flag + "), for which the server of the first node emulates all");
        out.flush();
        new CompletableFuture<Void>().join();
        return 0;
    }

    private static int serve(
            Scenario scenario,
            ApiSettings settings,
            Function<Scenario, Optional<RequestRecorder>> recorders,
            Console console) {
        scenario.server().warnings().forEach(console::warn);
        var recorder = recorders.apply(scenario);
        var server = start(scenario, settings, recorder);
        var onSignal = new Thread(() -> end(server, recorder), "drain");
        Runtime.getRuntime().addShutdownHook(onSignal);
        announce(server, scenario, settings.http(), console.out());
        return exitCode(server, console.err());
    }

    /**
     * Waits for a failure, which ends the process, so that a supervisor can start it again; signals end it elsewhere.
     */
    static int exitCode(EmulationServer server, PrintWriter err) {
        try {
            server.whenFailed().join();
        } catch (CompletionException e) {
            err.println("the emulation failed: " + e.getCause());
            err.flush();
            return FAILED;
        }
        return 0;
    }

    /** Returns the recorder of requests, whose blocks are those of the replicas; empty without {@code --record}. */
    private Optional<RequestRecorder> recorder(Scenario scenario) {
        if (recordFile == null) {
            if (recordsText) {
                throw new ScenarioException("--record-text adds to a record, which needs --record");
            }
            return Optional.empty();
        }
        try {
            return Optional.of(new RequestRecorder(recordFile, scenario.blockSize(), recordsText));
        } catch (FileAlreadyExistsException e) {
            throw new ScenarioException("--record " + recordFile + ": is there already; name a new file");
        } catch (IOException e) {
            throw new ScenarioException("--record " + recordFile + ": cannot be written: " + e);
        }
    }

    private static EmulationServer start(Scenario scenario, ApiSettings settings, Optional<RequestRecorder> recorder) {
        requireFree(settings, settings.http().port(), scenario.server(), "port");
        settings.sideChannel()
                .ifPresent(channel -> requireFree(settings, channel.port(), scenario.server(), "side-channel-port"));
        try {
            WarmUp.run(
                    scenario.clusterSpec(null, false),
                    settings,
                    scenario.server().numWarmUpRequests());
            return EmulationServer.start(
                    scenario.clusterSpec(null, false),
                    scenario.speed(),
                    settings,
                    scenario.kvEvents(),
                    recorder.orElse(null),
                    api -> List.of());
        } catch (UnusableEndpointException e) {
            throw new ScenarioException(String.valueOf(e.getMessage()));
        } catch (UncheckedIOException e) {
            throw scenario.server().unusable("uds", "where it cannot listen: " + e.getMessage());
        } catch (CompletionException e) {
            if (e.getCause() != null && e.getCause().getCause() instanceof BindException failure) {
                throw scenario.server().unusable("port", "where it cannot listen: " + failure.getMessage());
            }
            throw e;
        }
    }

    /** Tries the port before anything is started; the HTTP library logs too much about a port in use. */
    private static void requireFree(ApiSettings settings, int port, ServerSettings server, String key) {
        var address = new InetSocketAddress(settings.http().host(), port);
        if (address.isUnresolved()) {
            throw server.unusable("host", "which is no address of this machine");
        }
        try (var probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(address);
        } catch (IOException e) {
            throw server.unusable(key, "where it cannot listen: " + e.getMessage());
        }
    }

    private static void announce(EmulationServer server, Scenario scenario, HttpSettings http, PrintWriter out) {
        boolean hasTls = http.tls() != null;
        out.println("understudy listens at " + url(server.address(), hasTls));
        if (http.unixSocket() != null) {
            out.println("  at the Unix socket " + http.unixSocket());
        }
        for (var address : server.replicaAddresses().values()) {
            out.println("  a replica of its own at " + url(address, hasTls));
        }
        server.api()
                .keptKv()
                .address()
                .ifPresent(kv -> out.println("  KV for other processes at " + kv.host() + ":" + kv.port()));
        server.kvEvents().ifPresent(publisher -> {
            for (int i = 0; i < scenario.numReplicas(); i++) {
                out.println("  KV events of replica " + i + (publisher.isBound() ? " bound to " : " connects to ")
                        + publisher.endpoint(i));
            }
        });
        out.println("ready: " + scenario.numReplicas() + " replica(s), speed " + scenario.speed());
        out.flush();
    }

    /** Returns the address as one can type it: all interfaces in their short form, and IPv6 in brackets. */
    static String url(InetSocketAddress address, boolean hasTls) {
        var host = address.getAddress();
        String literal = address.getHostString();
        if (host.isAnyLocalAddress()) {
            literal = "0.0.0.0";
        } else if (host instanceof Inet6Address) {
            literal = "[" + host.getHostAddress() + "]";
        }
        return (hasTls ? "https" : "http") + "://" + literal + ":" + address.getPort();
    }

    /** Exits with 0: a server that was told to end and did so has succeeded. */
    private static void end(EmulationServer server, Optional<RequestRecorder> recorder) {
        if (!server.whenFailed().isDone()) {
            server.drain();
            recorder.ifPresent(RequestRecorder::close);
            Runtime.getRuntime().halt(0);
        }
    }
}

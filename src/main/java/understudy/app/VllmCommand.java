package understudy.app;

import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.app.vllm.VllmHelp;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;

/** Acts as the program {@code vllm}, or as {@code python3 -m} of its server. */
@Command(
        name = "vllm",
        description = {
            "Takes vLLM's command line: 'vllm serve MODEL ...' serves an emulated engine in place of vLLM.",
            "",
            "A link named vllm, python or python3 to the launcher does so without the first word."
        },
        footer = {
            "",
            "Examples:",
            "  understudy vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --port 8080",
            "  understudy vllm -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-32B",
            "  understudy vllm serve --help",
            "  understudy vllm --version"
        })
final class VllmCommand extends ConsoleCommand {
    private static final String API_SERVER = "vllm.entrypoints.openai.api_server";
    private static final int FAILED = 1;
    private static final String CLI = "vllm.entrypoints.cli.main";

    @Parameters(arity = "0..*", paramLabel = "WORD", description = "serve and its flags, or --version.")
    private List<String> words = List.of();

    @Override
    public Integer call() {
        return run(words);
    }

    private int run(List<String> given) {
        String first = given.isEmpty() ? "--help" : given.get(0);
        var others = given.subList(Math.min(1, given.size()), given.size());
        return switch (first) {
            case "serve" -> serve(others);
            case "launch" -> launch(others);
            case "-m" -> runModule(others);
            case "-c" -> runText(others.isEmpty() ? "" : others.get(0));
            case "-u", "-B", "-E", "-I", "-O", "-s" -> run(others);
            case "-v", "--version" -> print(version());
            case "-h", "--help" -> print(VllmHelp.text());
            default ->
                throw new ScenarioException("vllm " + first + ": must be serve, launch render, --version or -m "
                        + API_SERVER + "; 'understudy bench' measures servers as vllm bench serve does");
        };
    }

    private int runModule(List<String> given) {
        String module = given.isEmpty() ? "" : given.get(0);
        var others = given.subList(Math.min(1, given.size()), given.size());
        return switch (module) {
            case API_SERVER -> serve(others);
            case CLI -> run(others);
            case SglangCommand.LAUNCH_SERVER -> SglangCommand.serve(others, console());
            case SglangCommand.BENCH_SERVING -> SglangCommand.bench(others, console());
            case "pip" -> pip();
            default ->
                throw new ScenarioException("python -m " + module + ": must be " + API_SERVER + " or "
                        + SglangCommand.LAUNCH_SERVER + "; there is no Python here");
        };
    }

    /** vLLM's servers without an engine have some of the routes of the one with an engine. */
    private int launch(List<String> given) {
        String component = given.isEmpty() ? "" : given.get(0);
        if (component.equals("render")) {
            console().warn("vllm launch render: serves all routes, not only those of a renderer");
            return serve(given.subList(1, given.size()));
        }
        throw new ScenarioException("vllm launch " + component + ": must be render");
    }

    private int pip() {
        console().warn("python -m pip: nothing is installed; there is no Python here, and none is needed");
        return 0;
    }

    private int runText(String text) {
        var address = PythonText.address(text);
        if (address.isPresent()) {
            var problem = PythonText.problem(address.get());
            problem.ifPresent(why -> console().warn(address.get() + ": " + why));
            return problem.isPresent() ? FAILED : 0;
        }
        if (PythonText.asksForVersion(text)) {
            return print(version());
        }
        throw new ScenarioException(
                "python -c: there is no Python here; only a text with a URL is understood, which is asked as a probe,"
                        + " and one that prints vllm.__version__");
    }

    private int serve(List<String> flags) {
        if (flags.stream().anyMatch(flag -> flag.equals("-h") || flag.equals("--help") || flag.startsWith("--help="))) {
            return print(VllmHelp.text());
        }
        return ServeCommand.serveAsVllm(flags, console());
    }

    private static String version() {
        return new ScenarioFile(System.getenv()).load(null, Map.of()).text("server.vllm-version");
    }

    private int print(String text) {
        console().out().println(text);
        return console().flush();
    }
}

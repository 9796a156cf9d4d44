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
            case "-m" -> runModule(others);
            case "-v", "--version" -> print(version());
            case "-h", "--help" -> print(VllmHelp.text());
            default ->
                throw new ScenarioException("vllm " + first + ": must be serve, --version or -m " + API_SERVER
                        + "; 'understudy bench' measures servers as vllm bench serve does");
        };
    }

    private int runModule(List<String> given) {
        String module = given.isEmpty() ? "" : given.get(0);
        var others = given.subList(Math.min(1, given.size()), given.size());
        return switch (module) {
            case API_SERVER -> serve(others);
            case CLI -> run(others);
            default ->
                throw new ScenarioException(
                        "python -m " + module + ": must be " + API_SERVER + "; there is no Python here");
        };
    }

    private int serve(List<String> flags) {
        if (flags.contains("--help") || flags.contains("-h")) {
            return print(VllmHelp.text());
        }
        return ServeCommand.serveAsVllm(flags, console());
    }

    private static String version() {
        return new ScenarioFile(System.getenv()).load(null, Map.of()).getString("server.vllm-version");
    }

    private int print(String text) {
        console().out().println(text);
        return console().flush();
    }
}

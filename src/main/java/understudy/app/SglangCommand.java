package understudy.app;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import understudy.app.console.Console;
import understudy.app.console.ConsoleCommand;
import understudy.app.sglang.SglangHelp;
import understudy.settings.ScenarioException;

/** Acts as the program {@code sglang}, or as {@code python3 -m} of its server. */
@Command(
        name = "sglang",
        description = {
            "Takes SGLang's command line: 'sglang serve MODEL ...' serves an emulated engine in place of SGLang.",
            "",
            "A link named sglang to the launcher does so without the first word; one named python or python3 takes",
            "-m sglang.launch_server."
        },
        footer = {
            "",
            "Examples:",
            "  understudy sglang serve Qwen/Qwen3-32B --tp-size 2 --port 8080",
            "  understudy sglang -m sglang.launch_server --model-path Qwen/Qwen3-32B",
            "  understudy sglang serve --help"
        })
final class SglangCommand extends ConsoleCommand {
    /** The module that starts a server. */
    static final String LAUNCH_SERVER = "sglang.launch_server";

    /** The module that sends load to one. */
    static final String BENCH_SERVING = "sglang.bench_serving";

    @Parameters(arity = "0..*", paramLabel = "WORD", description = "serve and its flags, or -m " + LAUNCH_SERVER + ".")
    private List<String> words = List.of();

    @Override
    public Integer call() {
        String first = words.isEmpty() ? "--help" : words.get(0);
        var others = words.subList(Math.min(1, words.size()), words.size());
        return switch (first) {
            case "serve", "launch_server" -> serve(others, console());
            case "bench_serving" -> bench(others, console());
            case "-m" -> runModule(others);
            case "-h", "--help" -> print();
            default ->
                throw new ScenarioException("sglang " + first + ": must be serve, or -m " + LAUNCH_SERVER
                        + "; 'understudy bench' measures servers as sglang.bench_serving does");
        };
    }

    private int runModule(List<String> given) {
        String module = given.isEmpty() ? "" : given.get(0);
        if (module.equals(BENCH_SERVING)) {
            return bench(given.subList(1, given.size()), console());
        }
        if (!module.equals(LAUNCH_SERVER)) {
            throw new ScenarioException("python -m " + module + ": must be " + LAUNCH_SERVER + " or " + BENCH_SERVING
                    + "; there is no Python here");
        }
        return serve(given.subList(1, given.size()), console());
    }

    /** Sends load as SGLang's benchmark does. */
    static int bench(List<String> given, Console console) {
        var words = new ArrayList<>(given);
        words.add(0, BenchServingCommand.NAME);
        return Understudy.commandLine(BenchServingCommand.NAME)
                .setOut(console.out())
                .setErr(console.err())
                .execute(words.toArray(String[]::new));
    }

    /** Serves as SGLang does with these flags, or prints their help. */
    static int serve(List<String> flags, Console console) {
        if (flags.contains("-h") || flags.contains("--help")) {
            console.out().println(SglangHelp.text());
            return console.flush();
        }
        return ServeCommand.serveAsSglang(withoutModelType(flags, console), console);
    }

    /** {@code --model-type} chooses between servers, of which there is one here. */
    private static List<String> withoutModelType(List<String> flags, Console console) {
        var others = new ArrayList<>(flags);
        int at = others.indexOf("--model-type");
        if (at >= 0) {
            others.subList(at, Math.min(at + 2, others.size())).clear();
        }
        others.removeIf(flag -> flag.startsWith("--model-type="));
        if (others.size() < flags.size()) {
            console.warn("--model-type has no effect here");
        }
        return others;
    }

    private int print() {
        console().out().println(SglangHelp.text());
        return console().flush();
    }
}

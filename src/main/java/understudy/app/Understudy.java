package understudy.app;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.workload.files.TraceException;

/** Command {@code understudy}, with all subcommands. */
@Command(
        name = "understudy",
        mixinStandardHelpOptions = true,
        versionProvider = Understudy.Version.class,
        description = "An actor-based stand-in for an LLM serving cluster.",
        footer = {"", "Example: understudy run conf/demo.conf"})
public final class Understudy {
    /** Commands by name, in the order of the help text. */
    private static final Map<String, Class<?>> COMMANDS = new LinkedHashMap<>();

    /** Commands that take the command line of an engine. */
    private static final Set<String> ENGINES = Set.of("vllm", "sglang");

    private static final Set<String> VERSION_OPTIONS = Set.of("--version", "-V");
    private static final int BAD_INPUT = 2;
    private static final long BYTES_PER_MEGABYTE = 1 << 20;

    static {
        COMMANDS.put("run", RunCommand.class);
        COMMANDS.put("serve", ServeCommand.class);
        COMMANDS.put("vllm", VllmCommand.class);
        COMMANDS.put("sglang", SglangCommand.class);
        COMMANDS.put("sweep", SweepCommand.class);
        COMMANDS.put("plan", PlanCommand.class);
        COMMANDS.put("worker", WorkerCommand.class);
        COMMANDS.put("bench", BenchCommand.class);
        COMMANDS.put("bench-serving", BenchServingCommand.class);
        COMMANDS.put("replay", ReplayCommand.class);
        COMMANDS.put("describe", DescribeCommand.class);
        COMMANDS.put("conform", ConformCommand.class);
        COMMANDS.put("adopt", AdoptCommand.class);
        COMMANDS.put("calibrate", CalibrateCommand.class);
        COMMANDS.put("fuzz", FuzzCommand.class);
        COMMANDS.put("chaos", ChaosCommand.class);
        COMMANDS.put("fidelity", FidelityCommand.class);
        COMMANDS.put("compare", CompareCommand.class);
        COMMANDS.put("emit", EmitCommand.class);
        COMMANDS.put("models", ModelsCommand.class);
        COMMANDS.put("gpus", GpusCommand.class);
        COMMANDS.put("versions", VersionsCommand.class);
        COMMANDS.put("completion", CompletionCommand.class);
        COMMANDS.put("man", ManCommand.class);
        COMMANDS.put("help", HelpCommand.class);
    }

    private Understudy() {}

    /** Runs a command and ends the process with its exit code, unless that is 0. */
    public static void main(String[] args) {
        // No option is of these types, whose classes take a while to initialize.
        System.setProperty("picocli.converters.excludes", "java[.](time|sql)[.].*");
        int exitCode;
        try {
            var words = BenchServingCommand.named(args);
            exitCode = commandLine(words).execute(words);
        } catch (OutOfMemoryError e) {
            System.err.println(outOfMemory());
            exitCode = BAD_INPUT;
        }
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    /** Returns the parser of {@code args}: of one command if they name it first, else of all. */
    static CommandLine commandLine(String... args) {
        var commandLine = new CommandLine(new Understudy());
        commands(args).forEach(name -> commandLine.addSubcommand(name, COMMANDS.get(name)));
        commandLine
                .getSubcommands()
                .values()
                .forEach(command -> command.getCommandSpec().versionProvider(new Version()));
        for (String engine : ENGINES) {
            var command = commandLine.getSubcommands().get(engine);
            if (command != null) {
                // From its first word on the line is the engine's.
                command.setStopAtPositional(true)
                        .setUnmatchedOptionsArePositionalParams(true)
                        .setExpandAtFiles(false);
            }
        }
        return commandLine
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpWidth(110)
                .setParameterExceptionHandler((failure, parsed) -> onMisuse(failure))
                .setExecutionExceptionHandler((failure, command, parsed) -> onFailure(failure, command.getErr()));
    }

    /** Returns the parser of all commands. */
    static CommandLine wholeCommandLine() {
        return commandLine("help");
    }

    /**
     * Returns the commands to create, since creating one reflects on all its options. Help and suggestions name all.
     */
    private static Set<String> commands(String... args) {
        String first = args.length == 0 ? "" : args[0];
        if (args.length == 1 && VERSION_OPTIONS.contains(first)) {
            return Set.of();
        }
        boolean isAlone = COMMANDS.containsKey(first) && !first.equals("help");
        return isAlone ? Set.of(first) : COMMANDS.keySet();
    }

    private static int onMisuse(CommandLine.ParameterException failure) {
        var command = failure.getCommandLine();
        var err = command.getErr();
        String problem =
                String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        // The parser's own words have one word twice.
        err.println(problem.replace("option option", "option") + suggestion(failure) + "; try '"
                + command.getCommandSpec().qualifiedName() + " --help'");
        err.flush();
        return BAD_INPUT;
    }

    private static String suggestion(CommandLine.ParameterException failure) {
        var suggestions = failure instanceof CommandLine.UnmatchedArgumentException unmatched
                ? suggestions(unmatched)
                : List.<String>of();
        return suggestions.isEmpty() ? "" : " (did you mean " + String.join(" or ", suggestions) + "?)";
    }

    private static List<String> suggestions(CommandLine.UnmatchedArgumentException failure) {
        String word = failure.getUnmatched().get(0);
        if (VERSION_OPTIONS.contains("--" + word)) {
            return List.of("--" + word);
        }
        if (!failure.isUnknownOption()) {
            return failure.getSuggestions();
        }
        String written = word.replaceFirst("=.*", "");
        var names = failure.getCommandLine().getCommandSpec().optionsMap().keySet();
        return KnownKeys.near(written, names).map(List::of).orElse(List.of());
    }

    /** Bad input and an engine's death are one line; everything else is a defect, and shown in full. */
    static int onFailure(Exception failure, PrintWriter err) throws Exception {
        if (failure instanceof ScenarioException
                || failure instanceof TraceException
                || failure instanceof KvOutOfMemoryException) {
            err.println(failure.getMessage());
            err.flush();
            return BAD_INPUT;
        }
        if (isOutOfMemory(failure)) {
            err.println(outOfMemory());
            err.flush();
            return BAD_INPUT;
        }
        throw failure;
    }

    /** Memory may run out in any thread, so the error comes wrapped. */
    private static boolean isOutOfMemory(Throwable failure) {
        var cause = failure.getCause();
        return failure instanceof OutOfMemoryError || (cause != null && isOutOfMemory(cause));
    }

    private static String outOfMemory() {
        return "out of memory: the heap has " + Runtime.getRuntime().maxMemory() / BYTES_PER_MEGABYTE
                + " MB; give it more with java -Xmx, or the scenario fewer requests, blocks or replicas, or the replay"
                + " fewer requests (--limit)";
    }

    /** Reads the version that the build has put into the jar. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {text()};
        }

        static String text() {
            return "understudy " + number("(not packaged)");
        }

        /** Returns the version alone, or another text where there is no jar. */
        static String number(String other) {
            return Objects.requireNonNullElse(Understudy.class.getPackage().getImplementationVersion(), other);
        }
    }
}

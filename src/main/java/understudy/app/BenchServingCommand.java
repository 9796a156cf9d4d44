package understudy.app;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import understudy.app.console.ConsoleCommand;
import understudy.bench.Bench;
import understudy.bench.BenchTarget;
import understudy.bench.BenchUnreachableException;
import understudy.bench.DatasetSettings;
import understudy.bench.ServerLink;
import understudy.bench.result.BenchRequest.End;
import understudy.bench.result.BenchResult;
import understudy.bench.result.ServingReport;
import understudy.json.Jackson;
import understudy.scenario.Scenario;
import understudy.settings.ScenarioException;

/** Sends load to a server as SGLang's benchmark does, and reports as that ({@code sglang/bench_serving.py}). */
@Command(
        name = BenchServingCommand.NAME,
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        description = {
            "Sends a workload to a server and reports as python -m sglang.bench_serving does, with its options.",
            "",
            "'bench' with --backend, and 'sglang -m sglang.bench_serving', are the same."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the server cannot be reached, or no request was answered",
            "2:bad input, or a file that cannot be written",
            "130:broken off by Ctrl-C, partial report"
        },
        footer = {
            "",
            "Examples:",
            "  understudy bench-serving --backend sglang --dataset-name random-ids --num-prompts 200",
            "  understudy bench --backend sglang-oai-chat --port 30000 --dataset-name random --request-rate 10",
            "  understudy bench-serving --dataset-name generated-shared-prefix --gsp-num-groups 8"
        })
final class BenchServingCommand extends ConsoleCommand {
    static final String NAME = "bench-serving";

    private static final int NO_ANSWER = 1;
    private static final int INTERRUPTED = 130;
    private static final int SGLANG_PORT = 30_000;
    private static final int VLLM_PORT = 8_000;
    private static final Set<String> NATIVE = Set.of("sglang", "sglang-native");
    private static final Set<String> COMPLETIONS = Set.of("sglang-oai", "vllm", "lmdeploy");
    private static final Set<String> CHATS = Set.of("sglang-oai-chat", "vllm-chat", "lmdeploy-chat");
    private static final Set<String> DATASETS = Set.of("sharegpt", "random", "random-ids", "generated-shared-prefix");

    @Mixin
    private ScenarioOptions options;

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            description = "sglang, sglang-oai, sglang-oai-chat, vllm, vllm-chat.")
    private String backend = "sglang";

    @Option(names = "--base-url", paramLabel = "URL", description = "Server, in place of host and port.")
    private @Nullable String baseUrl;

    @Option(names = "--host", paramLabel = "NAME", description = "Server, default ${DEFAULT-VALUE}.")
    private String host = "0.0.0.0";

    @Option(names = "--port", paramLabel = "N", description = "Its port, default 30000, and 8000 for vllm.")
    private @Nullable Integer port;

    @Option(
            names = "--dataset-name",
            paramLabel = "NAME",
            description = "sharegpt, random, random-ids or generated-shared-prefix; default ${DEFAULT-VALUE}.")
    private String dataset = "sharegpt";

    @Option(names = "--dataset-path", paramLabel = "FILE", description = "File of sharegpt.")
    private String datasetPath = "";

    @Option(names = "--model", paramLabel = "NAME", description = "Model; default the first one of the server.")
    private @Nullable String model;

    @Option(names = "--num-prompts", paramLabel = "N", description = "Number of requests, default ${DEFAULT-VALUE}.")
    private long numPrompts = 1000;

    @Option(
            names = "--sharegpt-output-len",
            paramLabel = "N",
            description = "Answer tokens; default those of the file.")
    private @Nullable Integer sharegptOutputLength;

    @Option(
            names = {"--random-input-len", "--random-input"},
            paramLabel = "N",
            description = "random: most prompt tokens, ${DEFAULT-VALUE}.")
    private int inputLength = 1024;

    @Option(
            names = {"--random-output-len", "--random-output"},
            paramLabel = "N",
            description = "random: most answer tokens, ${DEFAULT-VALUE}.")
    private int outputLength = 1024;

    @Option(
            names = "--random-range-ratio",
            paramLabel = "R",
            description = "random: the least tokens, as a part of the most; default ${DEFAULT-VALUE}.")
    private double rangeRatio;

    @Option(names = "--request-rate", paramLabel = "RPS", description = "Requests per second, default inf.")
    private String requestRate = "inf";

    @Option(names = "--max-concurrency", paramLabel = "N", description = "Most requests in flight.")
    private @Nullable Integer maxConcurrency;

    @Option(names = "--output-file", paramLabel = "FILE", description = "File that gets a line with the result.")
    private @Nullable String outputFile;

    @Option(names = "--output-details", description = "The line has lists with an entry for each request.")
    private boolean isDetailed;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of every random stream, default ${DEFAULT-VALUE}.")
    private long seed = 1;

    @Option(names = "--disable-ignore-eos", description = "Answers may end by themselves.")
    private boolean endsByItself;

    @Option(names = "--return-logprob", description = "Asks for log probabilities.")
    private boolean wantsLogprobs;

    @Option(names = "--extra-request-body", paramLabel = "JSON", description = "Fields of all requests.")
    private String extraBody = "{}";

    @Option(names = "--flush-cache", description = "Empties the cache of the server before.")
    private boolean flushesCache;

    @Option(names = "--warmup-requests", paramLabel = "N", description = "Requests before, ${DEFAULT-VALUE}.")
    private int numWarmUps = 1;

    @Option(names = "--tokenize-prompt", description = "Sends token ids, with --backend sglang.")
    private boolean sendsIds;

    @Option(names = "--gsp-num-groups", paramLabel = "N", description = "Number of system prompts, ${DEFAULT-VALUE}.")
    private int numGroups = 64;

    @Option(names = "--gsp-prompts-per-group", paramLabel = "N", description = "Prompts of each, ${DEFAULT-VALUE}.")
    private int promptsPerGroup = 16;

    @Option(names = "--gsp-system-prompt-len", paramLabel = "N", description = "Tokens of each, ${DEFAULT-VALUE}.")
    private int systemPromptLength = 2048;

    @Option(names = "--gsp-question-len", paramLabel = "N", description = "Tokens behind it, ${DEFAULT-VALUE}.")
    private int questionLength = 128;

    @Option(names = "--gsp-output-len", paramLabel = "N", description = "Answer tokens, ${DEFAULT-VALUE}.")
    private int sharedOutputLength = 256;

    @Option(
            names = {"--disable-tqdm", "--apply-chat-template", "--profile", "--pd-separated"},
            description = "No effect here.")
    @SuppressWarnings("unused") // read by nobody
    private boolean hasNoEffect;

    @Option(
            names = {"--tokenizer", "--prompt-suffix", "--sharegpt-context-len"},
            paramLabel = "TEXT",
            description = "No effect here.")
    @SuppressWarnings("unused") // read by nobody
    private @Nullable String unused;

    @Override
    public Integer call() throws Exception {
        var file = Path.of(outputFile == null ? usualFile() : outputFile);
        ReportFiles.requireWritable("--output-file " + file, file);
        var scenario = Scenario.read(options.load(null, settings()));
        try (var workload = scenario.workloadSource().open()) {
            var target = target();
            if (flushesCache) {
                ServerLink.flushCache(target);
            }
            var run = new BenchRun(
                    target,
                    new Bench.Options(scenario.traffic().isClosedLoop(), 0, 0, 1),
                    scenario,
                    numWarmUps,
                    console());
            return run.execute(workload, result -> report(target, result, file));
        } catch (BenchUnreachableException e) {
            console().warn(String.valueOf(e.getMessage()));
            return NO_ANSWER;
        }
    }

    private int report(BenchTarget target, BenchResult result, Path file) throws IOException {
        var arguments = new ServingReport.Arguments(
                backend, dataset, sharegptOutputLength, inputLength, outputLength, rangeRatio);
        var report = new ServingReport(result, arguments, ServerLink.acceptLength(target));
        console().out().print(report.text());
        int printed = console().flush();
        Files.writeString(file, report.json(isDetailed) + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (result.isPartial()) {
            return INTERRUPTED;
        }
        return result.count(End.COMPLETED) == 0 ? NO_ANSWER : printed;
    }

    private String usualFile() {
        String lengths = dataset.startsWith("random") ? inputLength + "_" + outputLength : dataset;
        String date = LocalDate.now(ZoneId.systemDefault()).format(DateTimeFormatter.ofPattern("MMdd"));
        return backend + "_" + date + "_" + numPrompts + "_" + lengths + ".jsonl";
    }

    private BenchTarget target() throws InterruptedException {
        String key = System.getenv("OPENAI_API_KEY");
        var headers = new LinkedHashMap<String, String>();
        if (key != null) {
            headers.put("Authorization", "Bearer " + key);
        }
        var base = base();
        String first = ServerLink.firstModel(base, headers, model != null);
        return new BenchTarget(
                base, endpoint(), Objects.requireNonNullElse(model, first), headers, sendsIds, !endsByItself, body());
    }

    private URI base() {
        int usualPort = backend.equals("vllm") ? VLLM_PORT : SGLANG_PORT;
        String text = baseUrl == null
                ? "http://" + (host.equals("0.0.0.0") ? "127.0.0.1" : host) + ":"
                        + Objects.requireNonNullElse(port, usualPort)
                : baseUrl.replaceFirst("/+$", "");
        try {
            var uri = URI.create(text);
            if (uri.getHost() != null) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw new ScenarioException(text + ": not the URL of a server; it must be such as http://localhost:30000");
    }

    private String endpoint() {
        boolean isNative = NATIVE.contains(backend);
        if (sendsIds && !isNative) {
            throw new ScenarioException("--tokenize-prompt: needs --backend sglang, not " + backend);
        }
        if (isNative) {
            return "/generate";
        }
        if (COMPLETIONS.contains(backend)) {
            return "/v1/completions";
        }
        if (CHATS.contains(backend)) {
            return "/v1/chat/completions";
        }
        throw new ScenarioException("--backend " + backend
                + ": must be sglang, sglang-native, sglang-oai, sglang-oai-chat, vllm, vllm-chat, lmdeploy or"
                + " lmdeploy-chat");
    }

    private ObjectNode body() {
        try {
            if (Jackson.mapper().readTree(extraBody) instanceof ObjectNode body) {
                if (wantsLogprobs) {
                    body.put("return_logprob", true);
                }
                return body;
            }
        } catch (JsonProcessingException e) {
            // Said below.
        }
        throw new ScenarioException("--extra-request-body " + extraBody + ": not a JSON object");
    }

    /** Returns the workload as settings: the same one can be run in virtual time. */
    private Map<String, String> settings() {
        if (!DATASETS.contains(dataset)) {
            throw new ScenarioException("--dataset-name " + dataset
                    + ": must be sharegpt, random, random-ids or generated-shared-prefix here");
        }
        var settings = new LinkedHashMap<>(requests().byKey());
        settings.put("seed", String.valueOf(seed));
        settings.put("workload.arrivals.request-rate", requestRate);
        settings.put("workload.arrivals.scale-gaps", "false");
        if (maxConcurrency != null) {
            settings.put("workload.max-concurrency", maxConcurrency.toString());
        }
        return settings;
    }

    /** The questions of all groups are sent in a shuffled order. */
    private DatasetSettings requests() {
        return switch (dataset) {
            case "sharegpt" ->
                DatasetSettings.shareGpt(numPrompts, datasetPath, Objects.requireNonNullElse(sharegptOutputLength, 0));
            case "generated-shared-prefix" ->
                DatasetSettings.generated((long) numGroups * promptsPerGroup)
                        .lengths("prompt", questionLength, questionLength)
                        .lengths("output", sharedOutputLength, sharedOutputLength)
                        .prefixes(numGroups, systemPromptLength)
                        .promptsPerPrefix(promptsPerGroup);
            default ->
                DatasetSettings.generated(numPrompts)
                        .lengths("prompt", least(inputLength), inputLength)
                        .lengths("output", least(outputLength), outputLength);
        };
    }

    /** As {@code np.random.randint(max(int(len * ratio), 1), len + 1)}. */
    private long least(int most) {
        if (!(rangeRatio >= 0 && rangeRatio <= 1)) {
            throw new ScenarioException("--random-range-ratio " + rangeRatio + ": must be from 0 to 1");
        }
        return Math.max(1, (long) (most * rangeRatio));
    }

    /** Returns the words of a command line with the name of this command, if they are {@code bench} with {@code --backend}. */
    static String[] named(String... args) {
        boolean isMeant = args.length > 0
                && args[0].equals("bench")
                && List.of(args).stream().anyMatch(word -> word.equals("--backend") || word.startsWith("--backend="));
        if (!isMeant) {
            return args;
        }
        var words = new ArrayList<>(List.of(args));
        words.set(0, NAME);
        return words.toArray(String[]::new);
    }
}

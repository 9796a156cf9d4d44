package understudy.adopt;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Start log of vLLM (0.8 and later) or SGLang (0.4 and later), read line by line. Of a log with several starts the last one
 * counts; of ranks that tell different sizes of their memory the smallest.
 */
final class StartLog {
    private static final Pattern COLOURS = Pattern.compile("\u001B\\[[0-9;]*m");
    private static final Pattern GRAPH_SIZES = Pattern.compile("cudagraph_capture_sizes['\"]?: ?\\[([0-9, ]+)\\]");

    /** Arguments of vLLM's configuration that are flags, by their names there. */
    private static final Map<String, String> CONFIG_FLAGS = Map.of(
            "model", "model",
            "max_seq_len", "max-model-len",
            "tensor_parallel_size", "tensor-parallel-size",
            "pipeline_parallel_size", "pipeline-parallel-size",
            "data_parallel_size", "data-parallel-size",
            "quantization", "quantization",
            "kv_cache_dtype", "kv-cache-dtype",
            "enable_prefix_caching", "enable-prefix-caching");

    private static final List<Line> LINES = List.of(
            new Line(EngineName.VLLM, "vLLM (?:API|OpenAI API) server version (?<it>[0-9]\\S*)", StartLog::onVersion),
            new Line(EngineName.VLLM, "[█▄▀]\\s+version (?<it>[0-9]\\S*)", StartLog::onVersion),
            new Line(EngineName.VLLM, "LLM engine \\(v(?<it>[^)]+)\\) with config: (?<config>.*)", StartLog::onConfig),
            new Line(EngineName.VLLM, "non-default args: (?<it>\\{.*)", StartLog::onArguments),
            new Line(EngineName.VLLM, "args: Namespace\\((?<it>.*)", StartLog::onNamespace),
            flag(
                    EngineName.VLLM,
                    "Chunked prefill is enabled with max_num_batched_tokens=(?<it>\\d+)",
                    "max-num-batched-tokens"),
            flag(EngineName.VLLM, "Using max model len (?<it>\\d+)", "max-model-len"),
            fact(EngineName.VLLM, "GPU KV cache size: (?<it>[0-9,]+) tokens", Fact.KV_TOKENS),
            fact(EngineName.VLLM, "# GPU blocks: (?<it>\\d+)", Fact.KV_BLOCKS),
            fact(EngineName.VLLM, "num_gpu_blocks is: (?<it>\\d+)", Fact.KV_BLOCKS),
            new Line(
                    EngineName.VLLM,
                    "Maximum concurrency for (?<length>[0-9,]+) tokens per request: (?<it>[0-9.]+)x",
                    StartLog::onConcurrency),
            fact(
                    EngineName.VLLM,
                    "(?:Setting|Forcing) (?:attention|kv cache) block size to (?<it>\\d+)",
                    Fact.BLOCK_SIZE),
            fact(EngineName.VLLM, "Available KV cache memory: (?<it>[0-9.]+) Gi?B", Fact.KV_GIB),
            fact(
                    EngineName.VLLM,
                    "(?:Model loading took|Loading model weights took) (?<it>[0-9.]+) Gi?B",
                    Fact.WEIGHTS_GIB),
            fact(
                    EngineName.VLLM,
                    "Using (?<it>[A-Za-z0-9_ ]+?) (?:attention backend|backend on V1)",
                    Fact.ATTENTION_BACKEND),
            new Line(EngineName.SGLANG, "server_args=ServerArgs\\((?<it>.*)", StartLog::onServerArgs),
            new Line(
                    EngineName.SGLANG,
                    "max_total_num_tokens=(?<it>\\d+), chunked_prefill_size=(?<chunk>-?\\d+|None),"
                            + " max_prefill_tokens=(?<prefill>\\d+), max_running_requests=(?<running>\\d+),"
                            + " context_len=(?<length>\\d+)",
                    StartLog::onCapacity),
            new Line(
                    EngineName.SGLANG,
                    "KV Cache is allocated\\..*#tokens: (?<it>\\d+)",
                    (log, line) -> log.findings.putFirst(Fact.POOL_TOKENS, line.group("it"), log.here())),
            new Line(
                    EngineName.VLLM,
                    "(?:vllm serve|vllm\\.entrypoints\\.openai\\.api_server) (?<it>.*)",
                    StartLog::onCommand),
            new Line(EngineName.SGLANG, "(?:sglang serve|sglang\\.launch_server) (?<it>.*)", StartLog::onCommand),
            fact(EngineName.SGLANG, "Load weight begin\\. avail mem=(?<it>[0-9.]+) GB", Fact.FREE_GIB),
            fact(EngineName.SGLANG, "Load weight end\\..* mem usage=(?<it>[0-9.]+) GB", Fact.WEIGHTS_GIB),
            fact(EngineName.SGLANG, "Capture cuda graph bs \\[(?<it>[0-9, ]+)\\]", Fact.GRAPH_SIZES),
            flag(EngineName.SGLANG, "Setting page size to (?<it>\\d+)", "page-size"),
            fact(null, "device_name=(?<it>[A-Za-z0-9_-]+)", Fact.GPU));

    private final String name;
    private final Findings findings;
    private int lineNumber;
    private int firstLineNumber;
    private String begun = "";

    private StartLog(String name) {
        this.name = name;
        findings = new Findings(name);
    }

    /**
     * A line that is looked for.
     *
     * @param engine whose logs alone have it, or null
     * @param pattern with the group {@code it}
     */
    private record Line(@Nullable EngineName engine, Pattern pattern, BiConsumer<StartLog, Matcher> reading) {
        Line(@Nullable EngineName engine, String regex, BiConsumer<StartLog, Matcher> reading) {
            this(engine, Pattern.compile(regex), reading);
        }
    }

    private static Line flag(EngineName engine, String regex, String flag) {
        return new Line(engine, regex, (log, line) -> log.findings.putFlag(flag, line.group("it"), log.here()));
    }

    private static Line fact(@Nullable EngineName engine, String regex, Fact fact) {
        return new Line(engine, regex, (log, line) -> log.put(fact, line.group("it")));
    }

    /**
     * Returns what a log says; nothing, without an engine, if it is no start log.
     *
     * @param name of the file
     */
    static Findings read(String name, String text) {
        var log = new StartLog(name);
        text.lines().forEach(log::join);
        log.read(log.begun);
        return log.findings;
    }

    /** A command of a shell goes on behind a backslash. */
    private void join(String line) {
        lineNumber++;
        if (begun.isEmpty()) {
            firstLineNumber = lineNumber;
        }
        if (line.endsWith("\\")) {
            begun += line.substring(0, line.length() - 1) + " ";
        } else {
            read(begun + line);
            begun = "";
        }
    }

    private void read(String line) {
        String plain = COLOURS.matcher(line).replaceAll("");
        for (var each : LINES) {
            var match = each.pattern.matcher(plain);
            if (match.find()) {
                if (each.engine != null) {
                    findings.setEngine(each.engine);
                }
                each.reading.accept(this, match);
            }
        }
        var sizes = GRAPH_SIZES.matcher(plain);
        if (sizes.find()) {
            findings.put(Fact.GRAPH_SIZES, sizes.group(1), here());
        }
    }

    private String here() {
        return name + ":" + firstLineNumber;
    }

    private void put(Fact fact, String value) {
        switch (fact) {
            case KV_TOKENS, KV_BLOCKS, KV_GIB, FREE_GIB, MAX_CONCURRENCY ->
                findings.putSmallest(fact, value.replace(",", ""), here());
            default -> findings.put(fact, value, here());
        }
    }

    private void onConcurrency(Matcher line) {
        put(Fact.MAX_CONCURRENCY, line.group("it"));
        var length = new Finding(line.group("length").replace(",", ""), here());
        findings.putFlagIfAbsent("max-model-len", length);
    }

    /** What stands behind the command in a shell is no part of it. */
    private void onCommand(Matcher line) {
        findings.put(
                Fact.COMMAND,
                line.group("it").replaceFirst("\\s(?:[|&>;]|2>|#).*", "").strip(),
                here());
    }

    /** With these lines a server begins its log. */
    private void startAnew() {
        if (findings.fact(Fact.KV_TOKENS)
                .or(() -> findings.fact(Fact.KV_BLOCKS))
                .isPresent()) {
            findings.clear();
        }
    }

    private void onVersion(Matcher line) {
        startAnew();
        put(Fact.VERSION, line.group("it"));
    }

    /** What vLLM has resolved goes over what it was told; what is off, and what it was not told, is left out. */
    private void onConfig(Matcher line) {
        put(Fact.VERSION, line.group("it"));
        PythonValue.arguments(line.group("config")).properties().forEach(argument -> {
            String flag = CONFIG_FLAGS.get(argument.getKey());
            if (flag != null
                    && (!argument.getValue().isNull() || findings.flag(flag).isEmpty())) {
                putFlag(flag, argument.getValue(), "config");
            }
        });
    }

    private void onArguments(Matcher line) {
        PythonValue.of(line.group("it"))
                .properties()
                .forEach(argument ->
                        putFlag(argument.getKey().replace('_', '-'), argument.getValue(), "non-default args"));
    }

    private void onNamespace(Matcher line) {
        PythonValue.arguments(line.group("it"))
                .properties()
                .forEach(argument -> putFlag(argument.getKey().replace('_', '-'), argument.getValue(), "args"));
    }

    private void onServerArgs(Matcher line) {
        startAnew();
        PythonValue.arguments(line.group("it"))
                .properties()
                .forEach(argument -> putFlag(argument.getKey().replace('_', '-'), argument.getValue(), "server_args"));
    }

    private void putFlag(String flag, JsonNode value, String part) {
        if (!value.isNull()) {
            findings.putFlag(flag, value.isValueNode() ? value.asText() : value.toString(), here() + " " + part);
        }
    }

    /** Each rank tells its own part of what flags give for all. */
    private void onCapacity(Matcher line) {
        put(Fact.KV_TOKENS, line.group("it"));
        if (!line.group("chunk").equals("None")) {
            put(Fact.RANK_CHUNK, line.group("chunk"));
        }
        put(Fact.RANK_MAX_RUNNING, line.group("running"));
        findings.putFlag("max-prefill-tokens", line.group("prefill"), here());
        findings.putFlag("context-length", line.group("length"), here());
    }
}

package understudy.app.vllm;

import java.util.ArrayList;
import java.util.Locale;
import java.util.stream.Collectors;

/** Text of {@code vllm serve --help}. */
public final class VllmHelp {
    private static final int WIDTH = 100;
    private static final String HEAD = """
        Usage: vllm serve [MODEL] [FLAGS]

        Serves an emulated engine as vLLM serves a model, at 0.0.0.0:8000. Flags are vLLM's, in all its spellings:
        --max-model-len 8k, --max-model-len=8k, --max_model_len 8k.

        MODEL is a name of 'understudy models', a Hugging Face name of one of these, or a folder with a config.json.
        Any other is served under its name, with the timing of latency.llm.

        All other settings come from the environment, such as UNDERSTUDY_LATENCY_GPU=b200 or UNDERSTUDY_CLOCK_SPEED=10.
        VLLM_API_KEY is heeded. /admin needs UNDERSTUDY_SERVER_ADMIN_TOKEN.

        Examples:
          vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-model-len 32k --port 8080
          vllm serve meta-llama/Llama-3.1-8B-Instruct --served-model-name llama small --data-parallel-size 4
          python3 -m vllm.entrypoints.openai.api_server --model openai/gpt-oss-120b --api-key secret
          understudy serve conf/serve.conf --vllm-args "--max-num-seqs 64 --no-enable-prefix-caching"

        Flags, and the settings that they are for:
        """;

    private VllmHelp() {}

    /** Returns the text, lines of at most 120 characters. */
    public static String text() {
        var text = new StringBuilder(HEAD);
        Flags.ALL.stream()
                .filter(Flag::hasEffect)
                .forEach(flag ->
                        text.append(String.format(Locale.ROOT, "  %-36s %s%n", names(flag), flag.description())));
        text.append(String.format(Locale.ROOT, "%nAccepted without effect, with a warning:%n"));
        return text.append(wrapped(Flags.ALL.stream()
                        .filter(flag -> !flag.hasEffect())
                        .map(Flag::name)
                        .toList()))
                .toString();
    }

    private static String names(Flag flag) {
        String shorts = flag.names().stream().skip(1).map(name -> ", -" + name).collect(Collectors.joining());
        return "--" + flag.name() + shorts;
    }

    private static String wrapped(Iterable<String> names) {
        var lines = new ArrayList<String>();
        var line = new StringBuilder(" ");
        for (String name : names) {
            if (line.length() + name.length() + 1 > WIDTH) {
                lines.add(line.toString());
                line = new StringBuilder(" ");
            }
            line.append(' ').append(name);
        }
        lines.add(line.toString());
        return String.join(System.lineSeparator(), lines);
    }
}

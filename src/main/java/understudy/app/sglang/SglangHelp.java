package understudy.app.sglang;

import understudy.app.flags.FlagHelp;

/** Text of {@code sglang serve --help}. */
public final class SglangHelp {
    private static final String HEAD = """
        Usage: sglang serve MODEL [FLAGS]
               python3 -m sglang.launch_server --model-path MODEL [FLAGS]

        Serves an emulated engine as SGLang serves a model, at 127.0.0.1:30000. Flags are SGLang's.

        MODEL is a name of 'understudy models', a Hugging Face name of one of these, or a folder with a config.json.
        Any other is served under its name, with the timing of latency.llm.

        All other settings come from the environment, such as UNDERSTUDY_LATENCY_GPU=b200 or UNDERSTUDY_CLOCK_SPEED=10.
        SGLang's own variables about the new-token ratio, windows, waiting requests and accepted drafts are heeded.
        /admin needs UNDERSTUDY_SERVER_ADMIN_TOKEN.

        Examples:
          sglang serve Qwen/Qwen3-32B --tp-size 2 --port 8080
          python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --host 0.0.0.0 --dp-size 4
          python3 -m sglang.launch_server --config config.yaml --schedule-policy lpm

        Flags, and the settings that they are for:
        """;

    private SglangHelp() {}

    /** Returns the text, lines of at most 120 characters. */
    public static String text() {
        return FlagHelp.text(HEAD, SglangFlags.TABLE);
    }
}

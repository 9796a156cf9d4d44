package understudy.app.vllm;

import understudy.app.flags.FlagHelp;

/** Text of {@code vllm serve --help}. */
public final class VllmHelp {
    private static final String HEAD = """
        Usage: vllm serve [MODEL] [FLAGS]

        Serves an emulated engine as vLLM serves a model, at 0.0.0.0:8000. Flags are vLLM's, in all its spellings:
        --max-model-len 8k, --max-model-len=8k, --max_model_len 8k.

        MODEL is a name of 'understudy models', a Hugging Face name of one of these, or a folder with a config.json.
        Any other is served under its name, with the timing of latency.llm.

        All other settings come from the environment, such as UNDERSTUDY_LATENCY_GPU=b200 or UNDERSTUDY_CLOCK_SPEED=10.
        UNDERSTUDY_ENGINE_VERSION=0.30 is another version of vLLM, with its flags ('understudy versions').
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
        return FlagHelp.text(HEAD, VllmFlags.TABLE);
    }
}

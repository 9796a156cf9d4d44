package understudy.adopt;

import java.util.List;
import java.util.stream.Stream;

/**
 * Names of the series that tell an engine's load.
 *
 * @param promptLengths histogram of the prompts of requests that have ended
 * @param outputLengths of their answers
 * @param ended counter of these requests
 * @param outputTokens counter of generated tokens, those of requests that run included
 * @param promptTokens tokens of prompts, which were looked up in the prefix cache
 * @param cachedTokens those of them that were found
 * @param running gauge of requests that run
 * @param waiting of those that wait
 * @param ttft histogram of the time to the first token, in seconds
 */
record LoadNames(
        String promptLengths,
        String outputLengths,
        String ended,
        String outputTokens,
        String promptTokens,
        String cachedTokens,
        String running,
        String waiting,
        String ttft) {
    private static final LoadNames VLLM = new LoadNames(
            "vllm:request_prompt_tokens",
            "vllm:request_generation_tokens",
            "vllm:request_success_total",
            "vllm:generation_tokens_total",
            "vllm:prefix_cache_queries_total",
            "vllm:prefix_cache_hits_total",
            "vllm:num_requests_running",
            "vllm:num_requests_waiting",
            "vllm:time_to_first_token_seconds");

    private static final LoadNames SGLANG = new LoadNames(
            "sglang:prompt_tokens_histogram",
            "sglang:generation_tokens_histogram",
            "sglang:num_requests_total",
            "sglang:generation_tokens_total",
            "sglang:prompt_tokens_total",
            "sglang:cached_tokens_total",
            "sglang:num_running_reqs",
            "sglang:num_queue_reqs",
            "sglang:time_to_first_token_seconds");

    static LoadNames of(EngineName engine) {
        return engine == EngineName.VLLM ? VLLM : SGLANG;
    }

    private List<String> all() {
        var histograms = Stream.of(promptLengths, outputLengths, ttft)
                .flatMap(name -> Stream.of(name + "_bucket", name + "_sum", name + "_count"));
        return Stream.concat(histograms, Stream.of(ended, outputTokens, promptTokens, cachedTokens, running, waiting))
                .toList();
    }

    /** Returns the names of both engines as alternatives of a regular expression. */
    static String pattern() {
        return String.join(
                "|", Stream.concat(VLLM.all().stream(), SGLANG.all().stream()).toList());
    }
}

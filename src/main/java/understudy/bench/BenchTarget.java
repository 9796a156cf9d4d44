package understudy.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.util.Map;

/**
 * Target of a benchmark, and how its requests look.
 *
 * @param base address of the server, without a slash at its end
 * @param endpoint path of the API, which ends with {@code completions}, or is {@code /generate}
 * @param model name that requests carry
 * @param headers of all requests
 * @param sendsIds whether prompts are token ids, and not text
 * @param ignoresEos whether answers are to go on up to {@code max_tokens}
 * @param extraBody fields of all requests, which win over others
 */
public record BenchTarget(
        URI base,
        String endpoint,
        String model,
        Map<String, String> headers,
        boolean sendsIds,
        boolean ignoresEos,
        ObjectNode extraBody) {

    /** Returns whether requests are messages of a chat. */
    public boolean isChat() {
        return isChat(endpoint);
    }

    /** Returns whether an endpoint takes messages of a chat. */
    public static boolean isChat(String endpoint) {
        return endpoint.endsWith("/chat/completions");
    }

    /** Returns whether requests are SGLang's own ({@code /generate}). */
    public boolean isGenerate() {
        return endpoint.endsWith("/generate");
    }

    /** Returns vLLM's name of the API, or SGLang's of its own. */
    public String backend() {
        return isGenerate() ? "sglang" : isChat() ? "openai-chat" : "openai";
    }

    URI uri() {
        return URI.create(base + endpoint);
    }
}

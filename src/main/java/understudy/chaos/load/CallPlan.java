package understudy.chaos.load;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import understudy.json.Jackson;

/**
 * One call before it is sent. The replicas repeat the last message, so the answer is known in advance.
 *
 * @param id name of the call, which stands in its prompt and in the header {@code X-Request-Id}
 * @param atNanos when it is sent, since the scenario's start
 * @param session name that calls with a common prefix share
 * @param tenant who sends it
 * @param model model that it names
 * @param isStreamed whether it asks for server-sent events
 * @param numPrefixWords words of the session's common prefix
 * @param numWords words of the answer
 * @param retries how often it is sent again when it was refused with {@code Retry-After}, after that time
 * @param leaveAfterTokens words after which the client leaves; 0 is never
 */
@RecordBuilder
record CallPlan(
        String id,
        long atNanos,
        String session,
        String tenant,
        String model,
        boolean isStreamed,
        int numPrefixWords,
        int numWords,
        int retries,
        int leaveAfterTokens) {

    /** Tokens that a word has at most. */
    private static final int TOKENS_PER_WORD = 8;

    /** Returns the words of the whole answer. */
    List<String> expected() {
        return IntStream.range(0, numWords).mapToObj(i -> i == 0 ? id : "w" + i).toList();
    }

    /** Returns the body of the request. */
    byte[] body() {
        String prefix = IntStream.range(0, numPrefixWords)
                .mapToObj(i -> session + "p" + i)
                .collect(Collectors.joining(" "));
        var root = Jackson.mapper().createObjectNode().put("model", model);
        var messages = root.putArray("messages");
        if (numPrefixWords > 0) {
            messages.addObject().put("role", "system").put("content", prefix);
        }
        messages.addObject().put("role", "user").put("content", String.join(" ", expected()));
        root.put("max_tokens", TOKENS_PER_WORD * numWords + TOKENS_PER_WORD)
                .put("temperature", 0)
                .put("user", tenant);
        if (isStreamed) {
            root.put("stream", true).putObject("stream_options").put("include_usage", true);
        }
        return root.toString().getBytes(StandardCharsets.UTF_8);
    }
}

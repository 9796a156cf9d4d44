package understudy.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import understudy.bench.result.BenchRequest.End;
import understudy.json.Jackson;

/**
 * Answer to one attempt, chunk by chunk, under the rules of {@code vllm bench serve}: every chunk with a choice counts
 * as a token in time, and the server's {@code usage} says how many tokens there were. Not thread-safe.
 */
final class LiveAnswer {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final String DONE = "[DONE]";

    private final LongArrayList chunkNanos = new LongArrayList();
    private final IntArrayList tokenIds = new IntArrayList();
    private final StringBuilder text = new StringBuilder();
    private int numTextChunks;
    private int inputTokens;
    private int outputTokens;
    private boolean isDone;
    private boolean isAborted;
    private String error = "";

    /** Takes the data of one event. */
    void onData(String data, long atNanos) {
        if (data.equals(DONE)) {
            isDone = true;
            return;
        }
        try {
            onChunk(JSON.readTree(data), atNanos);
        } catch (JsonProcessingException e) {
            fail("a chunk is not JSON: " + shortened(data));
        }
    }

    private void onChunk(JsonNode chunk, long atNanos) {
        var choice = chunk.path("choices").path(0);
        if (choice.isObject()) {
            chunkNanos.add(atNanos);
            onChoice(choice);
        }
        if (chunk.path("usage").isObject()) {
            inputTokens = chunk.path("usage").path("prompt_tokens").asInt();
            outputTokens = chunk.path("usage").path("completion_tokens").asInt();
        }
        if (chunk.path("meta_info").isObject()) {
            onGenerated(chunk, atNanos);
        }
        if (chunk.path("error").isObject()) {
            fail(chunk.path("error").path("message").asText());
        }
    }

    /**
     * Takes an event of SGLang's own API, which has all of the text so far. As in its benchmark one without text does not count,
     * and the tokens that an event brings share the time since the one before it.
     */
    private void onGenerated(JsonNode event, long atNanos) {
        var meta = event.path("meta_info");
        isDone |= meta.path("finish_reason").isObject();
        String all = event.path("text").asText("");
        int numTokens = meta.path("completion_tokens").asInt();
        int numNew = chunkNanos.isEmpty() ? 1 : numTokens - outputTokens;
        if (all.isEmpty() || numNew <= 0) {
            return;
        }
        long lastNanos = chunkNanos.isEmpty() ? atNanos : chunkNanos.getLong(chunkNanos.size() - 1);
        for (int i = 1; i <= numNew; i++) {
            chunkNanos.add(lastNanos + (atNanos - lastNanos) * i / numNew);
        }
        text.setLength(0);
        text.append(all);
        outputTokens = numTokens;
    }

    private void onChoice(JsonNode choice) {
        String words = choice.path("text").asText("")
                + choice.path("delta").path("content").asText("");
        text.append(words);
        numTextChunks += words.isEmpty() && !choice.path("delta").has("reasoning") ? 0 : 1;
        choice.path("token_ids").forEach(id -> tokenIds.add(id.asInt()));
        isDone |= choice.path("finish_reason").isTextual();
    }

    /** Records why there is no whole answer, unless that is known already. */
    void fail(String why) {
        if (error.isEmpty()) {
            error = shortened(why.isEmpty() ? "no reason given" : why);
        }
    }

    private static String shortened(String words) {
        String line = words.lines().findFirst().orElse("");
        return line.length() > 200 ? line.substring(0, 200) + "…" : line;
    }

    /** Records that the client wants no more of it. */
    void abort() {
        isAborted = true;
        fail("given up by the client");
    }

    /** Checks at the end of the stream that everything has come. */
    void end() {
        if (chunkNanos.isEmpty()) {
            fail("the stream had no chunk with a choice");
        } else if (!isDone) {
            fail("the stream ended before the answer");
        }
    }

    End result() {
        return isAborted ? End.ABORTED : error.isEmpty() ? End.COMPLETED : End.FAILED;
    }

    boolean isCompleted() {
        return result() == End.COMPLETED;
    }

    LongArrayList chunkNanos() {
        return chunkNanos;
    }

    IntArrayList tokenIds() {
        return tokenIds;
    }

    String text() {
        return text.toString();
    }

    String error() {
        return error;
    }

    /** Returns the prompt's length as the server counts it, or 0 if it does not say. */
    int inputTokens() {
        return inputTokens;
    }

    /** Returns the length of the answer as the server counts it, or how many chunks had text. */
    int outputTokens() {
        return outputTokens > 0 ? outputTokens : numTextChunks;
    }
}

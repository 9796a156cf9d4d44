package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.runtime.EpochClock;

/**
 * Format of Ollama's API as SGLang has it ({@code entrypoints/ollama/serving.py}, {@code protocol.py}): lines of JSON. The
 * text of the last piece has a line of its own, where SGLang drops it.
 */
final class OllamaFormat implements CallFormat {
    private static final DateTimeFormatter MILLIS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    private static final ContentType LINES = ContentTypes.create(MediaTypes.applicationBinary("x-ndjson", true));

    private final String model;
    private final boolean isChat;

    OllamaFormat(String model, boolean isChat) {
        this.model = model;
        this.isChat = isChat;
    }

    /** Returns the time of now in Ollama's words. */
    static String now() {
        return MILLIS.format(Instant.ofEpochSecond(EpochClock.seconds()));
    }

    @Override
    public ContentType streamType() {
        return LINES;
    }

    @Override
    public JsonNode whole(List<CallEvent.Piece> choices) {
        var piece = choices.get(0);
        var generation = piece.generation();
        return whole(
                piece.delta().text(),
                generation.tookNanos(),
                generation.spec().prompt().length(),
                piece.delta().toToken());
    }

    private ObjectNode whole(String text, long tookNanos, int numPromptTokens, int numTokens) {
        var answer = open(text).put("done", true).put("done_reason", "stop");
        if (!isChat) {
            answer.putNull("context");
        }
        return answer.put("total_duration", tookNanos)
                .putNull("load_duration")
                .put("prompt_eval_count", numPromptTokens)
                .putNull("prompt_eval_duration")
                .put("eval_count", numTokens)
                .putNull("eval_duration");
    }

    /** Returns the answer to a prompt without text, with which Ollama's client begins. */
    ObjectNode nothing() {
        var answer = open("").put("done", true).put("done_reason", "stop").putNull("context");
        return answer.putNull("total_duration")
                .putNull("load_duration")
                .putNull("prompt_eval_count")
                .putNull("prompt_eval_duration")
                .putNull("eval_count")
                .putNull("eval_duration");
    }

    private ObjectNode open(String text) {
        var answer = Json.object().put("model", model).put("created_at", now());
        if (isChat) {
            answer.putObject("message")
                    .put("role", "assistant")
                    .put("content", text)
                    .putNull("images");
        } else {
            answer.put("response", text);
        }
        return answer;
    }

    @Override
    public String events(Generation generation, Delta delta) {
        String text = delta.text().isEmpty()
                ? ""
                : line(open(delta.text()).put("done", false).putNull("done_reason"));
        return delta.ending() == null
                ? text
                : text + line(open("").put("done", true).put("done_reason", "stop"));
    }

    @Override
    public String end() {
        return "";
    }

    @Override
    public String failure(ApiException failure) {
        return line(SglangErrors.body(failure));
    }

    /** Returns a line of a stream. */
    static String line(ObjectNode answer) {
        return Json.write(answer) + "\n";
    }
}

package understudy.api.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import understudy.api.http.Json;

/**
 * Answers from a file: one JSON object per line, with {@code answer}, and {@code question} if it belongs to one. Other
 * questions get the answers without a question, in turn.
 */
public final class CannedAnswers {
    /** For servers that do not replay. */
    public static final CannedAnswers NONE = new CannedAnswers(Map.of(), List.of());

    private final Map<String, String> byQuestion;
    private final List<String> inTurn;
    private final AtomicInteger next = new AtomicInteger();

    private CannedAnswers(Map<String, String> byQuestion, List<String> inTurn) {
        this.byQuestion = byQuestion;
        this.inTurn = inTurn;
    }

    /**
     * Reads a file.
     *
     * @throws IllegalArgumentException if a line is not as it should be; the message names it
     */
    public static CannedAnswers read(Path file) throws IOException {
        var byQuestion = new HashMap<String, String>();
        var inTurn = new ArrayList<String>();
        var lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).isBlank()) {
                continue;
            }
            String place = file + ":" + (i + 1) + ": ";
            try {
                var line = Json.read(lines.get(i));
                if (!line.path("answer").isTextual()) {
                    throw new IllegalArgumentException("needs an answer, such as {\"answer\": \"Yes.\"}");
                }
                if (line.path("question").isTextual()) {
                    byQuestion.put(
                            line.get("question").textValue(), line.get("answer").textValue());
                } else {
                    inTurn.add(line.get("answer").textValue());
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(place + e.getMessage(), e);
            }
        }
        return new CannedAnswers(byQuestion, inTurn);
    }

    /** Returns the answer to a question, empty if the file has none. */
    String answerTo(String question) {
        var known = byQuestion.get(question);
        if (known != null) {
            return known;
        }
        return inTurn.isEmpty() ? "" : inTurn.get(Math.floorMod(next.getAndIncrement(), inTurn.size()));
    }
}

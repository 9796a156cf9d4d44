package understudy.app.vllm;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.settings.ScenarioException;

/** Words of one text, as a shell takes it apart: at blanks, but not between quotes, single or double. */
public final class VllmWords {
    private static final Pattern PART = Pattern.compile(
            "'(?<single>[^']*)'|\"(?<double>(?:[^\"\\\\]|\\\\.)*)\"|\\\\(?<escaped>.)|(?<plain>[^\\s'\"\\\\]+)|(?<blank>\\s+)");
    private static final Pattern ESCAPE = Pattern.compile("\\\\([\"\\\\$`])");

    private VllmWords() {}

    /**
     * Returns the words without their quotes.
     *
     * @throws ScenarioException if a quote has no end
     */
    public static List<String> split(String text) {
        var words = new ArrayList<String>();
        var part = PART.matcher(text);
        boolean isInWord = false;
        int end = 0;
        while (part.lookingAt()) {
            boolean isBlank = part.group("blank") != null;
            if (!isBlank) {
                int last = words.size() - 1;
                String piece = content(part.group("single"), part.group("double"), part.group("escaped"), part.group());
                if (isInWord) {
                    words.set(last, words.get(last) + piece);
                } else {
                    words.add(piece);
                }
            }
            isInWord = !isBlank;
            end = part.end();
            part.region(end, text.length());
        }
        if (end < text.length()) {
            throw new ScenarioException("--vllm-args " + text + ": a quote has no end");
        }
        return words;
    }

    private static String content(
            @Nullable String single, @Nullable String doubled, @Nullable String escaped, String whole) {
        if (single != null) {
            return single;
        }
        if (doubled != null) {
            return ESCAPE.matcher(doubled).replaceAll("$1");
        }
        return escaped == null ? whole : escaped;
    }
}

package understudy.app.emit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Texts in YAML, of maps and lists. */
final class YamlText {
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
            .disable(YAMLGenerator.Feature.SPLIT_LINES)
            .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
            .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
            .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR)
            .build();

    private YamlText() {}

    /** Returns documents, with a comment in front. */
    static String of(String comment, List<Map<String, Object>> documents) {
        String heading = comment.lines()
                .map(line -> ("# " + line).stripTrailing() + "\n")
                .collect(Collectors.joining());
        return heading + "\n" + documents.stream().map(YamlText::document).collect(Collectors.joining("---\n"));
    }

    private static String document(Map<String, Object> document) {
        try {
            return YAML.writeValueAsString(document);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a map that keeps the order of its keys. */
    static Map<String, Object> map(Object... keysAndValues) {
        var map = new LinkedHashMap<String, Object>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put(String.valueOf(keysAndValues[i]), keysAndValues[i + 1]);
        }
        return map;
    }

    /** Returns the list that a container's {@code env} is. */
    static List<Object> variables(Map<String, String> environment) {
        return environment.entrySet().stream()
                .<Object>map(each -> map("name", each.getKey(), "value", each.getValue()))
                .collect(Collectors.toList());
    }
}

package understudy.scenario;

import com.fasterxml.jackson.core.JacksonException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.settings.ScenarioException;

/** Keys of a YAML file, which may have dots as those of HOCON: {@code cluster.replicas: 2}. */
final class YamlKeys {
    private static final Pattern DOT = Pattern.compile("\\.");
    /** Part of Jackson's messages about its own settings. */
    private static final Pattern OF_THE_LIBRARY = Pattern.compile(", from `[^`]*`");

    private final String file;

    private YamlKeys(String file) {
        this.file = file;
    }

    /** Returns the map with a map of its own for each part of a key with dots. */
    static Map<String, Object> nested(Map<?, ?> map, String file) {
        return new YamlKeys(file).nested("", map);
    }

    /** Returns the exception for a file that is not YAML. */
    static ScenarioException unusable(String file, JacksonException failure) {
        String problem = failure.getOriginalMessage().lines().findFirst().orElse("not YAML");
        var place = failure.getLocation(); // there is none if it is nested too deeply
        return new ScenarioException(file + (place == null ? "" : ":" + place.getLineNr()) + ": "
                + OF_THE_LIBRARY.matcher(problem).replaceAll(""));
    }

    private Map<String, Object> nested(String path, Map<?, ?> map) {
        var nested = new LinkedHashMap<String, Object>();
        map.forEach((name, value) -> {
            String key = String.valueOf(name);
            var parts = DOT.split(key, -1);
            boolean isPath = parts.length > 1 && List.of(parts).stream().noneMatch(String::isBlank);
            put(path, nested, isPath ? List.of(parts) : List.of(key), nested(path + key + ".", value));
        });
        return nested;
    }

    /** Null stays, as YAML has it for what is left empty. */
    private @Nullable Object nested(String path, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return nested(path, map);
        }
        return value instanceof List<?> list
                ? list.stream().map(each -> nested(path, each)).toList()
                : value;
    }

    @SuppressWarnings("unchecked")
    private void put(String path, Map<String, Object> into, List<String> parts, @Nullable Object value) {
        String first = parts.get(0);
        var there = into.get(first);
        if (parts.size() == 1 && !into.containsKey(first)) {
            into.put(first, value);
        } else if (parts.size() > 1 && !into.containsKey(first)) {
            var section = new LinkedHashMap<String, Object>();
            into.put(first, section);
            put(path + first + ".", section, parts.subList(1, parts.size()), value);
        } else if (parts.size() > 1 && there instanceof Map<?, ?>) {
            put(path + first + ".", (Map<String, Object>) there, parts.subList(1, parts.size()), value);
        } else if (there instanceof Map<?, ?> && value instanceof Map<?, ?> section) {
            section.forEach((name, each) ->
                    put(path + first + ".", (Map<String, Object>) there, List.of(String.valueOf(name)), each));
        } else {
            throw new ScenarioException(file + ": " + path + first + " stands there twice");
        }
    }
}

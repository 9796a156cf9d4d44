package understudy.app.flags;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import understudy.settings.ScenarioException;

/** The YAML file of {@code --config}: names of flags without dashes, and their values. */
final class ConfigFile {
    private ConfigFile() {}

    /** Returns its content as words of the command line. */
    static List<String> words(String file, FlagTable table) {
        var words = new ArrayList<String>();
        read(file).properties().forEach(entry -> {
            boolean isSwitch = table.find(entry.getKey())
                    .filter(flag -> flag.kind() == Flag.Kind.ON)
                    .isPresent();
            if (!isSwitch) {
                add(entry.getKey(), entry.getValue(), words);
            } else if (entry.getValue().asBoolean()) {
                words.add("--" + entry.getKey());
            }
        });
        return words;
    }

    private static void add(String key, JsonNode value, List<String> words) {
        if (value.isBoolean()) {
            words.add("--" + key + "=" + value.asText());
        } else if (value.isArray()) {
            words.add("--" + key);
            value.forEach(each -> words.add(text(each)));
        } else if (!value.isNull()) {
            words.add("--" + key + "=" + text(value));
        }
    }

    private static String text(JsonNode value) {
        return value.isValueNode() ? value.asText() : value.toString();
    }

    private static JsonNode read(String file) {
        try {
            var path = Path.of(file);
            if (!Files.isRegularFile(path)) {
                throw new ScenarioException("--config " + file + ": no such file");
            }
            var root = new YAMLMapper().readTree(path.toFile());
            if (root == null || !root.isObject()) {
                throw new ScenarioException("--config " + file + ": not a map of flags and values");
            }
            return root;
        } catch (InvalidPathException e) {
            throw new ScenarioException("--config " + file + ": not a path: " + e.getReason());
        } catch (JacksonException e) {
            String problem = e.getOriginalMessage().lines().findFirst().orElse("not YAML");
            throw new ScenarioException(
                    "--config " + file + ":" + e.getLocation().getLineNr() + ": " + problem);
        } catch (IOException e) {
            throw new ScenarioException("--config " + file + ": cannot be read: " + e.getMessage());
        }
    }
}

package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Shape of a result, without its values: the keys of JSON, and the words of text. Programs read keys and people read
 * words, so {@code src/test/resources/understudy/results} holds them.
 *
 * <p>A shape that was meant to change is written anew by a run of the tests with {@code -Dunderstudy.write-shapes=true}.
 */
public final class ResultShape {
    private static final Path DIRECTORY = Path.of("src/test/resources/understudy/results");

    private ResultShape() {}

    /** Compares the shape with that of the file. */
    public static void assertIsThatOf(String name, String shape) {
        var file = DIRECTORY.resolve(name + ".txt");
        try {
            if (Boolean.getBoolean("understudy.write-shapes")) {
                Files.createDirectories(DIRECTORY);
                Files.writeString(file, shape);
            }
            assertThat(shape).as(name).isEqualTo(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a line for each key, with the kinds of its values, in the order in which they come first. */
    public static String ofJson(String json) {
        var kinds = new LinkedHashMap<String, String>();
        try {
            add("", new ObjectMapper().readTree(json), kinds);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return kinds.entrySet().stream()
                .map(entry -> entry.getKey() + ": " + entry.getValue() + "\n")
                .collect(Collectors.joining());
    }

    private static void add(String path, JsonNode node, Map<String, String> kinds) {
        if (node.isObject()) {
            node.properties()
                    .forEach(
                            field -> add(path + (path.isEmpty() ? "" : ".") + field.getKey(), field.getValue(), kinds));
        } else if (node.isArray()) {
            kinds.putIfAbsent(path, "list");
            node.forEach(each -> add(path + "[]", each, kinds));
        } else {
            String kind = node.isNumber() ? node.isIntegralNumber() ? "whole" : "decimal" : word(node);
            kinds.merge(path, kind, (a, b) -> a.contains(b) ? a : a + " or " + b);
        }
    }

    private static String word(JsonNode node) {
        return node.isNull() ? "null" : node.isBoolean() ? "boolean" : "text";
    }

    /** Returns the lines of a text with a 0 for each number, and of a table the header alone. */
    public static String ofText(String text) {
        var lines = new StringBuilder();
        // A table has a rule above its header, between header and rows, and below them.
        int numRules = 0;
        for (String line : text.lines().toList()) {
            if (line.startsWith("+--")) {
                numRules = (numRules + 1) % 3;
            } else if (numRules < 2) {
                lines.append(withoutNumbers(line)).append('\n');
            }
        }
        return lines.toString();
    }

    private static String withoutNumbers(String line) {
        return line.replaceAll("(?<!\\w)[0-9]+\\.[0-9]+(?!\\w)", "0.0")
                .replaceAll("(?<![\\w.])[0-9]+(?![\\w.])", "0")
                .replaceAll(" +", " ");
    }
}

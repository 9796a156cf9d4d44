package understudy.api;

import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;

/** JSON schemas that are deep, wide, endless, impossible or slow to match. */
final class HostileSchemas {
    private static final List<String> PATTERNS = List.of(
            "[",
            "(a+)+$",
            "(a|aa)*b",
            "([a-zA-Z]+)*[0-9]{1000}",
            "^(?=x)(?!x)$",
            "a{1000000000}",
            "(((((a{99}){99}){99}){99}){99})",
            "(?<n>a)\\\\k<n>",
            "\\\\p{L}+\\\\u0000",
            "[^\\\\s\\\\S]",
            "^$",
            "");
    private static final List<String> SIMPLE = List.of(
            "{}",
            "true",
            "false",
            "[]",
            "{\"type\": \"nothing\"}",
            "{\"$ref\": \"#\"}",
            "{\"$ref\": \"#/nowhere\"}",
            "{\"$ref\": \"#/%zz\"}",
            "{\"$dynamicRef\": \"#\"}",
            "{\"type\": \"object\", \"required\": [\"a\"], \"additionalProperties\": {\"$ref\": \"#\"}}",
            "{\"type\": \"object\", \"required\": [\"a\"], \"patternProperties\": {\"a\": {\"$ref\": \"#\"}}}",
            "{\"type\": \"array\", \"allOf\": [{\"minItems\": 1}, {\"items\": {\"$ref\": \"#\"}}]}",
            "{\"type\": \"object\", \"allOf\": [{\"required\": [\"a\"]}, {\"properties\": {\"a\": {\"$ref\": \"#\"}}}]}",
            "{\"const\": 1e999}",
            "{\"$ref\": \"http://127.0.0.1:1/schema.json\"}",
            "{\"$ref\": \"file:///etc/passwd\"}",
            "{\"$schema\": \"http://127.0.0.1:1/dialect\"}",
            "{\"$dynamicRef\": \"#a\", \"$dynamicAnchor\": \"a\"}",
            "{\"allOf\": [{\"$ref\": \"#\"}, {\"not\": {\"$ref\": \"#\"}}]}",
            "{\"type\": \"array\", \"minItems\": 1000000000}",
            "{\"type\": \"array\", \"minItems\": 5, \"maxItems\": 1, \"items\": {\"$ref\": \"#\"}}",
            "{\"type\": \"string\", \"minLength\": 2147483647}",
            "{\"type\": \"string\", \"minLength\": 1e400}",
            "{\"type\": \"integer\", \"minimum\": 1e308, \"maximum\": -1e308, \"multipleOf\": 0}",
            "{\"type\": \"number\", \"multipleOf\": 1e-300, \"minimum\": 99999999999999999999}",
            "{\"enum\": []}",
            "{\"const\": {\"a\": [null, 1e400]}}",
            "{\"type\": \"object\", \"minProperties\": 1000000000, \"additionalProperties\": {\"$ref\": \"#\"}}",
            "{\"type\": \"object\", \"required\": [\"a\", 5, null], \"properties\": []}",
            "{\"type\": \"object\", \"properties\": {\"kids\": {\"type\": \"array\", \"items\": {\"$ref\": \"#\"}}},"
                    + " \"required\": [\"kids\"]}");

    private final UniformRandomProvider random;

    HostileSchemas(UniformRandomProvider random) {
        this.random = random;
    }

    String next() {
        return switch (random.nextInt(6)) {
            case 0 -> deep(1 + random.nextInt(400));
            case 1 -> wide(1 + random.nextInt(2000));
            case 2 -> shared(1 + random.nextInt(40));
            case 3 -> "{\"type\": \"string\", \"pattern\": \"" + pattern() + "\"}";
            case 4 ->
                "{\"type\": \"object\", \"patternProperties\": {\"" + pattern() + "\": {}}, \"minProperties\": 3}";
            default -> SIMPLE.get(random.nextInt(SIMPLE.size()));
        };
    }

    String pattern() {
        return PATTERNS.get(random.nextInt(PATTERNS.size()));
    }

    private static String deep(int depth) {
        String open = "{\"type\": \"object\", \"required\": [\"a\"], \"properties\": {\"a\": ";
        return open.repeat(depth / 2) + "{\"type\": \"string\"}" + "}}".repeat(depth / 2);
    }

    private static String wide(int width) {
        var properties = new StringBuilder();
        var required = new StringBuilder();
        for (int i = 0; i < width; i++) {
            String separator = i == 0 ? "" : ", ";
            properties.append(separator).append("\"k").append(i).append("\": {\"type\": \"integer\"}");
            required.append(separator).append("\"k").append(i).append('"');
        }
        return "{\"type\": \"object\", \"properties\": {" + properties + "}, \"required\": [" + required + "]}";
    }

    /** Each definition uses the next one twice: {@code 2^depth} values, if all were written out. */
    private static String shared(int depth) {
        var definitions = new StringBuilder();
        for (int i = 0; i < depth; i++) {
            String next = "{\"$ref\": \"#/$defs/d" + (i + 1) + "\"}";
            definitions.append(
                    "\"d%d\": {\"type\": \"object\", \"required\": [\"a\", \"b\"], \"properties\": {\"a\": %s, \"b\": %s}}, "
                            .formatted(i, next, next));
        }
        return "{\"$ref\": \"#/$defs/d0\", \"$defs\": {" + definitions + "\"d" + depth + "\": {\"type\": \"null\"}}}";
    }
}

package understudy.jsonsample;

import java.util.Locale;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;

/** Makes up texts: of a format, of a pattern, or just words. */
final class TextDraw {
    static final int MAX_LENGTH = 4096;

    private TextDraw() {}

    /**
     * Returns a text that the schema accepts, if luck has it.
     *
     * @param attempt number of the attempt; if a schema has both a format and a pattern, they take turns
     */
    static String draw(SchemaParts parts, int attempt, UniformRandomProvider random) {
        int min = parts.count("minLength", 0, Math::max);
        int max = parts.count("maxLength", MAX_LENGTH, Math::min);
        if (min > Math.min(max, MAX_LENGTH)) {
            throw new NoSampleException("minLength", "at most " + Math.min(max, MAX_LENGTH) + " are possible");
        }
        var formats = parts.all("format");
        var patterns = parts.all("pattern");
        String formatted = formats.isEmpty()
                ? null
                : ofFormat(formats.get(attempt / 2 % formats.size()).asText(), min, max, random);
        if (formatted != null && (patterns.isEmpty() || attempt % 2 == 0)) {
            return formatted;
        }
        if (!patterns.isEmpty()) {
            return ofPattern(patterns.get(attempt % patterns.size()).asText(), min, max, random);
        }
        return word(min, max, random);
    }

    /** Returns a text in which the pattern is found. */
    static String ofPattern(String pattern, int min, int max, UniformRandomProvider random) {
        try {
            String text = new RegexText(pattern).sample(random, min, max);
            // A pattern without an end anchor may be followed by anything.
            boolean isOpen = !pattern.contains("$");
            return isOpen ? text + "x".repeat(Math.max(0, min - text.length())) : text;
        } catch (IllegalArgumentException e) {
            throw new NoSampleException("pattern", e.getMessage() + ": " + pattern);
        }
    }

    private static @Nullable String ofFormat(String format, int min, int max, UniformRandomProvider random) {
        int number = random.nextInt(100);
        String date = "2026-01-" + (10 + random.nextInt(19));
        return switch (format) {
            case "date" -> date;
            case "date-time" -> date + "T12:00:00Z";
            case "time" -> "12:00:00Z";
            case "duration" -> "P" + (1 + number) + "D";
            case "email", "idn-email" -> max < 18 ? "u@example.io" : padded("user" + number, "@example.com", min);
            case "uri", "iri", "uri-reference", "iri-reference", "uri-template" ->
                max < 22 ? "http://a.io" : padded("https://example.com/" + number, "", min);
            case "hostname", "idn-hostname" -> "host" + number + ".example.com";
            case "ipv4" -> "192.0.2." + (1 + number);
            case "ipv6" -> "2001:db8::" + (1 + number);
            case "uuid" -> String.format(Locale.ROOT, "00000000-0000-4000-8000-%012d", random.nextInt(1_000_000));
            case "json-pointer" -> "/key" + number;
            case "relative-json-pointer" -> "0/key" + number;
            case "regex" -> "^[a-z]+" + number + "$";
            default -> null;
        };
    }

    private static String padded(String head, String tail, int min) {
        return head + "x".repeat(Math.max(0, min - head.length() - tail.length())) + tail;
    }

    private static String word(int min, int max, UniformRandomProvider random) {
        var text = new StringBuilder("value " + random.nextInt(100));
        while (text.length() < min) {
            text.append(" and more");
        }
        return text.substring(0, Math.max(0, Math.min(text.length(), max)));
    }
}

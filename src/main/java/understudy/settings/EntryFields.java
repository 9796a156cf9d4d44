package understudy.settings;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Fields of one written entry, such as of a list of faults, whose key {@code do} names its kind. It remembers which keys
 * were asked for, so that those that nobody knows can be refused.
 *
 * <p>What cannot be used is an {@link IllegalArgumentException}, whose message says the key, the value and what is allowed.
 */
public final class EntryFields {
    private final Map<String, String> fields;
    private final Set<String> known = new HashSet<>();

    public EntryFields(Map<String, String> fields) {
        this.fields = fields;
    }

    /** Returns whether the entry has a key, which is known from now on. */
    public boolean has(String key) {
        known.add(key);
        return fields.containsKey(key);
    }

    /** Returns the value of a key that must be there. */
    public String text(String key) {
        known.add(key);
        String text = fields.get(key);
        if (text == null) {
            throw new IllegalArgumentException(key + " is missing");
        }
        return text;
    }

    /** Returns a whole number. */
    public int wholeNumber(String key, int min, int max) {
        return wholeNumber(key, text(key), min, max);
    }

    /** Returns a number. */
    public double number(String key, double min, double max) {
        double number = Numbers.parse(text(key));
        if (number >= min && number <= max) {
            return number;
        }
        throw unusable(key, text(key), (Double.isNaN(number) ? "a number from " : "from ") + min + " to " + max);
    }

    /** Returns a duration in nanoseconds. */
    public long nanos(String key) {
        return nanos(key, text(key));
    }

    /** Refuses a key; {@code why} follows the entry's kind in the message. */
    public void refuse(String key, String why) {
        if (fields.containsKey(key)) {
            throw new IllegalArgumentException(text("do") + why);
        }
    }

    /** Refuses keys that were never asked for. */
    public void requireNothingElse() {
        for (String key : fields.keySet()) {
            if (!known.contains(key)) {
                throw new IllegalArgumentException("unknown key " + key + " for " + text("do") + "; it takes "
                        + String.join(", ", known.stream().sorted().toList()));
            }
        }
    }

    /** Reads a whole number; {@code key} is for the message. */
    public static int wholeNumber(String key, String text, int min, int max) {
        long number = Numbers.parseWhole(text)
                .orElseThrow(() -> unusable(key, text, "a whole number from " + min + " to " + max));
        if (number >= min && number <= max) {
            return (int) number;
        }
        throw unusable(key, text, "from " + min + " to " + max);
    }

    /** Reads a duration in nanoseconds; {@code key} is for the message. */
    public static long nanos(String key, String text) {
        return Math.round(Durations.nanos(text).orElseThrow(() -> unusable(key, text, Durations.ALLOWED)));
    }

    /** Returns the exception for a value that cannot be used. */
    public static IllegalArgumentException unusable(String key, String text, String allowed) {
        return new IllegalArgumentException(key + " is \"" + text + "\", must be " + allowed);
    }
}

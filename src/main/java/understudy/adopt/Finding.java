package understudy.adopt;

/**
 * A value that a source gives.
 *
 * @param value as the source has it, without quotes
 * @param where file and line, or address and name, in words for a comment
 */
public record Finding(String value, String where) {
    /** Returns the value as a whole number. */
    long number() {
        return Long.parseLong(value);
    }

    /** Returns the value as a number. */
    double decimal() {
        return Double.parseDouble(value);
    }
}

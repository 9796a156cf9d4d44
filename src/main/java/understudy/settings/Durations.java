package understudy.settings;

import java.util.OptionalDouble;
import java.util.regex.Pattern;

/**
 * Durations in their written form: a number and a unit. They are bounded, so that a sum of some of them stays within
 * virtual time, wherever they come from.
 */
public final class Durations {
    /** Written form of a duration, for error messages. */
    public static final String ALLOWED = "a duration from 0 to 720h with a unit, such as 6.5ms (ns, us, ms, s, m, h)";

    /** The longest duration: 720 hours, in nanoseconds. */
    public static final long MAX_NANOS = 720 * 3_600_000_000_000L;

    private static final Pattern WRITTEN = Pattern.compile("([0-9.eE+-]+)\\s*(ns|us|ms|s|m|h)");

    private Durations() {}

    /** Returns a duration in nanoseconds, which need not be whole; empty if the text is none, or it is out of range. */
    public static OptionalDouble nanos(String text) {
        var matcher = WRITTEN.matcher(text);
        if (!matcher.matches()) {
            return OptionalDouble.empty();
        }
        double nanos = Numbers.parse(matcher.group(1)) * nanosPer(matcher.group(2));
        return nanos >= 0 && nanos <= MAX_NANOS ? OptionalDouble.of(nanos) : OptionalDouble.empty();
    }

    private static double nanosPer(String unit) {
        return switch (unit) {
            case "ns" -> 1;
            case "us" -> 1e3;
            case "ms" -> 1e6;
            case "s" -> 1e9;
            case "m" -> 60e9;
            default -> 3600e9;
        };
    }
}

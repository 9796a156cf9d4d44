package understudy.settings;

import java.math.BigDecimal;
import java.util.OptionalLong;

/** Numbers in their written form, from any source; errors in them are reported by the caller. */
public final class Numbers {
    private Numbers() {}

    /** Returns a number, or NaN if the text is none. */
    public static double parse(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    /** Returns a whole number, which may be written as 64.0 or 1e2; empty if the text is none, or beyond 64 bits. */
    public static OptionalLong parseWhole(String text) {
        try {
            // Not by way of double, which has no room for all of them.
            return OptionalLong.of(new BigDecimal(text).longValueExact());
        } catch (NumberFormatException | ArithmeticException e) {
            return OptionalLong.empty();
        }
    }
}

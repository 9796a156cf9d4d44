package understudy.report;

import java.util.Locale;

/** Unit of a figure, and how people read it. */
public enum Unit {
    NONE(""),
    /** Count that is printed with decimals, as vLLM does. */
    DECIMALS(""),
    MILLIS("ms"),
    SECONDS("s"),
    TOKENS("tokens"),
    REQUESTS_PER_SECOND("req/s"),
    TOKENS_PER_SECOND("tok/s"),
    REQUESTS_WANTED_PER_SECOND("RPS"),
    /** Share from 0 to 1, in percent for people. */
    SHARE("%");

    private static final double PERCENT = 100;

    private final String symbol;

    Unit(String symbol) {
        this.symbol = symbol;
    }

    String symbol() {
        return symbol;
    }

    /** Returns a title with the unit behind it. */
    String label(String title) {
        return symbol.isEmpty() ? title + ":" : title + " (" + symbol + "):";
    }

    /** Returns a number as text: counts whole, all others with two decimals. */
    String text(Number number) {
        boolean isWhole = !(number instanceof Double) && this != DECIMALS;
        return isWhole
                ? number.toString()
                : String.format(
                        Locale.ROOT, "%.2f", this == SHARE ? number.doubleValue() * PERCENT : number.doubleValue());
    }
}

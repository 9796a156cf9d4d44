package understudy.sweep;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.regex.Pattern;
import understudy.settings.ScenarioException;

/**
 * Search for the highest or lowest value of a setting with which a run keeps its service level, by bisection. It takes
 * for granted that there is one border: that below, or above it, every value keeps the level.
 *
 * @param isMax whether the highest is wanted, such as of a request rate; else the lowest, such as of replicas
 * @param low lowest value
 * @param high highest value
 * @param isWhole whether only whole numbers count
 * @param tolerance how close the border is sought, as a share of the value; whole numbers are found exactly
 */
public record Search(String key, boolean isMax, BigDecimal low, BigDecimal high, boolean isWhole, double tolerance) {
    private static final Pattern RANGE = Pattern.compile("([^=]+)=([0-9]+(?:\\.[0-9]+)?)\\.\\.([0-9]+(?:\\.[0-9]+)?)");
    private static final int NUM_DIGITS = 4;

    /**
     * Reads what {@code --max} and {@code --min} take. A range of whole numbers for a key that says a rate is one of
     * real numbers all the same.
     *
     * @throws ScenarioException if it is something else
     */
    public static Search parse(String text, boolean isMax, double tolerance) {
        String option = isMax ? "--max " : "--min ";
        var range = RANGE.matcher(text);
        if (!range.matches()) {
            throw new ScenarioException(option + text + ": must be KEY=LOWEST..HIGHEST");
        }
        if (!(tolerance > 0 && tolerance < 1)) {
            throw new ScenarioException("--tolerance " + tolerance + ": must be above 0 and below 1");
        }
        String key = range.group(1);
        var low = new BigDecimal(range.group(2));
        var high = new BigDecimal(range.group(3));
        if (low.compareTo(high) >= 0) {
            throw new ScenarioException(option + text + ": the lowest value must be below the highest");
        }
        boolean isWhole = !key.endsWith("rate") && low.scale() <= 0 && high.scale() <= 0;
        return new Search(key, isMax, low, high, isWhole, tolerance);
    }

    /** Returns the end of the range that is the hardest to keep the level with. */
    BigDecimal hardest() {
        return isMax ? high : low;
    }

    /** Returns the end of the range that is the easiest to keep the level with. */
    BigDecimal easiest() {
        return isMax ? low : high;
    }

    /** Returns whether the border between a value that keeps the level and one that does not is known well enough. */
    boolean isDone(BigDecimal good, BigDecimal bad) {
        double distance = bad.subtract(good).abs().doubleValue();
        return isWhole ? distance <= 1 : distance <= tolerance * good.max(bad).doubleValue();
    }

    /** Returns a value in the middle of two that are not close yet. */
    BigDecimal between(BigDecimal good, BigDecimal bad) {
        var middle = good.add(bad).divide(BigDecimal.valueOf(2), MathContext.DECIMAL64);
        if (isWhole) {
            return middle.setScale(0, RoundingMode.FLOOR);
        }
        var rounded = middle.round(new MathContext(NUM_DIGITS));
        boolean isInside = rounded.compareTo(good.min(bad)) > 0 && rounded.compareTo(good.max(bad)) < 0;
        return isInside ? rounded : middle;
    }
}

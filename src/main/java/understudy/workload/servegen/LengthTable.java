package understudy.workload.servegen;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import java.util.Arrays;
import java.util.regex.Pattern;

/** A distribution over some numbers, from which one draws by its quantiles. */
final class LengthTable {
    /** One entry of a Python dictionary of numbers, as the files have it in a text. */
    private static final Pattern ENTRY = Pattern.compile("\\s*([0-9.eE+-]+)\\s*:\\s*([0-9.eE+-]+)\\s*(?:,|$)");

    private final double[] values;
    private final double[] cumulative;

    private LengthTable(double[] values, double[] cumulative) {
        this.values = values;
        this.cumulative = cumulative;
    }

    /**
     * Reads a table such as <code>{17: 0.25, 20: 0.75}</code>, with values in ascending order; what is never drawn is
     * left out.
     *
     * @throws IllegalArgumentException if it is not such a table
     */
    static LengthTable parse(String text) {
        String trimmed = text.strip();
        if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) {
            throw new IllegalArgumentException("is not a table such as {17: 0.25, 20: 0.75}");
        }
        var values = new DoubleArrayList();
        var cumulative = new DoubleArrayList();
        var entry = ENTRY.matcher(trimmed).region(1, trimmed.length() - 1);
        double sum = 0;
        int at = 1;
        for (; entry.lookingAt(); entry.region(at, trimmed.length() - 1)) {
            at = entry.end();
            double share = Double.parseDouble(entry.group(2));
            if (share > 0) {
                sum += share;
                values.add(Double.parseDouble(entry.group(1)));
                cumulative.add(sum);
            }
        }
        String rest = trimmed.substring(at, trimmed.length() - 1).strip();
        if (!rest.isEmpty()) {
            throw new IllegalArgumentException("has no number and share at " + rest);
        }
        return new LengthTable(values.toDoubleArray(), cumulative.toDoubleArray());
    }

    boolean isEmpty() {
        return values.length == 0;
    }

    /**
     * Returns the value below which, or at which, there is a share of all. The shares need not add up to 1.
     *
     * @param share from 0 to 1, exclusive
     */
    double quantile(double share) {
        int last = values.length - 1;
        int found = Arrays.binarySearch(cumulative, share * cumulative[last]);
        return values[Math.min(last, found >= 0 ? found : -found - 1)];
    }
}

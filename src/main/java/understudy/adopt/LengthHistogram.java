package understudy.adopt;

import java.util.Arrays;

/**
 * How many lengths there were up to each bound.
 *
 * @param bounds rising upper bounds, the last of which nothing exceeds
 * @param counts of lengths above the bound before, up to this
 * @param sum of all lengths
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record LengthHistogram(double[] bounds, double[] counts, double sum) {
    /** Share of the lengths that may be less than what all have. */
    private static final double FEW = 0.01;

    double total() {
        return Arrays.stream(counts).sum();
    }

    double mean() {
        return sum / total();
    }

    double lower(int range) {
        return range == 0 ? 0 : bounds[range - 1];
    }

    /** Returns the share of lengths up to each bound. */
    double[] cumulative() {
        double[] cumulative = counts.clone();
        Arrays.parallelPrefix(cumulative, Double::sum);
        double total = total();
        return Arrays.stream(cumulative).map(count -> count / total).toArray();
    }

    /** Returns a length that nearly all have at least. */
    double leastLength() {
        double[] cumulative = cumulative();
        int range = 0;
        while (cumulative[range] <= FEW) {
            range++;
        }
        return lower(range);
    }

    /** Returns the lengths without a beginning that nearly all have; those that have not are as short as any. */
    LengthHistogram without(double numTokens) {
        int first = 0;
        while (bounds[first] <= numTokens) {
            first++;
        }
        double[] shorter = Arrays.stream(bounds, first, bounds.length)
                .map(bound -> bound - numTokens)
                .toArray();
        double[] rest = Arrays.copyOfRange(counts, first, counts.length);
        double numShort = Arrays.stream(counts, 0, first).sum();
        rest[0] += numShort;
        double left = sum - (total() - numShort) * numTokens;
        return new LengthHistogram(shorter, rest, Math.max(total(), left));
    }
}

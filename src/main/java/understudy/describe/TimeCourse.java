package understudy.describe;

import java.util.Arrays;
import java.util.EnumMap;

/**
 * Sums over the time of a trace, in at most 240 intervals: 1 s long at first, and twice as long whenever there would be
 * too many.
 */
final class TimeCourse {
    private static final int MAX_BINS = 240;

    /** Quantities that are summed per bin of time. */
    enum Sum {
        REQUESTS(false),
        PROMPT_TOKENS(false),
        OUTPUT_TOKENS(false),
        /** Tokens that an infinite cache would have had. */
        HIT_TOKENS(true),
        /** Blocks that are accessed for the first time. */
        FIRST_USES(true),
        /** Blocks that are accessed for the last time. */
        LAST_USES(true);

        /** Whether it means something only if the trace names blocks. */
        final boolean isOfContent;

        Sum(boolean isOfContent) {
            this.isOfContent = isOfContent;
        }
    }

    private final EnumMap<Sum, long[]> sums = new EnumMap<>(Sum.class);
    private long widthSeconds = 1;
    private long endSeconds;

    /** Adds to a sum at a time of at least 0. */
    void add(Sum sum, long atNanos, long count) {
        long seconds = atNanos / 1_000_000_000L;
        endSeconds = Math.max(endSeconds, seconds);
        while (seconds / widthSeconds >= MAX_BINS) {
            halve();
        }
        bins(sum)[(int) (seconds / widthSeconds)] += count;
    }

    private void halve() {
        widthSeconds *= 2;
        sums.replaceAll((sum, bins) -> {
            var halved = new long[MAX_BINS];
            for (int bin = 0; bin < MAX_BINS; bin++) {
                halved[bin / 2] += bins[bin];
            }
            return halved;
        });
    }

    private long[] bins(Sum sum) {
        return sums.computeIfAbsent(sum, missing -> new long[MAX_BINS]);
    }

    long widthSeconds() {
        return widthSeconds;
    }

    int numBins() {
        return (int) (endSeconds / widthSeconds) + 1;
    }

    /** Returns when each interval begins. */
    double[] seconds() {
        var seconds = new double[numBins()];
        Arrays.setAll(seconds, i -> i * widthSeconds);
        return seconds;
    }

    long at(Sum sum, int bin) {
        return bins(sum)[bin];
    }

    double[] perSecond(Sum sum) {
        var rates = new double[numBins()];
        Arrays.setAll(rates, i -> (double) at(sum, i) / widthSeconds);
        return rates;
    }

    /** Returns the working set of each interval: blocks that were accessed by its end, and are from its begin on. */
    double[] workingSet() {
        var blocks = new double[numBins()];
        long first = 0;
        long last = 0;
        for (int i = 0; i < blocks.length; i++) {
            first += at(Sum.FIRST_USES, i);
            blocks[i] = first - last;
            last += at(Sum.LAST_USES, i);
        }
        return blocks;
    }
}

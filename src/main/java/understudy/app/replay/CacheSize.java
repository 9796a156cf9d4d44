package understudy.app.replay;

import java.util.Locale;
import java.util.regex.Pattern;
import understudy.settings.ScenarioException;

/**
 * A capacity on the command line: a number of blocks, or a share of a trace's different blocks.
 *
 * @param text as the user has written it
 * @param blocks at least 1; 0 if it is a share
 * @param share above 0, at most 1; 0 if it is a number
 */
public record CacheSize(String text, int blocks, double share) {
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");
    private static final Pattern PERCENTAGE = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)%");
    private static final double PERCENT = 100;

    /**
     * Reads {@code 4096} or {@code 10%}.
     *
     * @throws ScenarioException if it is neither
     */
    public static CacheSize of(String text) {
        String trimmed = text.strip();
        var percentage = PERCENTAGE.matcher(trimmed);
        if (percentage.matches()) {
            double share = Double.parseDouble(percentage.group(1)) / PERCENT;
            if (share > 0 && share <= 1) {
                return new CacheSize(trimmed, 0, share);
            }
        } else if (NUMBER.matcher(trimmed).matches()) {
            double blocks = Double.parseDouble(trimmed);
            if (blocks >= 1 && blocks <= Integer.MAX_VALUE) {
                return new CacheSize(trimmed, (int) blocks, 0);
            }
        }
        throw new ScenarioException(String.format(
                Locale.ROOT,
                "--capacity has \"%s\", must be blocks from 1 to %d, or a share of the trace's different blocks above"
                        + " 0%% and up to 100%%, such as 4096 or 10%%",
                trimmed,
                Integer.MAX_VALUE));
    }

    /** Returns whether one must know the whole trace to say how many blocks it is. */
    public boolean isShare() {
        return blocks == 0;
    }

    /** Returns the number of blocks, at least 1, for a trace with so many different ones. */
    public int blocksOf(int numBlocks) {
        return isShare() ? (int) Math.max(1, Math.round(share * numBlocks)) : blocks;
    }
}

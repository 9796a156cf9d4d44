package understudy.fidelity.probe;

import java.util.List;

/**
 * Delay from the arrival of a request to its first step, fitted to what first tokens of an idle server take beside their step:
 * a fixed part, and one for each token of the prompt, both at least 0. Differences count in relation to the whole time, so
 * that a long prompt weighs no more than a short one.
 *
 * @param fixedNanos the fixed part
 * @param perTokenNanos the part for each token of the prompt; 0 if none is seen
 * @param unseenPerTokenNanos the most that a part for each token can be that is not seen; 0 if one is
 */
public record DelayFit(double fixedNanos, double perTokenNanos, double unseenPerTokenNanos) {
    private static final double STANDARD_ERRORS = 2;

    /**
     * First token of an idle server.
     *
     * @param numTokens length of the prompt
     * @param nanos time to the first token, without the round trip of the network
     * @param stepNanos the part of it that the step takes
     */
    public record Point(int numTokens, double nanos, double stepNanos) {
        double weight() {
            return 1 / (nanos * nanos);
        }

        double delayNanos() {
            return nanos - stepNanos;
        }
    }

    /** Fits the delay to one point or more. */
    public static DelayFit of(List<Point> points) {
        double weights = 0;
        double tokens = 0;
        double delays = 0;
        for (var point : points) {
            weights += point.weight();
            tokens += point.weight() * point.numTokens;
            delays += point.weight() * point.delayNanos();
        }
        double meanTokens = tokens / weights;
        double meanDelay = delays / weights;
        double spread = 0;
        double product = 0;
        for (var point : points) {
            double away = point.numTokens - meanTokens;
            spread += point.weight() * away * away;
            product += point.weight() * away * point.delayNanos();
        }
        if (spread == 0 || points.size() < 3) {
            return new DelayFit(Math.max(0, meanDelay), 0, Double.POSITIVE_INFINITY);
        }
        double slope = product / spread;
        double squares = 0;
        for (var point : points) {
            double rest = point.delayNanos() - meanDelay - slope * (point.numTokens - meanTokens);
            squares += point.weight() * rest * rest;
        }
        double error = Math.sqrt(squares / (points.size() - 2) / spread);
        return slope > STANDARD_ERRORS * error
                ? new DelayFit(Math.max(0, meanDelay - slope * meanTokens), slope, 0)
                : new DelayFit(Math.max(0, meanDelay), 0, Math.max(0, slope) + STANDARD_ERRORS * error);
    }

    /** Returns the delay of a prompt. */
    public double nanos(int numTokens) {
        return fixedNanos + perTokenNanos * numTokens;
    }
}

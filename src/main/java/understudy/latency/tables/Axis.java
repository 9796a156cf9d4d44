package understudy.latency.tables;

/** Places among ascending numbers, of which there are at least two. */
final class Axis {
    private Axis() {}

    /** Returns the index of the segment that {@code x} is in, or of the first or last one if it is in none. */
    static int segment(double[] xs, double x) {
        int low = 0;
        int high = xs.length - 1;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (xs[middle] <= x) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Returns how far along a segment {@code x} is: 0 at its beginning, 1 at its end, more beyond. */
    static double share(double[] xs, int segment, double x) {
        return (x - xs[segment]) / (xs[segment + 1] - xs[segment]);
    }
}

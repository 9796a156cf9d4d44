package understudy.workload;

import org.apache.commons.rng.UniformRandomProvider;

/**
 * Whole numbers, such as lengths in tokens: a distribution, rounded, and clamped to a range.
 *
 * @param min smallest number, at least 1
 * @param max largest number, at least {@code min}
 */
public record WholeNumbers(Distribution distribution, int min, int max) {

    /** Checks the range. */
    public WholeNumbers {
        if (min < 1 || max < min) {
            throw new IllegalArgumentException("whole numbers from " + min + " to " + max);
        }
    }

    /** Returns the same number every time. */
    public static WholeNumbers fixed(int number) {
        return new WholeNumbers(new Distribution.Fixed(number), number, number);
    }

    /** Returns all whole numbers from {@code min} to {@code max} with equal chances. */
    public static WholeNumbers uniform(int min, int max) {
        return new WholeNumbers(new Distribution.Uniform(min - 0.5, max + 0.5), min, max);
    }

    /** Draws one number. */
    public int sample(UniformRandomProvider random) {
        return (int) Math.min(max, Math.max(min, Math.round(distribution.sample(random))));
    }
}

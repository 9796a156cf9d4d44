package understudy.workload;

import java.util.Arrays;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;

/** A distribution of numbers, described by the mean and the standard deviation of the numbers themselves. */
public sealed interface Distribution {

    /** Draws one number. */
    double sample(UniformRandomProvider random);

    /** Always the same number. */
    record Fixed(double value) implements Distribution {
        @Override
        public double sample(UniformRandomProvider random) {
            return value;
        }
    }

    /** Every number from {@code min} to {@code max} with equal density. */
    record Uniform(double min, double max) implements Distribution {
        @Override
        public double sample(UniformRandomProvider random) {
            return min + (max - min) * random.nextDouble();
        }
    }

    /** The Gaussian bell. */
    record Normal(double mean, double stddev) implements Distribution {
        @Override
        public double sample(UniformRandomProvider random) {
            return mean + stddev * ZigguratSampler.NormalizedGaussian.of(random).sample();
        }
    }

    /** Positive numbers with a long tail, whose logarithm is Gaussian. */
    record LogNormal(double mean, double stddev) implements Distribution {
        @Override
        public double sample(UniformRandomProvider random) {
            // The moments of the logarithm that give the wanted moments of the number.
            double variance = StrictMath.log1p(stddev * stddev / (mean * mean));
            double location = StrictMath.log(mean) - variance / 2;
            double gaussian = ZigguratSampler.NormalizedGaussian.of(random).sample();
            return StrictMath.exp(location + StrictMath.sqrt(variance) * gaussian);
        }
    }

    /** The time to the next event when events have no memory. */
    record Exponential(double mean) implements Distribution {
        @Override
        public double sample(UniformRandomProvider random) {
            return mean * ZigguratSampler.Exponential.of(random).sample();
        }
    }

    /** Numbers between bounds that follow each other, each range with its share, and all of a range with equal density. */
    final class Histogram implements Distribution {
        private final double[] bounds;
        private final double[] cumulative;

        /**
         * Creates a histogram.
         *
         * @param bounds rising, one more than counts
         * @param counts in relation to each other, none below 0, and one at least above
         */
        public Histogram(double[] bounds, double[] counts) {
            this.bounds = bounds.clone();
            cumulative = counts.clone();
            Arrays.parallelPrefix(cumulative, Double::sum);
        }

        @Override
        public double sample(UniformRandomProvider random) {
            double wanted = random.nextDouble() * cumulative[cumulative.length - 1];
            int range = 0;
            while (cumulative[range] <= wanted) {
                range++;
            }
            double before = range == 0 ? 0 : cumulative[range - 1];
            double share = (wanted - before) / (cumulative[range] - before);
            return bounds[range] + share * (bounds[range + 1] - bounds[range]);
        }
    }

    /** Another distribution, with values outside a range moved to its nearer end. */
    record Clamped(Distribution inner, double min, double max) implements Distribution {
        @Override
        public double sample(UniformRandomProvider random) {
            return Math.min(max, Math.max(min, inner.sample(random)));
        }
    }
}

package understudy.workload;

import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.AhrensDieterMarsagliaTsangGammaSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateContinuousSampler;

/**
 * Start times of requests, or sessions: gaps drawn from a gamma distribution, as in {@code vllm bench serve}. Its shape
 * is vLLM's <em>burstiness</em>: 1 makes it a Poisson process, less is burstier, infinite is a constant rate.
 */
public final class Arrivals {
    private static final double NANOS_PER_SECOND = 1e9;

    /** 31 years: so late comes everything that a very bursty process would send later still. */
    private static final double LATEST_NANOS = 1e18;

    private final double meanGapNanos;
    private final SharedStateContinuousSampler gaps;
    private double nextNanos;

    private Arrivals(double meanGapNanos, SharedStateContinuousSampler gaps) {
        this.meanGapNanos = meanGapNanos;
        this.gaps = gaps;
    }

    /**
     * Creates a process that starts at time 0.
     *
     * @param perSecond mean rate, above 0; infinite makes everything arrive at once
     * @param burstiness shape of the gamma distribution, above 0; infinite makes all gaps equal
     */
    public static Arrivals create(double perSecond, double burstiness, UniformRandomProvider random) {
        double meanGapNanos = NANOS_PER_SECOND / perSecond;
        if (burstiness == Double.POSITIVE_INFINITY) {
            return new Arrivals(meanGapNanos, new Constant());
        }
        return new Arrivals(
                meanGapNanos, AhrensDieterMarsagliaTsangGammaSampler.of(random, burstiness, 1 / burstiness));
    }

    /** Returns the time of the next arrival, in nanoseconds; the first gap comes before the first arrival. */
    public long nextNanos() {
        nextNanos = Math.min(LATEST_NANOS, nextNanos + meanGapNanos * gaps.sample());
        return Math.round(nextNanos);
    }

    /** Gaps of exactly the mean. */
    private static final class Constant implements SharedStateContinuousSampler {
        @Override
        public double sample() {
            return 1;
        }

        @Override
        public SharedStateContinuousSampler withUniformRandomProvider(UniformRandomProvider random) {
            return this;
        }
    }
}

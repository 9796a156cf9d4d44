package understudy.workload;

import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.AhrensDieterMarsagliaTsangGammaSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateContinuousSampler;

/**
 * Start times of requests, or sessions: gaps drawn from a gamma distribution, as in {@code vllm bench serve}. Its shape
 * is vLLM's <em>burstiness</em>: 1 makes it a Poisson process, less is burstier, infinite is a constant rate. When the
 * rate changes, the part of a gap that is left shrinks or grows with it.
 */
public final class Arrivals {
    /** 31 years: so late comes everything that a very bursty process would send later still. */
    private static final double LATEST_NANOS = 1e18;

    private final RequestRate rate;
    private final SharedStateContinuousSampler gaps;
    private double nextNanos;
    private long numArrivals;

    private Arrivals(RequestRate rate, SharedStateContinuousSampler gaps) {
        this.rate = rate;
        this.gaps = gaps;
    }

    /**
     * Creates a process that starts at time 0.
     *
     * @param burstiness shape of the gamma distribution, above 0; infinite makes all gaps equal
     */
    public static Arrivals create(RequestRate rate, double burstiness, UniformRandomProvider random) {
        if (burstiness == Double.POSITIVE_INFINITY) {
            return new Arrivals(rate, new Constant());
        }
        return new Arrivals(rate, AhrensDieterMarsagliaTsangGammaSampler.of(random, burstiness, 1 / burstiness));
    }

    /** Returns the time of the next arrival, in nanoseconds; the first gap comes before the first arrival. */
    public long nextNanos() {
        nextNanos = Math.min(LATEST_NANOS, rate.nanosOfArrival(numArrivals++, nextNanos, gaps.sample()));
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

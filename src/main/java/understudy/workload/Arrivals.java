package understudy.workload;

import java.util.function.LongSupplier;
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
    private final double scale;
    private double nextNanos;
    private long numArrivals;

    private Arrivals(RequestRate rate, SharedStateContinuousSampler gaps, double scale) {
        this.rate = rate;
        this.gaps = gaps;
        this.scale = scale;
    }

    /**
     * Creates a process that starts at time 0, and draws from the stream {@code arrivals}.
     *
     * @param count arrivals in all, at least 1; asked for only if gaps are scaled
     */
    public static Arrivals create(RequestRate rate, Gaps gaps, RandomStreams streams, LongSupplier count) {
        if (gaps.burstiness() == Double.POSITIVE_INFINITY) {
            return new Arrivals(rate, new Constant(), 1);
        }
        boolean isScaled = gaps.isScaled() && rate.rampUp() == null;
        double scale = isScaled ? scale(sampler(gaps, streams), count.getAsLong()) : 1;
        return new Arrivals(rate, sampler(gaps, streams), scale);
    }

    private static SharedStateContinuousSampler sampler(Gaps gaps, RandomStreams streams) {
        double shape = gaps.burstiness();
        return AhrensDieterMarsagliaTsangGammaSampler.of(streams.stream("arrivals"), shape, 1 / shape);
    }

    /** Draws all gaps once before, and returns by what they have to be multiplied to sum up to their number. */
    private static double scale(SharedStateContinuousSampler gaps, long count) {
        double sum = 0;
        for (long i = 0; i < count; i++) {
            sum += gaps.sample();
        }
        return sum > 0 ? count / sum : 1;
    }

    /** Returns the time of the next arrival, in nanoseconds; the first gap comes before the first arrival. */
    public long nextNanos() {
        nextNanos = Math.min(LATEST_NANOS, rate.nanosOfArrival(numArrivals++, nextNanos, scale * gaps.sample()));
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

package understudy.latency;

import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;

/**
 * Another model with noise: every step takes a random factor longer or shorter, whose logarithm is Gaussian and whose
 * mean is 1. Unlike other models it is not pure: each call draws from its stream, so every device needs one of its own.
 */
public final class JitteredLatency implements LatencyModel {
    private final LatencyModel exact;
    private final double sigma;
    private final ZigguratSampler.NormalizedGaussian gaussian;

    /**
     * Adds noise.
     *
     * @param exact the time without noise
     * @param sigma standard deviation of the factor's logarithm, at least 0
     * @param random stream of this device
     */
    public JitteredLatency(LatencyModel exact, double sigma, UniformRandomProvider random) {
        this.exact = exact;
        this.sigma = sigma;
        gaussian = ZigguratSampler.NormalizedGaussian.of(random);
    }

    @Override
    public long stepNanos(BatchShape batch) {
        return LatencyModel.roundToNanos(exact.stepNanos(batch) * factor());
    }

    /** Draws how many times longer the next step takes. */
    public double factor() {
        // StrictMath: the same bytes on every machine.
        return StrictMath.exp(sigma * gaussian.sample() - sigma * sigma / 2);
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        return exact.explain(batch);
    }
}

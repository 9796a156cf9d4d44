/**
 * Duration of a step on a given model and GPU.
 *
 * <p>Start with {@link understudy.latency.LatencyModel}; {@link understudy.latency.RooflineLatency} derives a step from
 * the dimensions of a model and the figures of a GPU, {@link understudy.latency.ProfiledLatency} from measured kernels,
 * and {@link understudy.latency.ProfileLatency} from five numbers that {@link understudy.latency.ProfileFit} finds.
 *
 * <p>Models are pure functions of the step's batch; durations are nanoseconds, kept as {@code double} inside a formula
 * so that a term may be a fraction of a nanosecond per token.
 */
@NullMarked
package understudy.latency;

import org.jspecify.annotations.NullMarked;

/**
 * Decides how many replicas there should be.
 *
 * <p>Start with {@link understudy.scaling.ScalingRule}, of which there is one per file, and {@link
 * understudy.scaling.Stabilization}, which all of them go through. {@link understudy.scaling.ScalingSignals} collects
 * what they look at.
 */
@NullMarked
package understudy.scaling;

import org.jspecify.annotations.NullMarked;

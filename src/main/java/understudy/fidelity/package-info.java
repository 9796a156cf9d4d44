/**
 * Emulated against measured, and calibration.
 *
 * <p>Start with {@link understudy.fidelity.ResultComparison} and {@link understudy.fidelity.StepCalibration}.
 */
@NullMarked
package understudy.fidelity;

import org.jspecify.annotations.NullMarked;

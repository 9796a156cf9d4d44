package understudy.fidelity;

import java.util.List;
import org.hipparchus.linear.LUDecomposition;
import org.hipparchus.linear.MatrixUtils;
import org.hipparchus.linear.RealMatrix;
import understudy.latency.ProfileFit.Measurement;
import understudy.latency.ProfileLatency;

/**
 * Effects of the five numbers of a device on the times of steps: root mean squares of the share by which they change when
 * a number changes as much as itself, or as its usual value if that is more.
 */
final class StepEffects {
    /** Part of such a change at which the effect is taken, since weights and tokens do not act in proportion. */
    private static final double STEP = 0.1;

    private static final double RIDGE = 1e-9;

    /** Means of products of the effects of two numbers. */
    private final RealMatrix products;

    private final RealMatrix inverse;

    StepEffects(List<Measurement> steps, double[] fitted, double[] usual) {
        int size = fitted.length;
        var device = StepFit.device(fitted);
        var changed = new ProfileLatency[size];
        for (int i = 0; i < size; i++) {
            double[] numbers = fitted.clone();
            numbers[i] += STEP * Math.max(fitted[i], usual[i]);
            changed[i] = StepFit.device(numbers);
        }
        var effects = MatrixUtils.createRealMatrix(steps.size(), size);
        for (int row = 0; row < steps.size(); row++) {
            double nanos = device.stepNanos(steps.get(row).batch());
            for (int i = 0; i < size; i++) {
                effects.setEntry(row, i, (changed[i].stepNanos(steps.get(row).batch()) / nanos - 1) / STEP);
            }
        }
        products = effects.transposeMultiply(effects).scalarMultiply(1.0 / steps.size());
        var ridge = MatrixUtils.createRealIdentityMatrix(size).scalarMultiply(RIDGE);
        inverse = new LUDecomposition(products.add(ridge)).getSolver().getInverse();
    }

    /** Returns the effect of a number alone. */
    double alone(int number) {
        return Math.sqrt(products.getEntry(number, number));
    }

    /** Returns the rest of a number's effect when the others change so as to make up for it. */
    double besideOthers(int number) {
        return 1 / Math.sqrt(inverse.getEntry(number, number));
    }
}

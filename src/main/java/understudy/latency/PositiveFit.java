package understudy.latency;

import java.util.function.DoubleUnaryOperator;
import java.util.function.ToDoubleFunction;
import org.hipparchus.optim.InitialGuess;
import org.hipparchus.optim.MaxEval;
import org.hipparchus.optim.SimpleValueChecker;
import org.hipparchus.optim.nonlinear.scalar.GoalType;
import org.hipparchus.optim.nonlinear.scalar.ObjectiveFunction;
import org.hipparchus.optim.nonlinear.scalar.noderiv.NelderMeadSimplex;
import org.hipparchus.optim.nonlinear.scalar.noderiv.SimplexOptimizer;

/**
 * Finds positive parameters that make a loss small, by the simplex method of Nelder and Mead on their logarithms, so
 * that each is searched in proportion to its size. Restarted from its own result, since a simplex may collapse early.
 */
final class PositiveFit {
    private static final int MAX_EVALUATIONS = 20_000;
    private static final int NUM_STARTS = 4;
    private static final double PRECISION = 1e-10;
    private static final double FIRST_STEP = 0.5;

    private PositiveFit() {}

    /**
     * Returns the parameters.
     *
     * @param start first guess, all above 0
     * @param loss function to minimize, of parameters in the same order
     */
    static double[] fit(double[] start, ToDoubleFunction<double[]> loss) {
        double[] logs = each(start, StrictMath::log);
        for (int i = 0; i < NUM_STARTS; i++) {
            logs = new SimplexOptimizer(new SimpleValueChecker(PRECISION, PRECISION))
                    .optimize(
                            new MaxEval(MAX_EVALUATIONS),
                            new InitialGuess(logs),
                            GoalType.MINIMIZE,
                            new ObjectiveFunction(point -> loss.applyAsDouble(each(point, StrictMath::exp))),
                            new NelderMeadSimplex(logs.length, FIRST_STEP))
                    .getPoint();
        }
        return each(logs, StrictMath::exp);
    }

    /** Returns the square of how far a prediction is off, by its logarithm. */
    static double squaredLog(double predicted, double measured) {
        double log = StrictMath.log(predicted / measured);
        return log * log;
    }

    private static double[] each(double[] numbers, DoubleUnaryOperator function) {
        var results = new double[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            results[i] = function.applyAsDouble(numbers[i]);
        }
        return results;
    }
}

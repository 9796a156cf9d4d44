package understudy.chaos;

import java.io.IOException;
import java.nio.file.Path;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.scenario.NamedScenario;

/**
 * Judges one target by scenarios. One thread at a time may use it; {@link #stop} may be called by any.
 *
 * @param <S> kind of its scenarios
 */
public interface ConformanceKit<S extends NamedScenario> extends AutoCloseable {
    /** Tries of a scenario that stays in doubt. */
    int MAX_TRIES = 3;

    /** Returns the scratch directory of the target, which stays if the target has left anything there. */
    Path directory();

    /** Ends the scenario that runs, and lets no other one begin. */
    void stop();

    /** Returns whether it was stopped. */
    boolean isStopped();

    /**
     * Runs a scenario once, whether the machine is late or not.
     *
     * @throws IOException if the target does not start, or a port cannot be had
     */
    ScenarioResult runOnce(S scenario) throws IOException;

    /**
     * Runs a scenario: again, if the machine was so late that a law which seems broken cannot be judged, and at most three
     * times.
     *
     * @throws IOException if the target does not start, or a port cannot be had
     */
    default ScenarioResult run(S scenario) throws IOException {
        var result = runOnce(scenario);
        for (int i = 1; i < MAX_TRIES && result.isInDoubt() && !isStopped(); i++) {
            result = runOnce(scenario);
        }
        return result;
    }

    /** Ends the target and what stands behind it. */
    @Override
    void close();
}

package understudy.fuzz;

import java.util.List;
import java.util.Optional;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/**
 * Search for a scenario that breaks a law. All follows from the seed and the number of a run, so that each run can be
 * repeated alone.
 */
public final class Fuzzer {
    private final long seed;
    private final List<Check> checks;
    private volatile boolean isStopped;
    private long numRuns;
    private long numRefused;

    /** Creates a search; checks run on every scenario, in their order. */
    public Fuzzer(long seed, List<Check> checks) {
        this.seed = seed;
        this.checks = List.copyOf(checks);
    }

    /** Draws the scenario with a number and checks it; what fails is made smaller. */
    public Optional<Finding> run(long run) throws InterruptedException {
        var scenario = ScenarioDraw.of(seed, run);
        numRuns++;
        try {
            var failure = failure(scenario);
            return failure.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new Shrinker(scenario, failure.get(), this::failure, () -> !isStopped).shrink());
        } catch (ScenarioException e) {
            numRefused++;
            return Optional.empty();
        }
    }

    private Optional<Failure> failure(FuzzScenario scenario) throws InterruptedException {
        return failure(scenario.merged());
    }

    /**
     * Checks one merged scenario.
     *
     * @throws ScenarioException if it is refused
     */
    public Optional<Failure> failure(Section scenario) throws InterruptedException {
        try {
            for (var check : checks) {
                check.check(scenario);
            }
            return Optional.empty();
        } catch (ScenarioException e) {
            throw e;
        } catch (KvOutOfMemoryException e) {
            // The real engine ends like this, too.
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(Failure.of(e));
        }
    }

    /** Makes nothing smaller any more; from any thread. */
    public void stop() {
        isStopped = true;
    }

    public boolean isStopped() {
        return isStopped;
    }

    /** Returns the runs so far, those refused included. */
    public long numRuns() {
        return numRuns;
    }

    /** Returns the runs whose scenario has settings that do not go together. */
    public long numRefused() {
        return numRefused;
    }
}

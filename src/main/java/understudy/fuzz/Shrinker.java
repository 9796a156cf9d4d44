package understudy.fuzz;

import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import understudy.runtime.Stopwatch;
import understudy.settings.ScenarioException;

/** Makes a scenario that fails smaller, as long as it fails in the same way. Not reusable. */
final class Shrinker {
    private static final String REQUESTS = "workload.requests";
    private static final int MAX_TRIES = 400;
    private static final double MAX_SECONDS = 120;

    private final Trial trial;
    private final BooleanSupplier mayGoOn;
    private final Stopwatch stopwatch = Stopwatch.start();
    private FuzzScenario smallest;
    private Failure failure;
    private int numTries;

    /** Runs a scenario and returns its failure; may refuse it with a {@link ScenarioException}. */
    @FunctionalInterface
    interface Trial {
        Optional<Failure> of(FuzzScenario scenario) throws InterruptedException;
    }

    Shrinker(FuzzScenario failing, Failure failure, Trial trial, BooleanSupplier mayGoOn) {
        smallest = failing;
        this.failure = failure;
        this.trial = trial;
        this.mayGoOn = mayGoOn;
    }

    Finding shrink() throws InterruptedException {
        boolean isSmaller = true;
        while (isSmaller) {
            isSmaller = halveRequests();
            isSmaller |= removeFaults();
            isSmaller |= removeSettings();
        }
        return new Finding(smallest, failure, numTries);
    }

    private boolean halveRequests() throws InterruptedException {
        boolean isSmaller = false;
        int count = Integer.parseInt(smallest.settings().getOrDefault(REQUESTS, "1"));
        while (count > 1 && fails(smallest.with(REQUESTS, String.valueOf(count / 2)))) {
            count /= 2;
            isSmaller = true;
        }
        return isSmaller;
    }

    private boolean removeFaults() throws InterruptedException {
        boolean isSmaller = false;
        for (int i = smallest.faults().size() - 1; i >= 0; i--) {
            isSmaller |= fails(smallest.withoutFault(i));
        }
        return isSmaller;
    }

    /** Goes back to defaults, but for the number of requests, whose default is large. */
    private boolean removeSettings() throws InterruptedException {
        boolean isSmaller = false;
        for (String key : List.copyOf(smallest.settings().keySet())) {
            isSmaller |= !key.equals(REQUESTS) && fails(smallest.without(key));
        }
        return isSmaller;
    }

    private boolean fails(FuzzScenario candidate) throws InterruptedException {
        if (numTries >= MAX_TRIES || stopwatch.seconds() > MAX_SECONDS || !mayGoOn.getAsBoolean()) {
            return false;
        }
        numTries++;
        var same = outcome(candidate).filter(other -> other.kind().equals(failure.kind()));
        same.ifPresent(found -> {
            smallest = candidate;
            failure = found;
        });
        return same.isPresent();
    }

    private Optional<Failure> outcome(FuzzScenario candidate) throws InterruptedException {
        try {
            return trial.of(candidate);
        } catch (ScenarioException refused) {
            return Optional.empty();
        }
    }
}

package understudy.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.scenario.NamedScenario;

/**
 * Judges one target by scenarios. One thread at a time may use it; {@link #stop} may be called by any.
 *
 * @param <S> kind of its scenarios
 */
public abstract class ConformanceKit<S extends NamedScenario> implements AutoCloseable {
    /** Tries of a scenario that stays in doubt. */
    private static final int MAX_TRIES = 3;

    private final Path directory;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    /** Creates a kit with a scratch directory; nothing starts before the first scenario. */
    protected ConformanceKit() {
        try {
            directory = Files.createTempDirectory("understudy-chaos");
        } catch (IOException e) {
            throw new UncheckedIOException("no scratch directory for what is judged", e);
        }
    }

    /** Returns the scratch directory of the target, which stays if the target has left anything there. */
    public final Path directory() {
        return directory;
    }

    /** Ends the scenario that runs, and lets no other one begin. */
    public final void stop() {
        stopped.complete(null);
    }

    /** Returns whether it was stopped. */
    public final boolean isStopped() {
        return stopped.isDone();
    }

    /**
     * Runs a scenario: again, if the machine was so late that a law which seems broken cannot be judged, and at most three
     * times.
     *
     * @throws IOException if the target does not start, or a port cannot be had
     */
    public final ScenarioResult run(S scenario) throws IOException {
        var result = runOnce(scenario);
        for (int i = 1; i < MAX_TRIES && result.isInDoubt() && !isStopped(); i++) {
            result = runOnce(scenario);
        }
        return result;
    }

    /**
     * Runs a scenario once, whether the machine is late or not.
     *
     * @throws IOException if the target does not start, or a port cannot be had
     */
    abstract ScenarioResult runOnce(S scenario) throws IOException;

    /** Ends what lasts for longer than a scenario, which is nothing unless a kit says otherwise. */
    void end() throws IOException {}

    /** Returns a stage that interrupts this thread when the kit is stopped, until that stage is cancelled. */
    final CompletableFuture<Void> interruptionByStop() {
        return stopped.thenRun(Thread.currentThread()::interrupt);
    }

    /** Waits for so long, or until it is stopped. */
    final void pause(long millis) {
        try {
            stopped.get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // It was not stopped.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stop();
        }
    }

    /** Ends the target and what stands behind it. */
    @Override
    public final void close() {
        stop();
        try {
            end();
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            // The target has left files, which stay.
        }
    }
}

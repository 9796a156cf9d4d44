package understudy.sweep;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import understudy.scenario.Scenario;
import understudy.settings.Section;

/** Threads of this process, each of which runs one point at a time. */
public final class PointThreads implements AutoCloseable {
    private final PointRunner runner;
    private final ExecutorService threads;

    /** @param stopsHopeless whether a run ends as soon as it cannot keep its service level any more */
    public PointThreads(int numThreads, boolean stopsHopeless) {
        runner = new PointRunner(stopsHopeless);
        threads = Executors.newFixedThreadPool(numThreads, task -> {
            var thread = new Thread(task, "sweep");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Runs a point as soon as a thread is free; the future fails if the run does, or is cancelled if none is to begin.
     *
     * @param settings returns the whole scenario; called in the thread of the run
     */
    public CompletableFuture<PointResult> submit(String name, Supplier<Section> settings) {
        return submit(name, settings, scenario -> {});
    }

    /** Runs a point as well, and shows its scenario in the thread of the run, before it begins. */
    public CompletableFuture<PointResult> submit(
            String name, Supplier<Section> settings, Consumer<Scenario> onScenario) {
        var result = new CompletableFuture<PointResult>();
        try {
            threads.execute(() -> run(name, settings, onScenario, result));
        } catch (RejectedExecutionException stopped) {
            result.cancel(false);
        }
        return result;
    }

    private void run(
            String name,
            Supplier<Section> settings,
            Consumer<Scenario> onScenario,
            CompletableFuture<PointResult> result) {
        try {
            result.complete(runner.run(name, settings, onScenario));
        } catch (InterruptedException | CancellationException given) {
            result.cancel(false);
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    /**
     * Begins no more runs, and gives up those under way. No thread is interrupted: an actor system that is just being
     * brought up would tell of that on standard output.
     */
    @Override
    public void close() {
        runner.stop();
        threads.shutdown();
    }
}

package understudy.sweep;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;

/** Threads of this process, each of which runs one point at a time. */
final class LocalExecutor implements PointExecutor {
    private final PointRunner runner;
    private final ExecutorService threads;
    private volatile boolean isStopped;

    LocalExecutor(PointRunner runner, int numThreads) {
        this.runner = runner;
        threads = Executors.newFixedThreadPool(numThreads, task -> {
            var thread = new Thread(task, "sweep");
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public CompletableFuture<PointResult> submit(SweepPoint point) {
        var result = new CompletableFuture<PointResult>();
        try {
            threads.execute(() -> run(point, result));
        } catch (RejectedExecutionException stopped) {
            result.cancel(false);
        }
        return result;
    }

    private void run(SweepPoint point, CompletableFuture<PointResult> result) {
        try {
            if (isStopped) {
                throw new CancellationException();
            }
            result.complete(runner.run(point));
        } catch (InterruptedException | CancellationException given) {
            result.cancel(false);
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    @Override
    public void stop() {
        isStopped = true;
        threads.shutdownNow().forEach(Runnable::run);
    }

    @Override
    public void close() {
        stop();
    }
}

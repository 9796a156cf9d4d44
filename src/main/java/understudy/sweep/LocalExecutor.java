package understudy.sweep;

import java.util.concurrent.CompletableFuture;

/** Points that are run in this process. */
record LocalExecutor(SweepJob job, PointThreads threads) implements PointExecutor {
    @Override
    public CompletableFuture<PointResult> submit(SweepPoint point) {
        return threads.submit(point.name(), () -> job.merged(point));
    }

    @Override
    public void stop() {
        threads.close();
    }
}

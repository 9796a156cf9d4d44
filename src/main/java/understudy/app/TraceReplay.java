package understudy.app;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import understudy.app.console.StatusLine;
import understudy.app.replay.ReplayPlan;
import understudy.app.replay.TraceFeed;
import understudy.replay.BlockTraceReader;
import understudy.replay.NextUse;
import understudy.replay.ReplayResult;
import understudy.replay.ReplaySettings;
import understudy.replay.Replayer;
import understudy.replay.ReuseCounter;
import understudy.replay.SharingView;
import understudy.replay.TraceChunk;

/**
 * Replays one trace against many caches on all cores: one thread reads, and the others begin on what it has read. Each
 * cache is a task of its own, so results do not depend on who runs when.
 */
final class TraceReplay implements AutoCloseable {
    private static final long PROGRESS_MILLIS = 100;

    private final ReplayPlan plan;
    private final boolean keepPerRequest;
    private final StatusLine status;
    private final TraceFeed feed;
    private final ExecutorService threads;
    private final Map<ReplayPlan.Cache, Future<ReplayResult>> results = new LinkedHashMap<>();
    private final AtomicLong numReplayed = new AtomicLong();
    private final AtomicInteger numDone = new AtomicInteger();
    private final AtomicBoolean isStopped = new AtomicBoolean();
    private int numCaches;

    /** Outcome of the replay against all caches. */
    record Outcome(List<TraceChunk> chunks, int blockSize, SharingView sharing, List<ReplayResult> results) {}

    /** Exception of a replay that was stopped before its end. */
    static final class Stopped extends Exception {}

    /** Consumer of the chunks of a trace, in order. */
    private interface ChunkUser {
        void accept(TraceChunk chunk);
    }

    TraceReplay(BlockTraceReader reader, ReplayPlan plan, boolean keepPerRequest, StatusLine status) {
        this.plan = plan;
        this.keepPerRequest = keepPerRequest;
        this.status = status;
        feed = new TraceFeed(reader);
        numCaches = plan.maxCaches();
        threads = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors(), task -> {
            var thread = new Thread(task, "replay");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Reads and replays; to be called once.
     *
     * @throws Stopped after {@link #stop}
     */
    Outcome run(ReplayPlan.Warnings warnings) throws Exception {
        var early = plan.early();
        // First in, first out: a task that waits for another one finds it running or done, even with one thread.
        var reading = threads.submit(Executors.callable((Runnable) feed::read));
        var sharing = threads.submit(this::countReuses);
        for (var cache : early) {
            var unused = submit(cache, () -> replayer(cache)); // asked for again with all the others
        }
        try {
            await(reading);
            var all = plan.all(feed.numBlocks(), warnings);
            numCaches = all.size();
            var found = new ArrayList<ReplayResult>();
            for (var result : submit(all)) {
                found.add(await(result));
            }
            return new Outcome(feed.chunks(), feed.blockSize(), await(sharing), found);
        } finally {
            status.clear();
        }
    }

    /** Makes {@link #run} give up soon; for other threads. */
    void stop() {
        isStopped.set(true);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** Submits what has not been yet, and returns all in the order given. */
    private List<Future<ReplayResult>> submit(List<ReplayPlan.Cache> all) {
        var nextUse = all.stream().anyMatch(cache -> cache.policy().needsFuture())
                ? threads.submit(() -> NextUse.of(feed.chunks()))
                : null;
        var submitted = new ArrayList<Future<ReplayResult>>();
        for (var cache : all) {
            submitted.add(
                    nextUse != null && cache.policy().needsFuture()
                            ? submit(cache, () -> Replayer.of(settings(cache), keepPerRequest, nextUse.get()))
                            : submit(cache, () -> replayer(cache)));
        }
        return submitted;
    }

    private Future<ReplayResult> submit(ReplayPlan.Cache cache, Callable<Replayer> replayer) {
        return results.computeIfAbsent(cache, missing -> threads.submit(() -> replay(replayer.call())));
    }

    private Replayer replayer(ReplayPlan.Cache cache) throws InterruptedException {
        return Replayer.of(settings(cache), keepPerRequest);
    }

    private ReplaySettings settings(ReplayPlan.Cache cache) throws InterruptedException {
        return new ReplaySettings(
                cache.policy(), cache.capacityBlocks(), feed.blockSize(), plan.smallRatio(), plan.maxFreq());
    }

    private ReplayResult replay(Replayer replayer) throws InterruptedException {
        forEachChunk(replayer::accept);
        numDone.incrementAndGet();
        return replayer.finish();
    }

    private SharingView countReuses() throws InterruptedException {
        var counter = new ReuseCounter();
        forEachChunk(counter::accept);
        return counter.finish();
    }

    private void forEachChunk(ChunkUser user) throws InterruptedException {
        int index = 0;
        for (var chunk = feed.chunk(0); chunk != null; chunk = feed.chunk(++index)) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            user.accept(chunk);
            numReplayed.addAndGet(chunk.blocks().length);
        }
    }

    private <T> T await(Future<T> future) throws Exception {
        while (true) {
            try {
                return future.get(PROGRESS_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                status.draw(progress());
            } catch (ExecutionException e) {
                throw e.getCause() instanceof RuntimeException cause ? cause : e;
            }
            if (isStopped.get()) {
                throw new Stopped();
            }
        }
    }

    /** Every access is read once, looked at for reuse once, and replayed against every cache. */
    private String progress() {
        double work = feed.expectedAccesses() * (numCaches + 2.0);
        double done = feed.numAccesses() + numReplayed.get();
        return (work == 0 ? "" : StatusLine.bar(done / work)) + feed.numAccesses() + " block accesses read, "
                + numDone.get() + "/" + numCaches + " replays done";
    }
}

package understudy.host;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.guardian.Guardian;
import understudy.report.HostStats;
import understudy.report.RunRecord;
import understudy.runtime.Stopwatch;
import understudy.runtime.VirtualTime;

/**
 * One run of a cluster. Creating it brings up the actor system, which takes a while and needs no scenario; {@link
 * #start} lets it go.
 */
public final class Emulation implements AutoCloseable {
    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private final VirtualTime<Cluster.Command> time;
    private volatile long numEnded;

    /** Requests that had ended when nothing was due; -1 before that has happened. */
    private long numEndedWhenIdle = -1;

    private volatile Stopwatch stopwatch = Stopwatch.start();

    /** Result of a run. */
    public record Result(RunRecord run, HostStats host) {}

    public Emulation() {
        time = VirtualTime.create("understudy", clock -> Guardian.create(clock, new Ending()));
        time.whenStopped().whenComplete((done, error) -> result.completeExceptionally(stopped(error)));
        time.system()
                .getWhenTerminated()
                .whenComplete((done, error) -> result.completeExceptionally(
                        new IllegalStateException("the actors of the emulation have ended before the run", error)));
        time.onIdle(this::onIdle);
    }

    /** Ends waits for answers that never come; if no request has ended since the last time, the run has stalled. */
    private void onIdle() {
        if (numEnded != numEndedWhenIdle) {
            numEndedWhenIdle = numEnded;
            time.system().tell(Cluster.Stalled.NOW);
        } else {
            result.completeExceptionally(
                    new IllegalStateException("the emulation has stalled: requests are left, but nothing is due"));
        }
    }

    private static Throwable stopped(@Nullable Throwable error) {
        return error == null ? new IllegalStateException("the emulation was closed before its end") : error;
    }

    /**
     * Builds the cluster and lets it run.
     *
     * @param speed virtual seconds per wall second; infinite is as fast as possible
     */
    public void start(ClusterSpec spec, double speed) {
        start(new Cluster.Start(spec), speed);
    }

    /**
     * Builds the cluster and lets it run.
     *
     * @param reader is told all that happens, on the emulation's thread
     */
    public void start(ClusterSpec spec, double speed, Consumer<ClusterEvent> reader) {
        Behavior<ClusterEvent> reading = Behaviors.receiveMessage(event -> {
            reader.accept(event);
            return Behaviors.same();
        });
        var ref = time.system().systemActorOf(reading, "reader", Props.empty());
        start(
                new Cluster.Start(
                        spec,
                        new ClusterEvent.Subscriber(
                                ref, Set.of(ClusterEvent.Detail.KV_CACHES, ClusterEvent.Detail.CHOICES))),
                speed);
    }

    private void start(Cluster.Start start, double speed) {
        time.system().tell(start);
        stopwatch = Stopwatch.start();
        time.run(speed);
    }

    /**
     * Waits for the end of the run, for at most {@code millis}; throws {@link TimeoutException} if that is not enough.
     */
    public Result await(long millis) throws InterruptedException, ExecutionException, TimeoutException {
        return result.get(millis, TimeUnit.MILLISECONDS);
    }

    /** Interrupts the run; its result is that of the time until now. */
    public void stop() {
        time.system().tell(Cluster.Stop.NOW);
    }

    /** Gives the run up: waiting for its result throws a {@link java.util.concurrent.CancellationException}. */
    public void cancel() {
        result.cancel(false);
    }

    public long numEnded() {
        return numEnded;
    }

    public double virtualSeconds() {
        return time.nowNanos() / 1e9;
    }

    public double wallSeconds() {
        return stopwatch.seconds();
    }

    @Override
    public void close() {
        time.close();
    }

    /** Called on the loop; the clock stops with the run. */
    private final class Ending implements Cluster.Observer {
        @Override
        public void onProgress(long ended) {
            numEnded = ended;
        }

        @Override
        public void onEnded(RunRecord run) {
            double wallSeconds = stopwatch.seconds();
            time.pause();
            var lateness = time.lateness();
            var runtime = Runtime.getRuntime();
            result.complete(new Result(
                    run,
                    new HostStats(
                            wallSeconds,
                            time.numEvents(),
                            runtime.totalMemory() - runtime.freeMemory(),
                            lateness.p50Nanos(),
                            lateness.p99Nanos(),
                            lateness.maxNanos())));
        }

        @Override
        public void onFailed(Throwable cause) {
            result.completeExceptionally(cause);
        }
    }
}

package understudy.sweep.remote;

import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorSystem;
import understudy.sweep.PointExecutor;
import understudy.sweep.PointResult;
import understudy.sweep.SweepJob;
import understudy.sweep.SweepPoint;

/** Machines that run points. This one only hands them out. */
public final class ClusterExecutor implements PointExecutor {
    /** Exception for a cluster that has ended in the middle of a sweep, by itself or since a machine has told it to. */
    public static final class ClusterEndedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private ClusterEndedException() {
            super("the cluster of the sweep has come to its end before its runs were done; with --out the same command"
                    + " goes on");
        }
    }

    private final ActorSystem<Driver.Command> driver;
    private final AtomicInteger numWorkers = new AtomicInteger();
    private final Queue<CompletableFuture<PointResult>> submitted = new ConcurrentLinkedQueue<>();
    private volatile boolean isStopped;

    /**
     * Waits for workers from now on.
     *
     * @param build of this program; workers of another one are refused
     * @param log takes a line for the user, in any thread
     */
    public ClusterExecutor(SweepJob job, Node node, String build, Consumer<String> log) throws IOException {
        var offer = new Offer(job, node.secret(), Secret.newName(), build, job.inputs(), log, numWorkers);
        var config = node.config(List.of(node.address()));
        driver = node.start(() -> ActorSystem.create(Driver.create(offer), Node.SYSTEM, config));
        driver.getWhenTerminated()
                .thenRun(() -> submitted.forEach(result -> result.completeExceptionally(new ClusterEndedException())));
    }

    @Override
    public CompletableFuture<PointResult> submit(SweepPoint point) {
        var result = new CompletableFuture<PointResult>();
        submitted.add(result);
        if (isStopped) {
            result.cancel(false);
        } else {
            driver.tell(new Driver.Submit(point, result));
        }
        return result;
    }

    @Override
    public void stop() {
        isStopped = true;
        submitted.forEach(result -> result.cancel(false));
    }

    @Override
    public String status() {
        int count = numWorkers.get();
        return ", " + count + (count == 1 ? " worker" : " workers");
    }

    /** Ends the cluster. Workers end too, unless the sweep was stopped: then they wait until it goes on. */
    @Override
    public void close() {
        driver.tell(new Driver.End(!isStopped));
        Node.awaitEnd(driver);
    }
}

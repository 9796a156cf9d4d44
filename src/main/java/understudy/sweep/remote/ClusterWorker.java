package understudy.sweep.remote;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;
import org.jspecify.annotations.Nullable;

/** Process that runs points of other machines' sweeps, until one is over. */
public final class ClusterWorker {
    /** How a worker ended. */
    public enum Ending {
        /** All points are done. */
        OVER,
        /** The worker is of another build than the driver, or lacks a file or the secret. */
        REFUSED,
        /** This process is being ended, such as by Ctrl-C. */
        BROKEN_OFF
    }

    private static final Optional<CoordinatedShutdown.Reason> BY_SIGNAL =
            Optional.of(CoordinatedShutdown.jvmExitReason());

    private final Node node;
    private final List<HostPort> drivers;
    private final String build;
    private final int numSlots;
    private final Consumer<String> log;
    private volatile @Nullable Ending ending;

    /**
     * @param drivers addresses at which the sweep's driver may be
     * @param build of this program
     * @param numSlots runs at a time
     * @param log takes a line for the user, in any thread
     */
    public ClusterWorker(Node node, List<HostPort> drivers, String build, int numSlots, Consumer<String> log) {
        this.node = node;
        this.drivers = drivers;
        this.build = build;
        this.numSlots = numSlots;
        this.log = log;
    }

    /** Works until the sweep is over. A driver that is gone is waited for, in an actor system of its own. */
    public Ending run() {
        var config = node.config(drivers);
        log.accept("waiting for a sweep at " + HostPort.join(drivers));
        while (true) {
            var stopped = new CompletableFuture<Void>();
            var system = node.start(() -> ActorSystem.create(Worker.create(this, stopped), Node.SYSTEM, config));
            stopped.join();
            Node.awaitEnd(system);
            var ended = ending;
            if (ended != null) {
                return ended;
            }
            if (CoordinatedShutdown.get(system).getShutdownReason().equals(BY_SIGNAL)) {
                return Ending.BROKEN_OFF;
            }
            log.accept("the driver is gone; waiting for it to come back");
        }
    }

    void end(Ending how) {
        ending = how;
    }

    String build() {
        return build;
    }

    Secret secret() {
        return node.secret();
    }

    int numSlots() {
        return numSlots;
    }

    Consumer<String> log() {
        return log;
    }
}

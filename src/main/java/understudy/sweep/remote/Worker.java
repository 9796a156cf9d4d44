package understudy.sweep.remote;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.actor.typed.receptionist.Receptionist;
import org.jspecify.annotations.Nullable;
import understudy.sweep.InputFiles;
import understudy.sweep.PointThreads;

/** Looks for the driver, is checked, and opens its slots. */
final class Worker extends AbstractBehavior<Worker.Command> {
    sealed interface Command {}

    /**
     * The driver takes the worker.
     *
     * @param inputs digests of the files that the runs read, by name
     * @param stopsHopeless whether a run ends as soon as it cannot keep its service level any more
     */
    record Welcome(Map<String, String> inputs, boolean stopsHopeless) implements Command, RemoteMessage {}

    /** The driver is of another build. */
    record Refused(String driverBuild) implements Command, RemoteMessage {}

    /** All points are done. */
    record Over() implements Command, RemoteMessage {}

    private record Found(Receptionist.Listing listing) implements Command {}

    private record Greet() implements Command {}

    private record Gone() implements Command {}

    private static final Duration GREET_INTERVAL = Duration.ofSeconds(3);

    private final ClusterWorker worker;
    private final TimerScheduler<Command> timers;
    private final CompletableFuture<Void> stopped;
    private @Nullable ActorRef<Driver.Command> driver;
    private @Nullable PointThreads threads;

    private Worker(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            ClusterWorker worker,
            CompletableFuture<Void> stopped) {
        super(context);
        this.stopped = stopped;
        this.timers = timers;
        this.worker = worker;
        var adapter = context.messageAdapter(Receptionist.Listing.class, Found::new);
        context.getSystem().receptionist().tell(Receptionist.subscribe(Driver.KEY, adapter));
    }

    /** @param stopped is completed at the end, however it comes */
    static Behavior<Command> create(ClusterWorker worker, CompletableFuture<Void> stopped) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> new Worker(context, timers, worker, stopped)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Found.class, this::onFound)
                .onMessage(Greet.class, this::onGreet)
                .onMessage(Welcome.class, this::onWelcome)
                .onMessage(Refused.class, this::onRefused)
                .onMessage(Over.class, over -> end(ClusterWorker.Ending.OVER, "the sweep is over"))
                .onMessage(Gone.class, gone -> Behaviors.stopped())
                .onSignal(PostStop.class, this::onPostStop)
                .build();
    }

    private Behavior<Command> onFound(Found found) {
        Optional<ActorRef<Driver.Command>> first =
                found.listing().getServiceInstances(Driver.KEY).stream().findFirst();
        if (driver == null && first.isPresent()) {
            driver = first.get();
            getContext().watchWith(driver, new Gone());
            timers.startTimerWithFixedDelay(new Greet(), Duration.ZERO, GREET_INTERVAL);
        }
        return this;
    }

    private Behavior<Command> onGreet(Greet greet) {
        tell(new Driver.Hello(worker.build(), worker.numSlots(), getContext().getSelf()));
        return this;
    }

    private Behavior<Command> onWelcome(Welcome welcome) {
        if (threads != null || driver == null) {
            return this;
        }
        timers.cancelAll();
        var difference = InputFiles.difference(welcome.inputs());
        if (difference.isPresent()) {
            tell(new Driver.Unfit(difference.get(), getContext().getSelf()));
            return end(ClusterWorker.Ending.REFUSED, difference.get());
        }
        worker.log().accept("joined " + Node.of(driver) + ": " + worker.numSlots() + " runs at a time");
        threads = new PointThreads(worker.numSlots(), welcome.stopsHopeless());
        for (int i = 0; i < worker.numSlots(); i++) {
            getContext().spawn(Slot.create(driver, threads), "slot-" + i);
        }
        return this;
    }

    private Behavior<Command> onRefused(Refused refused) {
        return end(
                ClusterWorker.Ending.REFUSED,
                "refused: the sweep's driver is " + refused.driverBuild() + ", and this is " + worker.build());
    }

    private Behavior<Command> end(ClusterWorker.Ending ending, String line) {
        worker.log().accept(line);
        worker.end(ending);
        return Behaviors.stopped();
    }

    private Behavior<Command> onPostStop(PostStop stop) {
        if (threads != null) {
            threads.close();
        }
        stopped.complete(null);
        return this;
    }

    private void tell(Driver.Command message) {
        if (driver != null) {
            driver.tell(message);
        }
    }
}

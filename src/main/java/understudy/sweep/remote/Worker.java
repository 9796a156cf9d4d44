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
     * @param sweep its name
     * @param signature by the secret of the sweep
     */
    record Welcome(Map<String, String> inputs, boolean stopsHopeless, String sweep, String signature)
            implements Command, RemoteMessage {}

    /** The driver is of another build, or, if it does not sign that by the worker's secret, has another secret. */
    record Refused(String driverBuild, String signature) implements Command, RemoteMessage {}

    /** All points are done. */
    record Over(String signature) implements Command, RemoteMessage {}

    private record Found(Receptionist.Listing listing) implements Command {}

    private record Greet() implements Command {}

    private record Gone() implements Command {}

    private static final Duration GREET_INTERVAL = Duration.ofSeconds(3);

    private final ClusterWorker worker;
    private final TimerScheduler<Command> timers;
    private final CompletableFuture<Void> stopped;
    private @Nullable ActorRef<Driver.Command> driver;
    private @Nullable PointThreads threads;
    private String sweep = "";

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
                .onMessage(Over.class, this::onOver)
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
        String signature = worker.secret().sign("hello", worker.build());
        tell(new Driver.Hello(worker.build(), worker.numSlots(), getContext().getSelf(), signature));
        return this;
    }

    private Behavior<Command> onWelcome(Welcome welcome) {
        boolean isOfDriver = worker.secret().hasSigned(welcome.signature(), "welcome", welcome.sweep());
        if (threads != null || driver == null || !isOfDriver) {
            return this;
        }
        sweep = welcome.sweep();
        timers.cancelAll();
        var difference = InputFiles.difference(welcome.inputs());
        if (difference.isPresent()) {
            String signature = worker.secret().sign("unfit", difference.get());
            tell(new Driver.Unfit(difference.get(), getContext().getSelf(), signature));
            return end(ClusterWorker.Ending.REFUSED, difference.get());
        }
        worker.log().accept("joined " + Node.of(driver) + ": " + worker.numSlots() + " runs at a time");
        threads = new PointThreads(worker.numSlots(), welcome.stopsHopeless());
        for (int i = 0; i < worker.numSlots(); i++) {
            getContext().spawn(Slot.create(driver, worker.secret(), threads), "slot-" + i);
        }
        return this;
    }

    /** The sweep may be over before this worker was welcome. */
    private Behavior<Command> onOver(Over over) {
        boolean isOfDriver = sweep.isEmpty() || worker.secret().hasSigned(over.signature(), "over", sweep);
        return isOfDriver ? end(ClusterWorker.Ending.OVER, "the sweep is over") : this;
    }

    private Behavior<Command> onRefused(Refused refused) {
        if (!worker.secret().hasSigned(refused.signature(), "refused", refused.driverBuild())) {
            return end(
                    ClusterWorker.Ending.REFUSED, "refused: the sweep's driver has another secret; see --secret-file");
        }
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

package understudy.sweep.remote;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.delivery.ConsumerController;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import understudy.settings.Hocon;
import understudy.settings.ScenarioException;
import understudy.sweep.PointResult;
import understudy.sweep.PointThreads;

/** Runs one point after the other; a point is done when the driver has its result. */
final class Slot extends AbstractBehavior<Slot.Command> {
    sealed interface Command {}

    /** The driver has the result of a point. */
    record Kept(String name) implements Command, RemoteMessage {}

    private record Deliver(ConsumerController.Delivery<Work> delivery) implements Command {}

    private record Ended(
            @Nullable PointResult result, @Nullable Throwable failure) implements Command {}

    private record Resend() implements Command {}

    private static final Duration RESEND_INTERVAL = Duration.ofSeconds(3);

    private final ActorRef<Driver.Command> driver;
    private final Secret secret;
    private final PointThreads threads;
    private final TimerScheduler<Command> timers;
    private ConsumerController.@Nullable Delivery<Work> delivery;
    private Driver.@Nullable Command answer;

    private Slot(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            ActorRef<Driver.Command> driver,
            Secret secret,
            PointThreads threads) {
        super(context);
        this.timers = timers;
        this.driver = driver;
        this.secret = secret;
        this.threads = threads;
        var controller = context.spawn(ConsumerController.create(Driver.WORK), "controller");
        controller.tell(new ConsumerController.Start<>(
                context.messageAdapter(ConsumerController.deliveryClass(), Deliver::new)));
    }

    static Behavior<Command> create(ActorRef<Driver.Command> driver, Secret secret, PointThreads threads) {
        return Behaviors.setup(
                context -> Behaviors.withTimers(timers -> new Slot(context, timers, driver, secret, threads)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Deliver.class, this::onDeliver)
                .onMessage(Ended.class, this::onEnded)
                .onMessage(Resend.class, this::onResend)
                .onMessage(Kept.class, this::onKept)
                .build();
    }

    private Behavior<Command> onDeliver(Deliver deliver) {
        var work = deliver.delivery().message();
        if (!secret.hasSigned(work.signature(), "work", work.sweep(), work.name(), work.settings())) {
            // Of a stranger, who may wait for the answer.
            deliver.delivery().confirmTo().tell(ConsumerController.confirmed());
            return this;
        }
        delivery = deliver.delivery();
        var run = threads.submit(work.name(), () -> Hocon.text(work.settings(), work.name()));
        getContext().pipeToSelf(run, Ended::new);
        return this;
    }

    private Behavior<Command> onEnded(Ended ended) {
        if (ended.failure() instanceof CancellationException) {
            return Behaviors.stopped();
        }
        answer = answer(Objects.requireNonNull(delivery).message(), ended);
        timers.startTimerWithFixedDelay(new Resend(), RESEND_INTERVAL);
        return onResend(new Resend());
    }

    private Driver.Command answer(Work work, Ended ended) {
        var self = getContext().getSelf();
        String name = work.name();
        if (ended.result() != null) {
            String result = ended.result().toJson();
            return new Driver.Ran(name, result, self, secret.sign("ran", work.sweep(), name, result));
        }
        boolean isBadInput = ended.failure() instanceof ScenarioException;
        String reason = String.valueOf(
                ended.failure() instanceof ScenarioException badInput ? badInput.getMessage() : ended.failure());
        return new Driver.Failed(name, reason, isBadInput, self, secret.sign("failed", work.sweep(), name, reason));
    }

    private Behavior<Command> onResend(Resend resend) {
        driver.tell(Objects.requireNonNull(answer));
        return this;
    }

    private Behavior<Command> onKept(Kept kept) {
        if (answer != null && kept.name().equals(name())) {
            timers.cancelAll();
            answer = null;
            Objects.requireNonNull(delivery).confirmTo().tell(ConsumerController.confirmed());
        }
        return this;
    }

    private String name() {
        return Objects.requireNonNull(delivery).message().name();
    }
}

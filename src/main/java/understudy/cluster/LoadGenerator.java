package understudy.cluster;

import java.time.Duration;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import understudy.runtime.Clock;
import understudy.workload.LoadSchedule;
import understudy.workload.Workload;

/** Sends the requests of a workload: arrivals when they are due, and the next turn of a session after an answer. */
public final class LoadGenerator extends AbstractBehavior<LoadGenerator.Command> {

    /** Messages of the generator. */
    public sealed interface Command {}

    /** Ends the run early: tells how many requests were sent, and sends no more. */
    public enum Stop implements Command {
        NOW
    }

    /**
     * Report of the generator when it has finished, or was stopped.
     *
     * @param numPlanned requests that the workload announced
     * @param numSent requests that were sent
     * @param numAbandoned requests that never will be, since a turn before them got no answer
     */
    public record Stopped(long numPlanned, long numSent, long numAbandoned) implements Cluster.Command {}

    private enum SendDue implements Command {
        NOW
    }

    private record Heard(RequestEvent event) implements Command {}

    private final TimerScheduler<Command> timers;
    private final Clock clock;
    private final Workload workload;
    private final LoadSchedule schedule;
    private final ActorRef<Router.Command> router;
    private final ActorRef<? super Stopped> owner;
    private final ActorRef<RequestEvent> requestEvents;
    private long armedNanos = LoadSchedule.NEVER;
    private boolean isStopped;

    private LoadGenerator(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            Clock clock,
            Workload workload,
            ActorRef<Router.Command> router,
            ActorRef<? super Stopped> owner) {
        super(context);
        this.timers = timers;
        this.clock = clock;
        this.router = router;
        this.owner = owner;
        requestEvents = context.messageAdapter(RequestEvent.class, Heard::new);
        schedule = new LoadSchedule(workload);
        this.workload = workload;
    }

    /**
     * Creates a generator, which begins at once.
     *
     * @param owner is told when everything was sent and has ended
     */
    public static Behavior<Command> create(
            Clock clock, Workload.Source source, ActorRef<Router.Command> router, ActorRef<? super Stopped> owner) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> {
            // By a message: what fails while an actor is made is not supervised as what fails later.
            context.getSelf().tell(SendDue.NOW);
            return Behaviors.receiveMessage(first ->
                    new LoadGenerator(context, timers, clock, source.open(), router, owner).onSendDue(SendDue.NOW));
        }));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(SendDue.class, this::onSendDue)
                .onMessage(Heard.class, this::onHeard)
                .onMessage(Stop.class, this::onStop)
                .onSignal(PostStop.class, this::onPostStop)
                .build();
    }

    private Behavior<Command> onSendDue(SendDue now) {
        armedNanos = LoadSchedule.NEVER;
        if (!isStopped) {
            sendDue();
        }
        return this;
    }

    private void sendDue() {
        for (var due = schedule.pollDue(clock.nowNanos()); due != null; due = schedule.pollDue(clock.nowNanos())) {
            router.tell(new Router.Submit(due, requestEvents, false));
        }
        waitForNext();
    }

    private Behavior<Command> onHeard(Heard heard) {
        if (heard.event instanceof RequestEvent.Finished finished) {
            onEnded(finished.requestId(), finished.numOutputTokens(), finished.atNanos());
        } else if (heard.event instanceof RequestEvent.Rejected rejected) {
            onEnded(rejected.requestId(), 0, rejected.atNanos());
        } else if (heard.event instanceof RequestEvent.Failed failed) {
            onEnded(failed.requestId(), 0, failed.atNanos());
        }
        return this;
    }

    private void onEnded(long requestId, int numOutputTokens, long atNanos) {
        schedule.onEnded(requestId, numOutputTokens, atNanos);
        if (!isStopped) {
            sendDue();
        }
    }

    private Behavior<Command> onStop(Stop now) {
        isStopped = true;
        timers.cancelAll();
        tellStopped();
        return this;
    }

    private Behavior<Command> onPostStop(PostStop signal) {
        workload.close();
        return this;
    }

    private void tellStopped() {
        workload.warning().ifPresent(getContext().getLog()::warn);
        owner.tell(new Stopped(schedule.numPlanned(), schedule.numSent(), schedule.numAbandoned()));
    }

    /** Sets the one timer that the generator has, or says that there is nothing left to wait for. */
    private void waitForNext() {
        if (schedule.isDone()) {
            isStopped = true;
            tellStopped();
            return;
        }
        long nextNanos = schedule.nextNanos();
        if (nextNanos != armedNanos && nextNanos != LoadSchedule.NEVER) {
            armedNanos = nextNanos;
            timers.startSingleTimer(SendDue.NOW, SendDue.NOW, Duration.ofNanos(nextNanos - clock.nowNanos()));
        }
    }
}

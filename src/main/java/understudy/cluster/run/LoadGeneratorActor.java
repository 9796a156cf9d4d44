package understudy.cluster.run;

import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.cluster.LoadGenerator;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.runtime.Clock;
import understudy.workload.LoadSchedule;
import understudy.workload.Workload;

/** Generator of the requests of a workload, with one timer for the next of them. */
public final class LoadGeneratorActor extends AbstractBehavior<LoadGenerator.Command> {
    private final Clock clock;
    private final Workload workload;
    private final LoadSchedule schedule;
    private final ActorRef<Router.Command> router;
    private final ActorRef<? super LoadGenerator.Stopped> owner;
    private final ActorRef<RequestEvent> requestEvents;
    private Cancellable next = Cancellable.alreadyCancelled();
    private long armedNanos = LoadSchedule.NEVER;
    private boolean isStopped;

    private LoadGeneratorActor(
            ActorContext<LoadGenerator.Command> context,
            Clock clock,
            Workload workload,
            ActorRef<Router.Command> router,
            ActorRef<? super LoadGenerator.Stopped> owner) {
        super(context);
        this.clock = clock;
        this.router = router;
        this.owner = owner;
        requestEvents = context.messageAdapter(RequestEvent.class, LoadGenerator.Heard::new);
        schedule = new LoadSchedule(workload);
        this.workload = workload;
    }

    /**
     * Creates a generator, which begins at once.
     *
     * @param owner is told when everything was sent and has ended
     */
    public static Behavior<LoadGenerator.Command> create(
            Clock clock,
            Workload.Source source,
            ActorRef<Router.Command> router,
            ActorRef<? super LoadGenerator.Stopped> owner) {
        return Behaviors.setup(context -> {
            // By a message: what fails while an actor is made is not supervised as what fails later.
            context.getSelf().tell(LoadGenerator.SendDue.NOW);
            return Behaviors.receiveMessage(
                    first -> new LoadGeneratorActor(context, clock, source.open(), router, owner)
                            .onSendDue(LoadGenerator.SendDue.NOW));
        });
    }

    @Override
    public Receive<LoadGenerator.Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(LoadGenerator.SendDue.class, this::onSendDue)
                .onMessage(LoadGenerator.Heard.class, this::onHeard)
                .onMessage(LoadGenerator.Stop.class, this::onStop)
                .onSignal(PostStop.class, this::onPostStop)
                .build();
    }

    private Behavior<LoadGenerator.Command> onSendDue(LoadGenerator.SendDue now) {
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

    private Behavior<LoadGenerator.Command> onHeard(LoadGenerator.Heard heard) {
        if (heard.event() instanceof RequestEvent.Finished finished) {
            onEnded(finished.requestId(), finished.numOutputTokens(), finished.atNanos());
        } else if (heard.event() instanceof RequestEvent.Rejected rejected) {
            onEnded(rejected.requestId(), 0, rejected.atNanos());
        } else if (heard.event() instanceof RequestEvent.Failed failed) {
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

    private Behavior<LoadGenerator.Command> onStop(LoadGenerator.Stop now) {
        isStopped = true;
        next.cancel();
        tellStopped();
        return this;
    }

    private Behavior<LoadGenerator.Command> onPostStop(PostStop signal) {
        next.cancel();
        workload.close();
        return this;
    }

    private void tellStopped() {
        workload.warning().ifPresent(getContext().getLog()::warn);
        owner.tell(new LoadGenerator.Stopped(schedule.numPlanned(), schedule.numSent(), schedule.numAbandoned()));
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
            next.cancel();
            next = clock.tellAfter(nextNanos - clock.nowNanos(), getContext().getSelf(), LoadGenerator.SendDue.NOW);
        }
    }
}

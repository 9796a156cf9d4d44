package understudy.sweep.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.delivery.ConsumerController;
import org.apache.pekko.actor.typed.delivery.WorkPullingProducerController;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.receptionist.Receptionist;
import org.apache.pekko.actor.typed.receptionist.ServiceKey;
import org.jspecify.annotations.Nullable;
import understudy.settings.ScenarioException;
import understudy.sweep.PointResult;
import understudy.sweep.SweepPoint;

/** Gives the points of a sweep to workers of its own build, and takes each result once. */
final class Driver extends AbstractBehavior<Driver.Command> {
    sealed interface Command {}

    /** Asks for work; repeated until there is an answer. */
    record Hello(String build, int numSlots, ActorRef<Worker.Command> worker, String signature)
            implements Command, RemoteMessage {}

    /** Says why a worker cannot take part. */
    record Unfit(String reason, ActorRef<Worker.Command> worker, String signature) implements Command, RemoteMessage {}

    /** A run has ended; repeated until there is an answer. */
    record Ran(String name, String result, ActorRef<Slot.Command> slot, String signature)
            implements Command, RemoteMessage {}

    /** A run has failed, by bad input or by a defect; repeated until there is an answer. */
    record Failed(String name, String reason, boolean isBadInput, ActorRef<Slot.Command> slot, String signature)
            implements Command, RemoteMessage {}

    record Submit(SweepPoint point, CompletableFuture<PointResult> result) implements Command {}

    /** Ends the driver, and the workers too if the sweep is over; else they wait for the next driver. */
    record End(boolean isOver) implements Command {}

    private record Demand(WorkPullingProducerController.RequestNext<Work> next) implements Command {}

    private record Left(ActorRef<Worker.Command> worker) implements Command {}

    private record EndLimit() implements Command {}

    static final ServiceKey<Command> KEY = ServiceKey.create(Command.class, "driver");
    static final ServiceKey<ConsumerController.Command<Work>> WORK =
            ServiceKey.create(ConsumerController.serviceKeyClass(), "work");

    private static final Duration END_LIMIT = Duration.ofSeconds(4);

    private final Offer offer;
    private final Queue<Submit> queue = new ArrayDeque<>();
    private final Map<String, CompletableFuture<PointResult>> underWay = new HashMap<>();
    private final Set<ActorRef<Worker.Command>> workers = new HashSet<>();
    private final Set<String> strangers = new HashSet<>();
    private WorkPullingProducerController.@Nullable RequestNext<Work> demand;
    private boolean isEnding;

    private Driver(ActorContext<Command> context, Offer offer) {
        super(context);
        this.offer = offer;
        var producer = context.spawn(
                WorkPullingProducerController.create(Work.class, "driver", WORK, Optional.empty()), "producer");
        producer.tell(new WorkPullingProducerController.Start<>(
                context.messageAdapter(WorkPullingProducerController.requestNextClass(), Demand::new)));
        context.getSystem().receptionist().tell(Receptionist.register(KEY, context.getSelf()));
    }

    static Behavior<Command> create(Offer offer) {
        return Behaviors.setup(context -> new Driver(context, offer));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Hello.class, this::onHello)
                .onMessage(Unfit.class, this::onUnfit)
                .onMessage(Left.class, this::onLeft)
                .onMessage(Submit.class, this::onSubmit)
                .onMessage(Demand.class, this::onDemand)
                .onMessage(Ran.class, this::onRan)
                .onMessage(Failed.class, this::onFailed)
                .onMessage(End.class, this::onEnd)
                .onMessage(EndLimit.class, limit -> Behaviors.stopped())
                .build();
    }

    private Behavior<Command> onHello(Hello hello) {
        var worker = hello.worker();
        if (!offer.secret().hasSigned(hello.signature(), "hello", hello.build())) {
            if (strangers.add(Node.of(worker))) {
                offer.log().accept("worker " + Node.of(worker) + " is refused: it has another secret");
            }
            worker.tell(new Worker.Refused(offer.build(), ""));
        } else if (isEnding) {
            worker.tell(over());
        } else if (!hello.build().equals(offer.build())) {
            worker.tell(new Worker.Refused(offer.build(), offer.secret().sign("refused", offer.build())));
            offer.log()
                    .accept("worker " + Node.of(worker) + " is refused: it is " + hello.build() + ", and this is "
                            + offer.build());
        } else if (workers.add(worker)) {
            getContext().watchWith(worker, new Left(worker));
            offer.log().accept("worker " + Node.of(worker) + " joins: " + hello.numSlots() + " runs at a time");
            worker.tell(welcome());
        } else {
            worker.tell(welcome());
        }
        offer.numWorkers().set(workers.size());
        return this;
    }

    private Worker.Welcome welcome() {
        return new Worker.Welcome(
                offer.inputs(),
                offer.job().stopsHopeless(),
                offer.sweep(),
                offer.secret().sign("welcome", offer.sweep()));
    }

    private Worker.Over over() {
        return new Worker.Over(offer.secret().sign("over", offer.sweep()));
    }

    private Behavior<Command> onUnfit(Unfit unfit) {
        if (!offer.secret().hasSigned(unfit.signature(), "unfit", unfit.reason())) {
            return this;
        }
        offer.log().accept("worker " + Node.of(unfit.worker()) + " cannot take part: " + unfit.reason());
        return this;
    }

    private Behavior<Command> onLeft(Left left) {
        workers.remove(left.worker());
        offer.numWorkers().set(workers.size());
        if (!isEnding) {
            offer.log().accept("worker " + Node.of(left.worker()) + " is gone; what it had is run elsewhere");
        }
        return isEnding && workers.isEmpty() ? Behaviors.stopped() : this;
    }

    private Behavior<Command> onSubmit(Submit submit) {
        queue.add(submit);
        give();
        return this;
    }

    private Behavior<Command> onDemand(Demand demanded) {
        demand = demanded.next();
        give();
        return this;
    }

    /** One point for each demand; its settings are put together only now, for there may be a million points. */
    private void give() {
        while (demand != null && !queue.isEmpty()) {
            var next = queue.remove();
            String name = next.point().name();
            try {
                // JSON, which knows no includes: a worker's files and what it reaches stay its own.
                String settings = offer.job().merged(next.point()).json();
                String signature = offer.secret().sign("work", offer.sweep(), name, settings);
                underWay.put(name, next.result());
                demand.sendNextTo().tell(new Work(offer.sweep(), name, settings, signature));
                demand = null;
            } catch (ScenarioException e) {
                next.result().completeExceptionally(e);
            }
        }
    }

    private Behavior<Command> onRan(Ran ran) {
        if (!offer.secret().hasSigned(ran.signature(), "ran", offer.sweep(), ran.name(), ran.result())) {
            return this;
        }
        var result = underWay.remove(ran.name());
        if (result != null) {
            try {
                result.complete(PointResult.fromJson(ran.result()));
            } catch (JsonProcessingException | IllegalArgumentException e) {
                result.completeExceptionally(e);
            }
        }
        ran.slot().tell(new Slot.Kept(ran.name()));
        return this;
    }

    private Behavior<Command> onFailed(Failed failed) {
        if (!offer.secret().hasSigned(failed.signature(), "failed", offer.sweep(), failed.name(), failed.reason())) {
            return this;
        }
        var result = underWay.remove(failed.name());
        if (result != null) {
            String reason = failed.reason();
            result.completeExceptionally(
                    failed.isBadInput()
                            ? new ScenarioException(reason)
                            : new IllegalStateException("worker " + Node.of(failed.slot()) + ": " + reason));
        }
        failed.slot().tell(new Slot.Kept(failed.name()));
        return this;
    }

    private Behavior<Command> onEnd(End end) {
        isEnding = true;
        if (!end.isOver() || workers.isEmpty()) {
            return Behaviors.stopped();
        }
        workers.forEach(worker -> worker.tell(over()));
        getContext().scheduleOnce(END_LIMIT, getContext().getSelf(), new EndLimit());
        return this;
    }
}

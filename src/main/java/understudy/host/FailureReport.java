package understudy.host;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.BehaviorInterceptor;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Report of the exception that ends an actor. Actors without a parent of ours, such as a guardian, would else end
 * unnoticed, and callers that wait for them would wait for ever.
 */
final class FailureReport extends BehaviorInterceptor<Object, Object> {
    private final Consumer<? super RuntimeException> report;

    private FailureReport(Consumer<? super RuntimeException> report) {
        super(Object.class);
        this.report = report;
    }

    /** Returns a behavior whose exceptions are reported, on the thread of the actor, before they end it. */
    static <T> Behavior<T> of(Behavior<T> behavior, Consumer<? super RuntimeException> report) {
        return Behaviors.intercept(() -> new FailureReport(report), behavior.<Object>unsafeCast())
                .unsafeCast();
    }

    @Override
    public Behavior<Object> aroundStart(TypedActorContext<Object> context, PreStartTarget<Object> target) {
        return reporting(() -> target.start(context));
    }

    @Override
    public Behavior<Object> aroundReceive(
            TypedActorContext<Object> context, Object message, ReceiveTarget<Object> target) {
        try {
            return target.apply(context, message);
        } catch (RuntimeException e) {
            report.accept(e);
            throw e;
        }
    }

    @Override
    public Behavior<Object> aroundSignal(
            TypedActorContext<Object> context, Signal signal, SignalTarget<Object> target) {
        return reporting(() -> target.apply(context, signal));
    }

    private Behavior<Object> reporting(Supplier<Behavior<Object>> step) {
        try {
            return step.get();
        } catch (RuntimeException e) {
            report.accept(e);
            throw e;
        }
    }
}

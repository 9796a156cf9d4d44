package understudy.host;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Question to an actor of the emulation from outside. Pekko's own {@code ask} would take its time-out from the virtual
 * clock.
 */
public final class Reply {
    private static final long TIMEOUT_SECONDS = 10;
    private static final AtomicLong NUM_QUESTIONS = new AtomicLong();

    /** The emulation has not answered in time. */
    public static final class NoAnswerException extends RuntimeException {
        NoAnswerException(String message) {
            super(message);
        }
    }

    private enum GiveUp {
        NOW
    }

    private Reply() {}

    /**
     * Sends a question, and returns the answer; after some seconds of wall time without one, a {@link
     * NoAnswerException}.
     *
     * @param outside an ordinary actor system, in which the answer is received
     * @param question makes the message, from the address to answer to
     */
    public static <Q, A> CompletionStage<A> ask(
            ActorSystem<?> outside, ActorRef<Q> to, Class<A> type, Function<ActorRef<A>, Q> question) {
        return ask(outside, type, address -> to.tell(question.apply(address)));
    }

    /**
     * Asks likewise.
     *
     * @param asker sends the question, with the address to answer to
     */
    public static <A> CompletionStage<A> ask(ActorSystem<?> outside, Class<A> type, Consumer<ActorRef<A>> asker) {
        var answer = new CompletableFuture<A>();
        var address = receiver(outside, type, answer);
        asker.accept(address.narrow());
        return answer.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).exceptionally(timeout -> {
            address.tell(GiveUp.NOW);
            throw new NoAnswerException("The emulation has not answered within " + TIMEOUT_SECONDS + " s.");
        });
    }

    /** Asks for what takes virtual time, and waits for the answer as long as that takes. */
    public static <Q, A> CompletionStage<A> await(
            ActorSystem<?> outside, ActorRef<Q> to, Class<A> type, Function<ActorRef<A>, Q> question) {
        var answer = new CompletableFuture<A>();
        to.tell(question.apply(receiver(outside, type, answer).narrow()));
        return answer;
    }

    private static <A> ActorRef<Object> receiver(ActorSystem<?> outside, Class<A> type, CompletableFuture<A> answer) {
        Behavior<Object> receiver = Behaviors.receive(Object.class)
                .onMessage(type, message -> {
                    answer.complete(message);
                    return Behaviors.stopped();
                })
                .onAnyMessage(other -> Behaviors.stopped())
                .build();
        return outside.systemActorOf(receiver, "reply-" + NUM_QUESTIONS.incrementAndGet(), Props.empty());
    }
}

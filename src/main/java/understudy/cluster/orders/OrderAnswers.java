package understudy.cluster.orders;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Answers of replicas to an order that several of them got: waits for all, and tells whether all have done it. */
public final class OrderAnswers {
    private final ActorRef<? super AllDone> replyTo;
    private int numAwaited;
    private boolean areAllDone = true;

    private OrderAnswers(int numAwaited, ActorRef<? super AllDone> replyTo) {
        this.numAwaited = numAwaited;
        this.replyTo = replyTo;
    }

    /** Answer of one replica: whether it has done what it was told. */
    public record Done(int replicaIndex, boolean isDone) {}

    /** Result: whether all replicas have done what they were told; also true if there are none. */
    public record AllDone(boolean isDone) {}

    /** Creates an actor that takes {@code numAwaited} answers, 0 or more, and stops after the last. */
    public static Behavior<Done> create(int numAwaited, ActorRef<? super AllDone> replyTo) {
        var answers = new OrderAnswers(numAwaited, replyTo);
        return Behaviors.setup(context -> numAwaited == 0 ? answers.end() : Behaviors.receiveMessage(answers::onDone));
    }

    private Behavior<Done> onDone(Done done) {
        areAllDone &= done.isDone;
        return --numAwaited == 0 ? end() : Behaviors.same();
    }

    private Behavior<Done> end() {
        replyTo.tell(new AllDone(areAllDone));
        return Behaviors.stopped();
    }
}

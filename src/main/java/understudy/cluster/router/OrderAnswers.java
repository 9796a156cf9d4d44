package understudy.cluster.router;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import understudy.cluster.Replica;
import understudy.cluster.Router;

/** Answers of replicas to an order that several of them got: waits for all, and tells whether all have done it. */
final class OrderAnswers {
    private final ActorRef<? super Router.AllDone> replyTo;
    private int numAwaited;
    private boolean areAllDone = true;

    private OrderAnswers(int numAwaited, ActorRef<? super Router.AllDone> replyTo) {
        this.numAwaited = numAwaited;
        this.replyTo = replyTo;
    }

    /** Creates an actor that takes {@code numAwaited} answers, 0 or more, and stops after the last. */
    static Behavior<Replica.Done> create(int numAwaited, ActorRef<? super Router.AllDone> replyTo) {
        var answers = new OrderAnswers(numAwaited, replyTo);
        return Behaviors.setup(context -> numAwaited == 0 ? answers.end() : Behaviors.receiveMessage(answers::onDone));
    }

    private Behavior<Replica.Done> onDone(Replica.Done done) {
        areAllDone &= done.isDone();
        return --numAwaited == 0 ? end() : Behaviors.same();
    }

    private Behavior<Replica.Done> end() {
        replyTo.tell(new Router.AllDone(areAllDone));
        return Behaviors.stopped();
    }
}

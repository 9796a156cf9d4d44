package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;

/** What a replica must not do while it plans a step, and does right after it: the answers of the memory come first. */
final class DeferredCommands {
    /** Above the number of requests that anybody sends; more is a defect. */
    static final int CAPACITY = 1 << 20;

    private final StashBuffer<Replica.Command> stash;

    DeferredCommands(StashBuffer<Replica.Command> stash) {
        this.stash = stash;
    }

    void add(Replica.Command command) {
        stash.stash(command);
    }

    /** Lets {@code behavior} do what has been put off, before any other message. */
    Behavior<Replica.Command> doneBy(Behavior<Replica.Command> behavior) {
        return stash.isEmpty() ? behavior : stash.unstashAll(behavior);
    }

    /** Tells the router of all aborts once more, after the requests that a replica which has crashed has sent back to it. */
    void passAbortsOn(ActorRef<Router.Command> router) {
        stash.forEach(command -> {
            if (command instanceof Replica.Abort abort) {
                router.tell(new Router.Abort(abort.requestId()));
            }
        });
    }
}

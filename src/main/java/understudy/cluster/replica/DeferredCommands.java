package understudy.cluster.replica;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;
import understudy.cluster.Replica;
import understudy.cluster.Router;

/**
 * Commands that a replica must not carry out while it plans a step, and carries out right after it: the answers of the
 * memory come first.
 */
final class DeferredCommands {
    /** Limit above any number of requests in use; more is a defect. */
    static final int CAPACITY = 1 << 20;

    private final StashBuffer<Replica.Command> stash;

    DeferredCommands(StashBuffer<Replica.Command> stash) {
        this.stash = stash;
    }

    void add(Replica.Command command) {
        stash.stash(command);
    }

    /** Has {@code behavior} handle the deferred commands before any other message. */
    Behavior<Replica.Command> doneBy(Behavior<Replica.Command> behavior) {
        return stash.isEmpty() ? behavior : stash.unstashAll(behavior);
    }

    /**
     * Tells the router of all aborts once more, after the requests that a replica which has crashed has sent back to
     * it.
     */
    void passAbortsOn(ActorRef<Router.Command> router) {
        stash.forEach(command -> {
            if (command instanceof Replica.Abort abort) {
                router.tell(new Router.Abort(abort.requestId()));
            }
        });
    }
}

package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.report.ReplicaCounters;

/** What is left of a replica that has no more requests: it waits for the last word of its memory, hands over, and stops. */
final class LastWords {
    private final ReplicaCounters counters;
    private final @Nullable ActorRef<? super Replica.Gone> owner;

    private LastWords(ReplicaCounters counters, @Nullable ActorRef<? super Replica.Gone> owner) {
        this.counters = counters;
        this.owner = owner;
    }

    /** Returns what a replica does from now on, once it has asked its memory for an audit. */
    static Behavior<Replica.Command> create(ReplicaCounters counters, @Nullable ActorRef<? super Replica.Gone> owner) {
        var lastWords = new LastWords(counters, owner);
        return Behaviors.receive(Replica.Command.class)
                .onMessage(KvBlockManager.Audited.class, lastWords::onAudited)
                .onAnyMessage(late -> Behaviors.same())
                .build();
    }

    private Behavior<Replica.Command> onAudited(KvBlockManager.Audited audited) {
        if (!audited.audit().isConserved()) {
            throw new IllegalStateException(
                    "block conservation: replica " + counters.replicaIndex() + " had " + audited.audit());
        }
        counters.onMemoryGone(audited.stats());
        if (owner != null) {
            owner.tell(new Replica.Gone(counters.replicaIndex(), counters));
        }
        return Behaviors.stopped();
    }
}

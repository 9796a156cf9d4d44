package understudy.cluster.replica;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.Replica;
import understudy.report.ReplicaCounters;

/** Shutdown of a replica without requests: waits for the last answer of its memory, hands over, and stops. */
final class ReplicaShutdown {
    private final ReplicaCounters counters;
    private final ReplicaEvents events;
    private final @Nullable ActorRef<? super Replica.Gone> owner;

    private ReplicaShutdown(
            ReplicaCounters counters, ReplicaEvents events, @Nullable ActorRef<? super Replica.Gone> owner) {
        this.counters = counters;
        this.events = events;
        this.owner = owner;
    }

    /** Returns what a replica does from now on, once it has asked its memory for an audit. */
    static Behavior<Replica.Command> create(
            ReplicaCounters counters, ReplicaEvents events, @Nullable ActorRef<? super Replica.Gone> owner) {
        var lastWords = new ReplicaShutdown(counters, events, owner);
        return Behaviors.receive(Replica.Command.class)
                .onMessage(KvBlockManager.Audited.class, lastWords::onAudited)
                .onMessage(Replica.Order.class, lastWords::onOrder)
                .onAnyMessage(late -> Behaviors.same())
                .build();
    }

    /** Answers orders, so that the asker is not left waiting; a stopped replica has nothing that is to be changed. */
    private Behavior<Replica.Command> onOrder(Replica.Order order) {
        order.replyTo().tell(new Replica.Done(counters.replicaIndex(), true));
        return Behaviors.same();
    }

    private Behavior<Replica.Command> onAudited(KvBlockManager.Audited audited) {
        if (!audited.audit().isConserved()) {
            throw new IllegalStateException(
                    "block conservation: replica " + counters.replicaIndex() + " had " + audited.audit());
        }
        counters.onPeakKvUsage(audited.peakUsage());
        counters.onMemoryGone(audited.stats(), audited.traffic(), audited.ownFigures());
        events.gone();
        if (owner != null) {
            owner.tell(new Replica.Gone(counters.lastRecord()));
        }
        return Behaviors.stopped();
    }
}

package understudy.cluster.replica;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import understudy.cluster.Replica;
import understudy.cluster.lockstep.DataParallelGroup;
import understudy.engine.RankRules;

/** Turns of a replica that are planned once its data-parallel group has agreed on them. */
final class RankTurns {
    private final int replicaIndex;
    private final ActorRef<DataParallelGroup.Command> group;
    private final ActorRef<DataParallelGroup.Agreed> self;

    RankTurns(ActorContext<Replica.Command> context, int replicaIndex, ActorRef<DataParallelGroup.Command> group) {
        this.replicaIndex = replicaIndex;
        this.group = group;
        self = context.messageAdapter(DataParallelGroup.Agreed.class, agreed -> new Replica.TakeTurn(agreed.turn()));
    }

    /** Says that there is something to plan; answered by {@link Replica.TakeTurn}. What was said last counts. */
    void propose(RankRules.Word word) {
        group.tell(new DataParallelGroup.Propose(replicaIndex, word, self));
    }
}

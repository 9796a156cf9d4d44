package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import understudy.engine.EngineRequest;
import understudy.engine.PlanSummary;
import understudy.engine.Planner;
import understudy.engine.StepPlan;
import understudy.kvcache.KvAsk;

/** A replica's talk with its memory: one question at a time while it plans a step, and what comes of the step afterwards. */
final class PlanConversation {
    private final Planner planner;
    private final ActorRef<KvBlockManager.Command> kvCache;
    private final ActorRef<Replica.Command> self;
    private final ReplicaPeers peers;

    PlanConversation(
            Planner planner,
            ActorRef<KvBlockManager.Command> kvCache,
            ActorRef<Replica.Command> self,
            ReplicaPeers peers) {
        this.peers = peers;
        this.planner = planner;
        this.kvCache = kvCache;
        this.self = self;
    }

    /** Asks what the planner wants to know, until it has to wait for an answer, or, with true, is done. */
    boolean goOn() {
        for (var ask = planner.next(); ask != null; ask = planner.next()) {
            kvCache.tell(new KvBlockManager.Ask(ask, self));
            if (ask.awaitsAnswer()) {
                return false;
            }
        }
        return true;
    }

    /** Has the memory tell the observer of plans, if there is one, what it holds after this one. */
    void describe(StepPlan plan) {
        if (peers.planObserver() != null) {
            kvCache.tell(new KvBlockManager.Describe(PlanSummary.of(plan, planner), peers.planObserver()));
        }
    }

    /** Gives back the blocks of a request that was preempted. */
    void release(EngineRequest preempted) {
        kvCache.tell(new KvBlockManager.Ask(new KvAsk.Release(preempted.handle(), preempted.lastStep()), self));
    }
}

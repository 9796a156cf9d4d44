package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import understudy.engine.EngineRequest;
import understudy.engine.PlanSummary;
import understudy.engine.Planner;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.kvcache.KvAsk;

/** A replica's talk with its memory: one question at a time while it plans a step, and what comes of the step afterwards. */
final class PlanConversation {
    private final int replicaIndex;
    private final Planner planner;
    private final ActorRef<KvBlockManager.Command> kvCache;
    private final ActorRef<Replica.Command> self;
    private final ReplicaPeers peers;

    PlanConversation(
            int replicaIndex,
            Planner planner,
            ActorRef<KvBlockManager.Command> kvCache,
            ActorRef<Replica.Command> self,
            ReplicaPeers peers) {
        this.replicaIndex = replicaIndex;
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

    /** Hands over what a step has brought. */
    void settle(StepResult result, long atNanos) {
        if (!result.settlement().isEmpty()) {
            kvCache.tell(new KvBlockManager.Settle(result.settlement().build()));
        }
        publishEvents(atNanos);
    }

    /** Has the memory publish what has changed, if anybody wants to know. */
    void publishEvents(long atNanos) {
        if (peers.wantKvEvents()) {
            kvCache.tell(new KvBlockManager.PublishEvents(
                    replicaIndex,
                    atNanos,
                    peers.kvEventSubscriber(),
                    peers.listeners().kvEvents()));
        }
    }

    /** Gives back the blocks of a request that was preempted. */
    void release(EngineRequest preempted) {
        kvCache.tell(new KvBlockManager.Ask(new KvAsk.Release(preempted.handle(), preempted.lastStep()), self));
    }
}

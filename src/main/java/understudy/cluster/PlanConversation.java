package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import understudy.engine.EngineRequest;
import understudy.engine.Planner;

/** A replica's talk with its memory while it plans a step: one question at a time. */
final class PlanConversation {
    private final Planner planner;
    private final ActorRef<KvBlockManager.Command> kvCache;
    private final ActorRef<Replica.Command> self;

    PlanConversation(Planner planner, ActorRef<KvBlockManager.Command> kvCache, ActorRef<Replica.Command> self) {
        this.planner = planner;
        this.kvCache = kvCache;
        this.self = self;
    }

    /** Carries out what the planner asks for, until it has to wait for an answer, or, with true, is done. */
    boolean goOn() {
        while (true) {
            switch (planner.next()) {
                case RELEASE -> release(planner.takeRequestToRelease());
                case RESERVE -> {
                    kvCache.tell(new KvBlockManager.Reserve(planner.reservation(), self));
                    return false;
                }
                case ADMIT -> {
                    kvCache.tell(new KvBlockManager.Admit(planner.admissionRequest(), self));
                    return false;
                }
                case MATCH -> {
                    kvCache.tell(new KvBlockManager.Match(planner.lookups(), self));
                    return false;
                }
                case DONE -> {
                    return true;
                }
            }
        }
    }

    private void release(EngineRequest preempted) {
        kvCache.tell(new KvBlockManager.Release(preempted.handle(), preempted.lastStep()));
    }
}

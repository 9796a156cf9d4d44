package understudy.cluster;

import understudy.engine.StepResult;
import understudy.runtime.Clock;

/** Tells everybody whom it concerns what a step of a replica has brought: clients, metrics, and the memory. */
final class StepOutcome {
    private final int replicaIndex;
    private final Clock clock;
    private final ReplicaPeers peers;
    private final ClientTable clients;
    private final PlanConversation conversation;
    private final BrokenAnswers brokenAnswers;
    private final EngineStatsReporter stats;

    StepOutcome(
            int replicaIndex,
            Clock clock,
            ReplicaPeers peers,
            ClientTable clients,
            PlanConversation conversation,
            BrokenAnswers brokenAnswers,
            EngineStatsReporter stats) {
        this.replicaIndex = replicaIndex;
        this.clock = clock;
        this.peers = peers;
        this.clients = clients;
        this.conversation = conversation;
        this.brokenAnswers = brokenAnswers;
        this.stats = stats;
    }

    /**
     * Tells of a step that has ended.
     *
     * @param numTokens that were scheduled
     */
    void tell(StepResult result, int numTokens, long endNanos) {
        clients.onSampled(result.sampled(), endNanos);
        stats.onSampled(result.sampled(), endNanos);
        var ended = clients.finish(result.finished());
        peers.metrics().tell(MetricsCollector.StepObserved.of(replicaIndex, endNanos, numTokens, result, ended));
        conversation.settle(result, clock.nowNanos());
        brokenAnswers.cut(result, endNanos);
        stats.reportCache();
        stats.reportStep();
    }
}

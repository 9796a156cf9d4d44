package understudy.chaos.gateway.reference;

import java.util.Set;
import understudy.prompt.Prompt;

/** What a gateway knows of one replica's load and cache, by its own doing, by metrics and by KV events. */
final class ReplicaSignals {
    private static final Set<WrongDecision> EVENTS_ALONE = Set.of(
            WrongDecision.BELIEVES_LATE_EVENTS,
            WrongDecision.SKIPS_LOST_EVENTS,
            WrongDecision.WAITS_FOR_LOST_EVENTS,
            WrongDecision.TAKES_RESTART_FOR_OLD,
            WrongDecision.TAKES_DUPLICATE_FOR_RESTART,
            WrongDecision.ASSUMES_BLOCK_SIZE);

    final ReplicaLoad load;

    private final boolean believesEventsAlone;
    private final KvEventSequence sequence;
    private final CachedBlocks cached;
    private final SentPrefixes sent = new SentPrefixes();

    ReplicaSignals(WrongDecision wrong) {
        load = new ReplicaLoad(wrong);
        sequence = new KvEventSequence(wrong);
        cached = new CachedBlocks(wrong);
        believesEventsAlone = EVENTS_ALONE.contains(wrong);
    }

    void onKvEvents(KvEventBatch batch, long nowNanos) {
        var step = sequence.offer(batch, nowNanos);
        if (step.isIncomplete()) {
            cached.clear();
        }
        step.batches().forEach(each -> cached.apply(each.events()));
    }

    void onSent(Prompt prompt, long nowNanos) {
        sent.onSent(prompt, nowNanos);
    }

    /** Forgets what was cached: the replica is gone, and will come back with an empty cache. */
    void forget() {
        cached.clear();
        sent.clear();
    }

    /** Returns how many leading tokens of a prompt the replica has cached. */
    int cachedTokens(Prompt prompt, long nowNanos) {
        int told = cached.tokens(prompt);
        return believesEventsAlone ? told : Math.max(told, sent.tokens(prompt, nowNanos));
    }
}

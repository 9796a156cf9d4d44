package understudy.chaos.gateway.reference;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Order of a replica's batches of KV events. A batch that comes early waits for those before it, one that comes twice or
 * late for nothing is left out, and one that does not come is given up. Numbers that begin again are told from old ones by
 * the engine's time stamps: what is newer than all before it and has a lower number is of a new sequence.
 */
final class KvEventSequence {
    /** Batches that wait for a missing one at most, and how long. */
    private static final int MAX_WAITING = 8;

    private static final long MAX_WAIT_NANOS = 200_000_000L;
    private static final int MAX_WAITING_FOR_EVER = 10_000;
    private static final long UNKNOWN = -1;

    private final WrongDecision wrong;
    private final TreeMap<Long, KvEventBatch> waiting = new TreeMap<>();
    private long waitingSinceNanos;
    private long next = UNKNOWN;
    private double lastSeconds = Double.NEGATIVE_INFINITY;

    /**
     * What to do now.
     *
     * @param isIncomplete whether batches before these are not known and never will be, so that nothing is certain that was
     *     known before
     * @param batches to be applied, in order
     */
    record Step(boolean isIncomplete, List<KvEventBatch> batches) {
        private static final Step NOTHING = new Step(false, List.of());
    }

    KvEventSequence(WrongDecision wrong) {
        this.wrong = wrong;
    }

    /** Takes a batch that has come. */
    Step offer(KvEventBatch batch, long nowNanos) {
        if (next == UNKNOWN) {
            return begin(batch);
        }
        if (batch.sequence() < next) {
            return isOfNewSequence(batch) ? begin(batch) : Step.NOTHING;
        }
        if (batch.atSeconds() < lastSeconds) {
            // Left over from a sequence before this one.
            return Step.NOTHING;
        }
        if (batch.sequence() == next || wrong == WrongDecision.SKIPS_LOST_EVENTS) {
            next = batch.sequence();
            return new Step(false, withFollowing(batch));
        }
        if (waiting.size() == MAX_WAITING_FOR_EVER) {
            return Step.NOTHING;
        }
        if (waiting.isEmpty()) {
            waitingSinceNanos = nowNanos;
        }
        waiting.put(batch.sequence(), batch);
        boolean isLost = waiting.size() > MAX_WAITING || nowNanos - waitingSinceNanos > MAX_WAIT_NANOS;
        return isLost && wrong != WrongDecision.WAITS_FOR_LOST_EVENTS ? givenUp() : Step.NOTHING;
    }

    private boolean isOfNewSequence(KvEventBatch batch) {
        return switch (wrong) {
            case TAKES_RESTART_FOR_OLD -> false;
            case TAKES_DUPLICATE_FOR_RESTART -> true;
            default -> batch.atSeconds() > lastSeconds;
        };
    }

    private Step begin(KvEventBatch first) {
        waiting.clear();
        next = first.sequence();
        return new Step(true, withFollowing(first));
    }

    private Step givenUp() {
        var first = waiting.pollFirstEntry().getValue();
        next = first.sequence();
        return new Step(true, withFollowing(first));
    }

    /** Returns a batch and those that wait and come right behind it. */
    private List<KvEventBatch> withFollowing(KvEventBatch first) {
        var batches = new ArrayList<KvEventBatch>();
        for (var batch = first; batch != null; batch = waiting.remove(next)) {
            batches.add(batch);
            lastSeconds = batch.atSeconds();
            next = batch.sequence() + 1;
        }
        return batches;
    }
}

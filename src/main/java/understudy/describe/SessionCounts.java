package understudy.describe;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import understudy.prompt.SessionTurn;

/** Sessions of a trace, and how long they pause between the arrivals of their turns. */
final class SessionCounts {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Long2IntOpenHashMap turns = new Long2IntOpenHashMap();
    private final Long2LongOpenHashMap latestNanos = new Long2LongOpenHashMap();
    private final ValueCounts pauseMillis = new ValueCounts();

    void add(SessionTurn turn, long atNanos) {
        if (!turn.isInSession()) {
            return;
        }
        if (turns.addTo(turn.sessionId(), 1) > 0) {
            pauseMillis.addRounded((atNanos - latestNanos.get(turn.sessionId())) / NANOS_PER_MILLI);
        }
        latestNanos.put(turn.sessionId(), atNanos);
    }

    /** Returns how many turns sessions have. */
    ValueCounts turns() {
        var counts = new ValueCounts();
        turns.values().forEach(counts::add);
        return counts;
    }

    ValueCounts pauseMillis() {
        return pauseMillis;
    }
}

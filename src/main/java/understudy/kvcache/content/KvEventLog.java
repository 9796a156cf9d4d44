package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.ArrayList;
import java.util.List;
import understudy.kvcache.KvEvent;

/** Collects the events of a step, in order. Does nothing, and costs nothing, unless they are wanted. */
final class KvEventLog {
    private final boolean enabled;
    private final LongArrayList removed = new LongArrayList();
    private final List<KvEvent> events = new ArrayList<>();

    KvEventLog(boolean enabled) {
        this.enabled = enabled;
    }

    boolean isEnabled() {
        return enabled;
    }

    void stored(KvEvent.Stored event) {
        closeRemoved();
        events.add(event);
    }

    void removed(long hash) {
        if (enabled) {
            removed.add(hash);
        }
    }

    void cleared() {
        if (enabled) {
            closeRemoved();
            events.add(new KvEvent.Cleared());
        }
    }

    /** Returns what was collected since the last call, and clears it. */
    List<KvEvent> drain() {
        closeRemoved();
        if (events.isEmpty()) {
            return List.of();
        }
        var drained = List.copyOf(events);
        events.clear();
        return drained;
    }

    private void closeRemoved() {
        if (!removed.isEmpty()) {
            events.add(new KvEvent.Removed(new LongImmutableList(removed)));
            removed.clear();
        }
    }
}

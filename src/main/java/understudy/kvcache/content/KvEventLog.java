package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import understudy.kvcache.KvEvent;

/** Collects the events of a step, in order. Does nothing, and costs nothing, unless they are wanted. */
public class KvEventLog {
    private final boolean enabled;
    private final LongArrayList removed = new LongArrayList();
    private int groupOfRemoved;
    private final List<KvEvent> events = new ArrayList<>();

    /** Creates an empty log. */
    public KvEventLog(boolean enabled) {
        this.enabled = enabled;
    }

    /** Returns whether events are wanted. */
    public boolean isEnabled() {
        return enabled;
    }

    /** Adds an event. */
    public void stored(KvEvent.Stored event) {
        if (enabled) {
            closeRemoved();
            events.add(event);
        }
    }

    /** Records that a block has lost its hash. */
    protected void removed(int block, long hash) {
        removedFrom(0, hash);
    }

    /** Adds the loss of content of one group. */
    protected final void removedFrom(int group, long hash) {
        if (enabled) {
            if (group != groupOfRemoved) {
                closeRemoved();
                groupOfRemoved = group;
            }
            removed.add(hash);
        }
    }

    /** Records that all blocks have lost their hashes. */
    protected void cleared() {
        if (enabled) {
            closeRemoved();
            events.add(new KvEvent.Cleared());
        }
    }

    /** Returns the events since the last call, and clears them. */
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
        var hashes = takeRemoved();
        if (!hashes.isEmpty()) {
            events.add(new KvEvent.Removed(hashes, groupOfRemoved));
        }
    }

    /** Returns the hashes that were removed since the last call, in order, and forgets them. */
    LongList takeRemoved() {
        if (removed.isEmpty()) {
            return LongList.of();
        }
        var taken = new LongImmutableList(removed);
        removed.clear();
        return taken;
    }
}

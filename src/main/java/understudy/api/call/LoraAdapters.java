package understudy.api.call;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * LoRA adapters by name, as clients ask for them (vLLM {@code OpenAIServingModels}). A replica's own port knows those that
 * were loaded there; the port of the cluster knows all of them. Thread-safe.
 */
public final class LoraAdapters {
    private final boolean isEnabled;
    private final Map<String, Entry> byName = new LinkedHashMap<>();

    /**
     * Adapter.
     *
     * @param path path of its files, as given; it is not read
     */
    public record Adapter(String name, String path) {}

    private static final class Entry {
        Adapter adapter;

        /** Those that have it, but if all of the cluster do. */
        final BitSet replicas = new BitSet();

        boolean isEverywhere;

        Entry(Adapter adapter) {
            this.adapter = adapter;
        }

        boolean isAt(OptionalInt replica) {
            return isEverywhere || replica.isEmpty() || replicas.get(replica.getAsInt());
        }
    }

    /**
     * Creates adapters that all replicas have.
     *
     * @param settings null without LoRA
     */
    public LoraAdapters(@Nullable LoraModules settings) {
        isEnabled = settings != null;
        if (settings != null) {
            settings.modules().forEach((name, path) -> add(name, path, OptionalInt.empty()));
        }
    }

    /** Returns whether there may be adapters. */
    public boolean areEnabled() {
        return isEnabled;
    }

    /**
     * Adds an adapter, or says from now on that it is at another path.
     *
     * @param replica index of the replica that gets it, or empty for all
     * @return false if it is there already
     */
    public synchronized boolean add(String name, String path, OptionalInt replica) {
        var entry = byName.computeIfAbsent(name, unknown -> new Entry(new Adapter(name, path)));
        boolean isNew = !entry.isAt(replica) || (replica.isEmpty() && !entry.isEverywhere);
        entry.adapter = new Adapter(name, path);
        if (replica.isPresent()) {
            entry.replicas.set(replica.getAsInt());
        } else {
            entry.isEverywhere = true;
        }
        return isNew;
    }

    /**
     * Removes an adapter.
     *
     * @param replica index of the replica that loses it, or empty for all
     * @return false if it is not there
     */
    public synchronized boolean remove(String name, OptionalInt replica, int numReplicas) {
        var entry = byName.get(name);
        if (entry == null || !entry.isAt(replica)) {
            return false;
        }
        if (replica.isPresent()) {
            if (entry.isEverywhere) {
                entry.isEverywhere = false;
                entry.replicas.set(0, numReplicas);
            }
            entry.replicas.clear(replica.getAsInt());
        }
        if (replica.isEmpty() || entry.replicas.isEmpty()) {
            byName.remove(name);
        }
        return true;
    }

    /** Returns whether an adapter can be asked for at a port. */
    public synchronized boolean isKnown(String name, OptionalInt replica) {
        var entry = byName.get(name);
        return entry != null && entry.isAt(replica);
    }

    /** Returns the adapters that can be asked for at a port, in the order in which they were loaded. */
    public synchronized List<Adapter> at(OptionalInt replica) {
        var found = new ArrayList<Adapter>();
        for (var entry : byName.values()) {
            if (entry.isAt(replica)) {
                found.add(entry.adapter);
            }
        }
        return found;
    }
}

package understudy.replay;

import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import java.util.Arrays;
import understudy.replay.cache.BlockCache;

/** A replayed cache that is asked for one key at a time, in the order of a stream that is known from the start. */
public final class ReplayedKeys {
    private final BlockCache cache;
    private final Int2IntOpenHashMap blockOf = new Int2IntOpenHashMap();

    /** Creates an empty cache for the keys of a stream. */
    public ReplayedKeys(ReplayPolicy policy, int capacity, int[] stream) {
        var requests = Arrays.stream(stream).mapToObj(key -> new int[] {key}).toArray(int[][]::new);
        var chunks = Traces.of(requests, 1, stream.length);
        cache = policy.create(ReplaySettings.of(policy, capacity, 1), NextUse.of(chunks));
        cache.reserve(stream.length);
    }

    /** Asks for the next key of the stream, and returns whether it was there. */
    public boolean access(int key) {
        int next = blockOf.size();
        blockOf.putIfAbsent(key, next);
        return cache.accessPrompt(new int[] {blockOf.get(key)}, 0, 1) == 1;
    }

    /** Returns the number of keys that are there. */
    public int size() {
        return cache.size();
    }
}

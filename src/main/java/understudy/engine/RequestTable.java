package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.jspecify.annotations.Nullable;

/** The unfinished requests of a replica by id, and the handles that name them to the KV cache. */
final class RequestTable {
    private final Long2ObjectOpenHashMap<EngineRequest> byId = new Long2ObjectOpenHashMap<>();
    private final IntArrayList unusedHandles = new IntArrayList();
    private int numHandles;

    EngineRequest add(Request request, long queuedNanos) {
        int handle = unusedHandles.isEmpty() ? numHandles++ : unusedHandles.popInt();
        var added = new EngineRequest(request, handle, queuedNanos);
        if (byId.putIfAbsent(request.id(), added) != null) {
            throw new IllegalArgumentException("request " + request.id() + " is here already");
        }
        return added;
    }

    @Nullable EngineRequest find(long id) {
        return byId.get(id);
    }

    void remove(EngineRequest request) {
        byId.remove(request.request().id());
        unusedHandles.push(request.handle());
    }

    /** Returns the prompt tokens that are not computed yet, of all requests. */
    long pendingPrefillTokens() {
        long sum = 0;
        for (var request : byId.values()) {
            // Once it decodes, this may lag behind, but not below the prompt.
            sum += Math.max(0, request.numPromptTokens() - request.numComputedTokens);
        }
        return sum;
    }

    int size() {
        return byId.size();
    }
}

package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.jspecify.annotations.Nullable;

/** Unfinished requests of an engine by id, and the handles that name them to the KV memory. */
public final class RequestTable<R extends EngineRequest> {
    private final Long2ObjectOpenHashMap<R> byId = new Long2ObjectOpenHashMap<>();
    private final IntArrayList unusedHandles = new IntArrayList();
    private final Maker<R> maker;
    private int numHandles;
    private int numHidden;

    /** Maker of an engine's requests. */
    @FunctionalInterface
    public interface Maker<R> {
        R create(Request request, int handle, long queuedNanos);
    }

    /** Creates an empty table. */
    public RequestTable(Maker<R> maker) {
        this.maker = maker;
    }

    /** Adds a request, with a handle that no other one has. */
    public R add(Request request, long queuedNanos) {
        int handle = unusedHandles.isEmpty() ? numHandles++ : unusedHandles.popInt();
        var added = maker.create(request, handle, queuedNanos);
        if (byId.putIfAbsent(request.id(), added) != null) {
            throw new IllegalArgumentException("request " + request.id() + " is here already");
        }
        return added;
    }

    /** Returns a request that has not ended, or null. */
    public @Nullable R find(long id) {
        return byId.get(id);
    }

    /**
     * Has a request found no more, which has not ended for its engine: another one with its id may come. It still counts
     * until it is removed.
     */
    public void hide(R request) {
        if (byId.remove(request.id(), request)) {
            numHidden++;
        }
    }

    /** Removes a request that has ended; its handle may be used again. */
    public void remove(EngineRequest request) {
        if (!byId.remove(request.id(), request)) {
            numHidden--;
        }
        unusedHandles.push(request.handle());
    }

    /** Returns the prompt tokens that are not computed yet, of all requests. */
    public long pendingPrefillTokens() {
        long sum = 0;
        for (var request : byId.values()) {
            sum += request.pendingPrefillTokens();
        }
        return sum;
    }

    /** Returns the number of requests. */
    public int size() {
        return byId.size() + numHidden;
    }
}

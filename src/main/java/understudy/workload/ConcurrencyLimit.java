package understudy.workload;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;

/**
 * Another workload with a limit on the requests in flight at a time, as {@code vllm bench serve --max-concurrency}:
 * what is due beyond the limit is sent as soon as an answer is complete. A session keeps its place while its user
 * thinks.
 */
public final class ConcurrencyLimit extends ChangedWorkload {
    private final int maxConcurrency;
    private final Long2LongOpenHashMap intendedById = new Long2LongOpenHashMap();
    private int numStarted;

    /**
     * Limits a workload.
     *
     * @param maxConcurrency most requests in flight, at least 1
     */
    public ConcurrencyLimit(Workload workload, int maxConcurrency) {
        super(workload);
        this.maxConcurrency = maxConcurrency;
    }

    @Override
    public @Nullable Request next() {
        if (numStarted == maxConcurrency) {
            return null;
        }
        numStarted++;
        return workload.next();
    }

    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        intendedById.remove(request.id());
        var turn = workload.followUp(request, numOutputTokens, atNanos);
        if (turn != null) {
            return turn;
        }
        var waiting = workload.next();
        if (waiting == null || waiting.arrivalNanos() >= atNanos) {
            return waiting;
        }
        intendedById.put(waiting.id(), waiting.arrivalNanos());
        return waiting.withArrivalNanos(atNanos);
    }

    @Override
    public long intendedNanos(Request request) {
        return intendedById.getOrDefault(request.id(), request.arrivalNanos());
    }
}

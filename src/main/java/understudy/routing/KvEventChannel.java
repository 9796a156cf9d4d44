package understudy.routing;

import java.util.ArrayList;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.kvcache.KvEvent;

/**
 * Channel of one replica's batches of KV events, of which some are lost. Batches are numbered, so the router sees with the
 * next one that arrives that some are missing; then it asks for a replay, and takes nothing until it has that, as vLLM's
 * subscribers can ({@code examples/online_serving/kv_events_subscriber.py}).
 */
public final class KvEventChannel {
    private final double loss;
    private final boolean hasReplay;
    private final UniformRandomProvider random;
    private final List<KvEvent> missing = new ArrayList<>();
    private boolean isReplayWanted;

    /** Creates a channel that draws losses from a random stream of its own. */
    public KvEventChannel(Wire wire, UniformRandomProvider random) {
        loss = wire.kvEventLoss();
        // If every batch is lost, no later one shows that batches are missing.
        hasReplay = wire.kvEventReplayNanos().isPresent() && loss < 1;
        this.random = random;
    }

    /** Takes a batch, and returns the events that the router applies now: none if it is lost, more after a replay. */
    public List<KvEvent> offer(List<KvEvent> batch) {
        boolean isLost = loss > 0 && random.nextDouble() < loss;
        if (!hasReplay) {
            return isLost ? List.of() : batch;
        }
        if (!isLost && missing.isEmpty()) {
            return batch;
        }
        missing.addAll(batch);
        isReplayWanted |= !isLost;
        return List.of();
    }

    /** Returns whether the router waits for a replay. */
    public boolean isReplayWanted() {
        return isReplayWanted;
    }

    /** Returns all that has been missing, in order. */
    public List<KvEvent> replay() {
        var all = List.copyOf(missing);
        clear();
        return all;
    }

    /** Forgets the missing events, since the replica has gone. */
    public void clear() {
        missing.clear();
        isReplayWanted = false;
    }
}

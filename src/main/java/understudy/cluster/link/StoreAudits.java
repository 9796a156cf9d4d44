package understudy.cluster.link;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;

/** Recounts of all stores that a replica uses. */
public final class StoreAudits {
    private final List<KvStore> stores;
    private final int replicaIndex;
    private final ActorRef<KvTier.Audited> replyTo;
    private final Map<KvSource, TierState> states = new EnumMap<>(KvSource.class);
    private final List<Runnable> whenDone = new ArrayList<>();
    private int numAwaited;

    /** @param replyTo hands each answer to {@link #onAudited} */
    public StoreAudits(List<KvStore> stores, int replicaIndex, ActorRef<KvTier.Audited> replyTo) {
        this.stores = stores;
        this.replicaIndex = replicaIndex;
        this.replyTo = replyTo;
    }

    /**
     * Recounts all stores, and runs {@code then} if they are sound.
     *
     * @param jobs all jobs of the replica that are under way
     */
    public void begin(LongList jobs, Runnable then) {
        if (stores.isEmpty()) {
            then.run();
            return;
        }
        whenDone.add(then);
        numAwaited += stores.size();
        stores.forEach(store -> store.tier().tell(new KvTier.Audit(replicaIndex, jobs, replyTo)));
    }

    /** A store has been found to be sound. */
    public void onAudited(KvTier.Audited audited) {
        states.put(audited.state().tier(), audited.state());
        if (--numAwaited == 0) {
            whenDone.forEach(Runnable::run);
            whenDone.clear();
        }
    }

    /** Returns the states that the last recount has found. */
    public Collection<TierState> states() {
        return states.values();
    }
}

package understudy.cluster.link;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.kvcache.connector.TierState;
import understudy.kvcache.tier.PrepareStoreOutput;
import understudy.kvcache.tier.TierAudit;
import understudy.kvcache.tier.TierCache;
import understudy.kvcache.tier.TierLookup;
import understudy.runtime.Clock;

/**
 * Slower memory behind the hosts of one replica or of all: it only knows its content. The actor that asks it moves the
 * bytes, over the {@link Link} that goes with it.
 */
public final class KvTier extends AbstractBehavior<KvTier.Command> {

    /** Messages of a tier. */
    public sealed interface Command {}

    /** Move of chunks to or from a replica, by its number there. */
    public record Job(int replicaIndex, long number) {}

    /** Asks how many leading chunks are there; they stay until {@link EndLoad}. Answered by {@link Found}. */
    public record Find(Job job, LongList keys, ActorRef<? super Found> replyTo) implements Command {}

    /** Asks which chunks are missing, and makes room for them. Answered by {@link StorePrepared}. */
    public record PrepareStore(Job job, LongList keys, ActorRef<? super StorePrepared> replyTo) implements Command {}

    /** Ends the use of chunks found for a job, whether its answer has arrived or not. */
    public record EndLoad(Job job) implements Command {}

    /** Ends the writing of chunks for which there was room, likewise. */
    public record EndStore(Job job, boolean isFailed) implements Command {}

    /**
     * Recounts everything; the tier fails if anything is wrong. Answered by {@link Audited}.
     *
     * @param jobs all jobs of the replica that are under way
     */
    public record Audit(int replicaIndex, LongList jobs, ActorRef<? super Audited> replyTo) implements Command {}

    /** The answer to {@link Find}. */
    public record Found(long job, LongList keys) {}

    /** The answer to {@link PrepareStore}: the chunks to write; none if there is no room, or they are there. */
    public record StorePrepared(long job, LongList keys) {}

    /** The answer to {@link Audit}. */
    public record Audited(TierAudit audit, TierState state) {}

    private final Clock clock;
    private final KvStoreSpec spec;
    private final TierCache tier;
    private final Map<Job, LongList> inUse = new HashMap<>();

    private KvTier(ActorContext<Command> context, Clock clock, KvStoreSpec spec) {
        super(context);
        this.clock = clock;
        this.spec = spec;
        tier = new TierCache(spec.tier());
    }

    /** Creates an empty tier. */
    public static Behavior<Command> create(Clock clock, KvStoreSpec spec) {
        return Behaviors.setup(context -> new KvTier(context, clock, spec));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Find.class, this::onFind)
                .onMessage(PrepareStore.class, this::onPrepareStore)
                .onMessage(EndLoad.class, this::onEndLoad)
                .onMessage(EndStore.class, this::onEndStore)
                .onMessage(Audit.class, this::onAudit)
                .build();
    }

    private Behavior<Command> onFind(Find find) {
        int numFound = 0;
        while (numFound < find.keys.size() && tier.lookup(find.keys.getLong(numFound)) == TierLookup.HIT) {
            numFound++;
        }
        tier.touch(find.keys);
        var found = new LongImmutableList(find.keys.subList(0, numFound));
        tier.prepareLoad(found);
        use(find.job, found);
        clock.tellAfter(spec.lookupNanos(), find.replyTo, new Found(find.job.number, found));
        return this;
    }

    private Behavior<Command> onPrepareStore(PrepareStore store) {
        var output = tier.prepareStore(store.keys);
        var wanted = output instanceof PrepareStoreOutput.Prepared prepared ? prepared.keys() : LongList.of();
        tier.touch(store.keys);
        var prepared = new LongImmutableList(wanted);
        use(store.job, prepared);
        store.replyTo.tell(new StorePrepared(store.job.number, prepared));
        return this;
    }

    private Behavior<Command> onEndLoad(EndLoad end) {
        release(end.job, tier::completeLoad);
        return this;
    }

    private Behavior<Command> onEndStore(EndStore end) {
        release(end.job, end.isFailed ? tier::failStore : tier::completeStore);
        return this;
    }

    private void use(Job job, LongList keys) {
        if (!keys.isEmpty()) {
            inUse.put(job, keys);
        }
    }

    private void release(Job job, LongConsumer end) {
        var keys = inUse.remove(job);
        if (keys != null) {
            keys.forEach(end);
        }
    }

    private Behavior<Command> onAudit(Audit audit) {
        var count = tier.audit();
        var left = inUse.keySet().stream()
                .filter(job -> job.replicaIndex == audit.replicaIndex && !audit.jobs.contains(job.number))
                .toList();
        if (!count.isConserved() || numInUse() != count.numPending() + count.numInRead() || !left.isEmpty()) {
            throw new IllegalStateException(
                    "block conservation: a store has " + count + ", " + numInUse() + " in use, left by " + left);
        }
        audit.replyTo.tell(
                new Audited(count, new TierState(spec.source(), spec.tier().numBlocks(), tier.stats())));
        return this;
    }

    private long numInUse() {
        return inUse.values().stream()
                .flatMapToLong(LongList::longStream)
                .distinct()
                .count();
    }
}

package understudy.cluster.link;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.kvcache.tier.PrepareStoreOutput;
import understudy.kvcache.tier.TierAudit;
import understudy.kvcache.tier.TierCache;
import understudy.kvcache.tier.TierLookup;
import understudy.runtime.Clock;

/**
 * Slower memory behind the hosts of one replica or of all: knows what it has. Who asks moves the bytes, over the {@link
 * Link} that goes with it.
 */
public final class KvTier extends AbstractBehavior<KvTier.Command> {

    /** Messages of a tier. */
    public sealed interface Command {}

    /** Asks how many leading chunks are there; they stay until {@link EndLoad}. Answered by {@link Found}. */
    public record Find(long job, LongList keys, ActorRef<? super Found> replyTo) implements Command {}

    /** Asks which chunks are missing, and makes room for them. Answered by {@link StorePrepared}. */
    public record PrepareStore(long job, LongList keys, ActorRef<? super StorePrepared> replyTo) implements Command {}

    /** Ends the use of chunks that were found. */
    public record EndLoad(LongList keys) implements Command {}

    /** Ends the writing of chunks for which there was room. */
    public record EndStore(LongList keys, boolean isFailed) implements Command {}

    /** Recounts everything. Answered by {@link Audited}. */
    public record Audit(ActorRef<? super Audited> replyTo) implements Command {}

    /** The answer to {@link Find}. */
    public record Found(long job, LongList keys) {}

    /** The answer to {@link PrepareStore}: the chunks to write; none if there is no room, or they are there. */
    public record StorePrepared(long job, LongList keys) {}

    /** The answer to {@link Audit}. */
    public record Audited(TierAudit audit) {}

    private final Clock clock;
    private final KvStoreSpec spec;
    private final TierCache tier;

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
        clock.tellAfter(spec.lookupNanos(), find.replyTo, new Found(find.job, found));
        return this;
    }

    private Behavior<Command> onPrepareStore(PrepareStore store) {
        var output = tier.prepareStore(store.keys);
        var wanted = output instanceof PrepareStoreOutput.Prepared prepared ? prepared.keys() : LongList.of();
        tier.touch(store.keys);
        store.replyTo.tell(new StorePrepared(store.job, new LongImmutableList(wanted)));
        return this;
    }

    private Behavior<Command> onEndLoad(EndLoad end) {
        end.keys.forEach(tier::completeLoad);
        return this;
    }

    private Behavior<Command> onEndStore(EndStore end) {
        if (end.isFailed) {
            end.keys.forEach(tier::failStore);
        } else {
            end.keys.forEach(tier::completeStore);
        }
        return this;
    }

    private Behavior<Command> onAudit(Audit audit) {
        audit.replyTo.tell(new Audited(tier.audit()));
        return this;
    }
}

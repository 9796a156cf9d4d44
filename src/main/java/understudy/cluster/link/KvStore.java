package understudy.cluster.link;

import org.apache.commons.rng.UniformRandomProvider;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import understudy.runtime.Clock;

/** A tier and its link, as those who use it know them. */
public record KvStore(KvStoreSpec spec, ActorRef<KvTier.Command> tier, ActorRef<Link.Command> link) {

    /** Starts and watches both actors, whose names begin alike. */
    public static KvStore start(
            ActorContext<?> context, Clock clock, KvStoreSpec spec, String name, UniformRandomProvider random) {
        var tier = context.spawn(KvTier.create(clock, spec), name);
        var link = context.spawn(Link.create(clock, spec.link(), random), name + "-link");
        context.watch(tier);
        context.watch(link);
        return new KvStore(spec, tier, link);
    }
}

package understudy.cluster.link;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
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

    /**
     * Starts the stores of one replica, and takes the one that all replicas have together; in the order of their settings.
     *
     * @param shared the latter; null if there is none
     * @param random source of chance failures of a store's link
     */
    public static List<KvStore> startAll(
            ActorContext<?> context,
            Clock clock,
            List<KvStoreSpec> specs,
            @Nullable KvStore shared,
            Supplier<UniformRandomProvider> random) {
        return specs.stream()
                .map(spec -> spec.isShared()
                        ? Objects.requireNonNull(shared)
                        : start(context, clock, spec, "disk", random.get()))
                .toList();
    }
}

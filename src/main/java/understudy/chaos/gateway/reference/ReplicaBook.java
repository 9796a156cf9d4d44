package understudy.chaos.gateway.reference;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.policy.RoutingPolicies;
import understudy.settings.Section;
import understudy.workload.RandomStreams;

/**
 * What the gateway knows of its replicas, and its choice among them: by a routing policy, out of those that are well, are
 * not to be left alone and have the model. Safe in any thread. Times are nanoseconds since the gateway's start.
 */
final class ReplicaBook {
    /** Prompt tokens per block; finer than the policy needs to tell sessions apart. */
    private static final int BLOCK_TOKENS = 16;

    private static final int MAX_MODEL_LEN = 1 << 20;
    private static final double CACHE_THRESHOLD = 0.3;

    /** Bytes that a token has, by which a threshold in characters would have to be greater. */
    private static final double CHARACTERS_PER_TOKEN = 4;

    /** A replica that was well by its probes and gave nothing is asked again after so long. */
    private static final long SUSPICION_NANOS = 2_000_000_000L;

    private static final long LACKING_NANOS = 2_000_000_000L;

    private final ClusterView view = new ClusterView();
    private final RoutingPolicy policy;
    private final List<ReplicaSignals> signals;
    private final WrongDecision wrong;
    private final int numReplicas;
    private final boolean[] isWell;
    private final long[] aloneUntilNanos;
    private final long[] refusesUntilNanos;
    private final long[] numEnded;
    private final Map<Lack, Long> lacking = new HashMap<>();
    private final Map<Integer, Integer> pins = new HashMap<>();
    private final Map<Integer, String> lists = new HashMap<>();
    private long numRequests;

    /** A model that a replica did not have. */
    private record Lack(int replica, String model) {}

    ReplicaBook(int numReplicas, boolean isInformed, WrongDecision wrong) {
        this.numReplicas = numReplicas;
        this.wrong = wrong;
        isWell = new boolean[numReplicas];
        Arrays.fill(isWell, wrong == WrongDecision.NO_HEALTH_CHECK);
        aloneUntilNanos = new long[numReplicas];
        refusesUntilNanos = new long[numReplicas];
        numEnded = new long[numReplicas];
        for (int i = 0; i < numReplicas; i++) {
            view.addReplica();
        }
        signals = Stream.generate(() -> new ReplicaSignals(wrong))
                .limit(numReplicas)
                .toList();
        policy = isInformed
                ? new InformedPolicy(signals)
                : policy(wrong)
                        .create(new RoutingPolicyFactory.Cluster(
                                new Xxh3BlockHasher(BLOCK_TOKENS), numReplicas, MAX_MODEL_LEN, new RandomStreams(1)));
    }

    /** A threshold in tokens lets more prompts follow the cache if characters are counted instead. */
    private static RoutingPolicyFactory policy(WrongDecision wrong) {
        double threshold = wrong == WrongDecision.PREFIXES_BY_CHARACTERS
                ? CACHE_THRESHOLD / CHARACTERS_PER_TOKEN
                : CACHE_THRESHOLD;
        var settings = Section.of(Map.of(
                "cache-threshold",
                threshold,
                "balance-abs-threshold",
                3,
                "balance-rel-threshold",
                1.5,
                "max-tree-tokens",
                MAX_MODEL_LEN));
        String name = wrong == WrongDecision.ROUND_ROBIN ? "round-robin" : "cache-aware";
        return Objects.requireNonNull(RoutingPolicies.byName().get(name)).read(PolicySettings.of(settings));
    }

    /**
     * Chooses a replica, and counts the request there; {@link #onEnded} takes it off again.
     *
     * @param tried replicas that are not asked again
     * @return its index, or -1 if there is none
     */
    synchronized int choose(PromptText prompt, BitSet tried, long nowNanos) {
        view.setNow(nowNanos);
        for (int i = 0; i < numReplicas; i++) {
            view.setReady(i, isWell[i]);
            view.setEjected(
                    i,
                    tried.get(i)
                            || isAlone(i, nowNanos)
                            || lacks(i, prompt.model(), nowNanos)
                            || signals.get(i).load.isTurnedAway(nowNanos));
        }
        int chosen = view.numReady() == 0 ? -1 : policy.choose(request(prompt, nowNanos), view);
        if (wrong == WrongDecision.STICKY_FOR_EVER) {
            var pinned = pins.get(prompt.session());
            chosen = pinned == null ? chosen : tried.get(pinned) ? -1 : pinned;
            if (chosen >= 0) {
                pins.put(prompt.session(), chosen);
            }
        }
        if (chosen >= 0) {
            view.onDispatched(chosen);
        }
        return chosen;
    }

    private Request request(PromptText prompt, long nowNanos) {
        return Request.of(numRequests++, nowNanos, prompt.prompt(), 1, new OutputPlan(index -> 0, 1));
    }

    private boolean isAlone(int replica, long nowNanos) {
        return nowNanos < aloneUntilNanos[replica] || nowNanos < refusesUntilNanos[replica];
    }

    private boolean lacks(int replica, String model, long nowNanos) {
        String listed = lists.get(replica);
        return nowNanos < lacking.getOrDefault(new Lack(replica, model), 0L)
                || (listed != null && !listed.contains('"' + model + '"'));
    }

    /** Returns how long all replicas refuse requests that are well; 0 if one does not, or none is well. */
    synchronized long refusedNanos(long nowNanos) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < numReplicas; i++) {
            if (isWell[i]) {
                least = Math.min(least, Math.max(0, refusesUntilNanos[i] - nowNanos));
            }
        }
        return least == Long.MAX_VALUE ? 0 : least;
    }

    synchronized boolean hasWell() {
        for (boolean well : isWell) {
            if (well) {
                return true;
            }
        }
        return false;
    }

    synchronized void onEnded(int replica) {
        view.onEnded(replica, ++numEnded[replica]);
    }

    /** Records what a probe said. */
    synchronized void onProbed(int replica, boolean isGood) {
        isWell[replica] = isGood;
        if (!isGood) {
            signals.get(replica).forget();
        }
    }

    /** Records the list of a replica's models, which a gateway that believes it takes for all that there are. */
    synchronized void onListed(int replica, String models) {
        lists.put(replica, models);
    }

    /** Records the metrics of a replica, or null if it gave none. */
    synchronized void onScraped(int replica, @Nullable String metrics, long nowNanos) {
        signals.get(replica).load.onScraped(metrics, view.outstanding(replica), nowNanos);
    }

    synchronized void onKvEvents(int replica, KvEventBatch batch, long nowNanos) {
        signals.get(replica).onKvEvents(batch, nowNanos);
    }

    /** Records that a replica broke a connection or did not take one: until a probe says otherwise, it is not well. */
    synchronized void onBroken(int replica) {
        if (wrong != WrongDecision.NO_HEALTH_CHECK) {
            isWell[replica] = false;
        }
    }

    /** Records that a replica sent nothing for too long, of which its probes know nothing. */
    synchronized void onStuck(int replica, long nowNanos) {
        if (wrong != WrongDecision.NO_HEALTH_CHECK) {
            aloneUntilNanos[replica] = nowNanos + SUSPICION_NANOS;
        }
    }

    synchronized void onRefused(int replica, long untilNanos) {
        if (wrong != WrongDecision.IGNORES_RETRY_AFTER) {
            refusesUntilNanos[replica] = Math.max(refusesUntilNanos[replica], untilNanos);
        }
    }

    synchronized void onLacking(int replica, String model, long nowNanos) {
        lacking.put(new Lack(replica, model), nowNanos + LACKING_NANOS);
    }
}

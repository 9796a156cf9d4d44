package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.engine.Request;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.workload.RandomStreams;

/** What holds for every policy. */
final class RoutingPolicyContractTest {
    private static final int REPLICAS = 5;

    /** They draw or hash, and look at no counts while nothing is under way. */
    private static final Set<String> EVEN_ON_AVERAGE = Set.of("random", "power-of-two", "prefix-hash");

    /** They send everything to one replica as long as it is not busy, as they are made to. */
    private static final Set<String> UNEVEN = Set.of("fill-first");

    /** The smallest value of every setting that is allowed, but so much of a load that is out of balance. */
    private static final PolicySettings SETTINGS = new PolicySettings() {
        @Override
        public double number(String key, double min, double max) {
            return min;
        }

        @Override
        public long wholeNumber(String key, long min, long max) {
            return Math.max(min, 3);
        }

        @Override
        public String choice(String key, List<String> names) {
            return names.get(0);
        }

        @Override
        public boolean bool(String key) {
            return false;
        }

        @Override
        public double nanos(String key) {
            return 0;
        }
    };

    static Stream<Named<Supplier<RoutingPolicy>>> policies() {
        return policies(name -> true);
    }

    static Stream<Named<Supplier<RoutingPolicy>>> evenPolicies() {
        return policies(name -> !EVEN_ON_AVERAGE.contains(name) && !UNEVEN.contains(name));
    }

    static Stream<Named<Supplier<RoutingPolicy>>> policiesEvenOnAverage() {
        return policies(EVEN_ON_AVERAGE::contains);
    }

    private static Stream<Named<Supplier<RoutingPolicy>>> policies(Predicate<String> isWanted) {
        var cluster = new RoutingPolicyFactory.Cluster(new Xxh3BlockHasher(4), REPLICAS, 1_000, new RandomStreams(1));
        return RoutingPolicies.byName().values().stream()
                .filter(policy -> isWanted.test(policy.name()))
                .map(policy ->
                        Named.of(policy.name(), () -> policy.read(SETTINGS).create(cluster)));
    }

    /** A policy, and what becomes of the requests that it decides on: one millisecond after the other. */
    private static final class Traffic {
        final RoutingPolicy policy;
        final ClusterView view = RoutingFixture.view(REPLICAS);
        final long[] ended = new long[2 * REPLICAS];
        private final Deque<Long> underWay = new ArrayDeque<>();
        private final Long2IntOpenHashMap replicas = new Long2IntOpenHashMap();
        private long nowNanos;

        Traffic(RoutingPolicy policy) {
            this.policy = policy;
        }

        int send(Request request) {
            view.setNow(nowNanos += 1_000_000);
            int chosen = policy.choose(request, view);
            assertThat(view.isReady(chosen))
                    .as("replica %s takes requests", chosen)
                    .isTrue();
            view.onDispatched(chosen);
            view.onSent(chosen, request, policy.cachedTokens(chosen));
            underWay.add(request.id());
            replicas.put(request.id(), chosen);
            return chosen;
        }

        /** Ends the oldest requests, but for so many. */
        void endAllBut(int maxUnderWay) {
            while (underWay.size() > maxUnderWay) {
                long id = underWay.remove();
                int replica = replicas.remove(id);
                view.onEnded(replica, ++ended[replica]);
                view.onEnded(id);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("policies")
    void equalHistories_giveEqualChoices(Supplier<RoutingPolicy> policies) {
        assertThat(history(policies.get())).isEqualTo(history(policies.get()));
    }

    @ParameterizedTest
    @MethodSource("evenPolicies")
    void equalLoadWithoutCache_isSpreadEvenly(Supplier<RoutingPolicy> policies) {
        assertThat(countsWithoutLoad(policies.get(), 10 * REPLICAS)).containsOnly(10);
    }

    /**
     * Of 5,000 requests a replica gets 1,000 on average, with a standard deviation of sqrt(5,000 x 0.2 x 0.8) = 28 where each
     * draw stands for itself. On a hash ring its share of 0.2 has one of 0.2 / sqrt(150 points) = 0.016, which is 82 more
     * requests. Four of both together are 4 x sqrt(28^2 + 82^2) = 347.
     */
    @ParameterizedTest
    @MethodSource("policiesEvenOnAverage")
    void equalLoadWithoutCache_isSpreadEvenlyOnAverage(Supplier<RoutingPolicy> policies) {
        assertThat(countsWithoutLoad(policies.get(), 1_000 * REPLICAS))
                .allSatisfy(count -> assertThat(count).isBetween(653, 1_347));
    }

    private static List<Integer> countsWithoutLoad(RoutingPolicy policy, int numRequests) {
        var traffic = new Traffic(policy);
        var counts = new Integer[REPLICAS];
        Arrays.fill(counts, 0);
        for (int i = 0; i < numRequests; i++) {
            counts[traffic.send(RoutingFixture.request(i, 100 * i, 8))]++;
            traffic.endAllBut(0);
        }
        return List.of(counts);
    }

    /** 30 equal requests under way are 6 for each replica; 10 times as many pass before one of them has to come again. */
    @ParameterizedTest
    @MethodSource("policies")
    void noReplicaStarves(Supplier<RoutingPolicy> policies) {
        var traffic = new Traffic(policies.get());
        var lastRequests = new int[REPLICAS];

        for (int i = 0; i < 10_000; i++) {
            lastRequests[traffic.send(RoutingFixture.request(i, 0, 20))] = i;
            traffic.endAllBut(30);
            int longestAgo = Arrays.stream(lastRequests).min().orElseThrow();
            assertThat(i - longestAgo).isLessThan(300);
        }
    }

    /** Replicas 5 to 7 join later, and of them number 6 does not take requests. */
    @ParameterizedTest
    @MethodSource("policies")
    void replicaThatIsNotReady_isNeverChosen(Supplier<RoutingPolicy> policies) {
        var traffic = new Traffic(policies.get());
        traffic.view.setReady(0, false);
        traffic.view.setReady(3, false);
        // The best cache and the least load are of no use where nobody takes requests.
        traffic.policy.onKvEvents(0, RoutingFixture.stored(0, 20));
        traffic.policy.onKvEvents(4, RoutingFixture.stored(0, 8));

        var chosen = sendTurns(traffic, 0);
        for (int i = REPLICAS; i < REPLICAS + 3; i++) {
            traffic.view.setReady(traffic.view.addReplica(), i != 6);
        }
        traffic.view.setReady(1, false);
        traffic.policy.onKvEvents(6, RoutingFixture.stored(0, 20));
        var chosenLater = sendTurns(traffic, 1_000);

        assertThat(chosen).isSubsetOf(1, 2, 4);
        assertThat(chosenLater).isSubsetOf(2, 4, 5, 7).containsAnyOf(5, 7);
    }

    /** Sends requests of three sessions and one without, of which some have the same prompt. */
    private static Set<Integer> sendTurns(Traffic traffic, int firstId) {
        var chosen = new TreeSet<Integer>();
        for (int i = firstId; i < firstId + 500; i++) {
            int firstToken = 20 * (i % 50);
            boolean isInSession = i % 4 > 0;
            chosen.add(traffic.send(
                    isInSession
                            ? RoutingFixture.turn(i % 4, i, firstToken, 20)
                            : RoutingFixture.request(i, firstToken, 20)));
            traffic.endAllBut(20);
        }
        return chosen;
    }

    /** After 140,000 sessions, each with a prompt of its own, what is remembered takes no more memory after as many again. */
    @ParameterizedTest
    @MethodSource("policies")
    void memoryIsBounded(Supplier<RoutingPolicy> policies) {
        var traffic = new Traffic(policies.get());

        sendSessions(traffic, 0, 140_000);
        long once = Footprint.of(traffic.policy);
        sendSessions(traffic, 140_000, 280_000);

        assertThat(Footprint.of(traffic.policy)).isEqualTo(once);
    }

    private static void sendSessions(Traffic traffic, int from, int to) {
        for (int i = from; i < to; i++) {
            traffic.send(RoutingFixture.turn(i, i, 8 * i, 8));
            traffic.endAllBut(10);
        }
    }

    /** Random requests, of which some end, and random KV events. */
    private static List<Integer> history(RoutingPolicy policy) {
        var random = new Random(9);
        var traffic = new Traffic(policy);
        var choices = new ArrayList<Integer>();
        for (int i = 0; i < 2_000; i++) {
            int firstToken = 10 * random.nextInt(20);
            choices.add(traffic.send(RoutingFixture.turn(random.nextInt(12), i, firstToken, 20)));
            traffic.endAllBut(random.nextInt(100));
            policy.onKvEvents(random.nextInt(REPLICAS), RoutingFixture.stored(10 * random.nextInt(20), 20));
        }
        return choices;
    }
}

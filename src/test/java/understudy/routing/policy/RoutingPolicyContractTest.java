package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.workload.RandomStreams;

/** What holds for every policy. */
final class RoutingPolicyContractTest {
    private static final int REPLICAS = 5;

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
        var cluster = new RoutingPolicyFactory.Cluster(new Xxh3BlockHasher(4), REPLICAS, 1_000, new RandomStreams(1));
        return RoutingPolicies.names().stream()
                .map(name -> Named.of(
                        name, () -> RoutingPolicies.read(name, SETTINGS).create(cluster)));
    }

    @ParameterizedTest
    @MethodSource("policies")
    void choice_isAReplica(Supplier<RoutingPolicy> policies) {
        assertThat(history(policies.get())).allMatch(chosen -> chosen >= 0 && chosen < REPLICAS);
    }

    @ParameterizedTest
    @MethodSource("policies")
    void equalHistories_giveEqualChoices(Supplier<RoutingPolicy> policies) {
        assertThat(history(policies.get())).isEqualTo(history(policies.get()));
    }

    @ParameterizedTest
    @MethodSource("policies")
    void equalLoadWithoutCache_isSpreadEvenly(Supplier<RoutingPolicy> policies) {
        var policy = policies.get();
        var view = RoutingFixture.view(REPLICAS);
        var counts = new int[REPLICAS];

        for (int i = 0; i < 10 * REPLICAS; i++) {
            int chosen = policy.choose(RoutingFixture.request(i, 100 * i, 8), view);
            counts[chosen]++;
            view.onDispatched(chosen);
            view.onEnded(chosen, counts[chosen]);
        }

        assertThat(counts).containsOnly(10);
    }

    @ParameterizedTest
    @MethodSource("policies")
    void replicaThatIsNotReady_isNeverChosen(Supplier<RoutingPolicy> policies) {
        var policy = policies.get();
        var view = RoutingFixture.view(REPLICAS);
        view.setReady(0, false);
        view.setReady(3, false);
        // The best cache and the least load are of no use where nobody takes requests.
        policy.onKvEvents(0, RoutingFixture.stored(0, 20));
        policy.onKvEvents(4, RoutingFixture.stored(0, 8));

        for (int i = 0; i < 50; i++) {
            int chosen = policy.choose(RoutingFixture.turn(i % 3, i, 0, 20), view);
            assertThat(chosen).isIn(1, 2, 4);
            view.onDispatched(chosen);
        }
    }

    /** Random requests, of which some end, and random KV events. */
    private static List<Integer> history(RoutingPolicy policy) {
        var random = new Random(9);
        var view = RoutingFixture.view(REPLICAS);
        var ended = new long[REPLICAS];
        var choices = new ArrayList<Integer>();
        for (int i = 0; i < 2_000; i++) {
            int firstToken = 10 * random.nextInt(20);
            int chosen = policy.choose(RoutingFixture.turn(random.nextInt(12), i, firstToken, 20), view);
            choices.add(chosen);
            view.onDispatched(chosen);
            int replica = random.nextInt(REPLICAS);
            if (ended[replica] < view.dispatched(replica)) {
                view.onEnded(replica, ++ended[replica]);
            }
            policy.onKvEvents(replica, RoutingFixture.stored(10 * random.nextInt(20), 20));
        }
        return choices;
    }
}

package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.routing.ClusterView;
import understudy.routing.RoutingFixture;

/** Policies with a hash ring. */
final class HashPoliciesTest {
    private static final int KEYS = 10_000;

    private final ClusterView view = RoutingFixture.view(4);

    /**
     * Of 4 replicas each has 1/4 of the keys, 2,500. Its share has a standard deviation of 0.25 / sqrt(150 points) = 0.02, and
     * four of them are 817 keys.
     */
    @Test
    void ring_givesEachReplicaItsShare() {
        var counts = new int[4];
        replicas(new HashRing()).forEach(replica -> counts[replica]++);

        assertThat(IntStream.of(counts)).allMatch(count -> count > 2_500 - 817 && count < 2_500 + 817);
    }

    /**
     * Of 5 replicas the new one gets 1/5 of the keys, 2,000. The share of one has a standard deviation of
     * 0.2 / sqrt(150 points) = 0.016, and four of them are 653 keys.
     */
    @Test
    void ring_movesOnlyTheShareOfTheReplicaThatJoins() {
        var ring = new HashRing();
        var before = replicas(ring);

        view.addReplica();
        var after = replicas(ring);

        var moved = IntStream.range(0, KEYS)
                .filter(key -> !before.get(key).equals(after.get(key)))
                .boxed()
                .toList();
        assertThat(moved).hasSizeBetween(1_347, 2_653).allMatch(key -> after.get(key) == 4);
    }

    @Test
    void ring_passesOverWhoTakesNoRequests() {
        var ring = new HashRing();
        var before = replicas(ring);

        view.setReady(2, false);
        var without = replicas(ring);
        view.setReady(2, true);

        // The keys of replica 2 go to all others; no other key moves, and all come back.
        for (int key = 0; key < KEYS; key++) {
            assertThat(without.get(key)).isNotEqualTo(2);
            assertThat(before.get(key)).isIn(without.get(key), 2);
        }
        assertThat(IntStream.range(0, KEYS).filter(key -> before.get(key) == 2).mapToObj(without::get))
                .contains(0, 1, 3);
        assertThat(replicas(ring)).isEqualTo(before);
    }

    @Test
    void consistentHash_keepsASession_whateverTheLoad() {
        var policy = RoutingFixture.policy("consistent-hash", "");
        int home = policy.choose(RoutingFixture.turn(7, 0, 0, 20), view);
        IntStream.range(0, 1_000).forEach(i -> view.onDispatched(home));

        assertThat(policy.choose(RoutingFixture.turn(7, 1, 500, 20), view)).isEqualTo(home);
        assertThat(policy.explain(view).ranked(view.readyReplicas()).getInt(0)).isEqualTo(home);
        assertThat(IntStream.range(0, 100)
                        .map(session -> policy.choose(RoutingFixture.turn(session, 2, 0, 20), view))
                        .boxed())
                .as("sessions in all")
                .contains(0, 1, 2, 3);
    }

    @Test
    void consistentHash_withoutAKeyGoesByLoad() {
        var policy = RoutingFixture.policy("consistent-hash", "");
        view.onDispatched(0);
        view.onDispatched(1);

        assertThat(policy.choose(RoutingFixture.request(1, 0, 20), view)).isEqualTo(2);
        assertThat(policy.explain(view).rule()).isEqualTo("no key: fewest outstanding");
    }

    @Test
    void consistentHash_keepsATenant() {
        var policy = RoutingFixture.policy("consistent-hash", "key = tenant");
        var choices = IntStream.range(0, 50)
                .map(i -> policy.choose(RoutingFixture.turn(i, i, 0, 20).withTenant("acme"), view))
                .distinct();

        assertThat(choices.toArray()).hasSize(1);
        assertThat(IntStream.range(0, 50)
                        .map(i -> policy.choose(RoutingFixture.request(i, 0, 20).withTenant("tenant-" + i), view))
                        .boxed())
                .contains(0, 1, 2, 3);
    }

    @Test
    void prefixHash_looksAtTheFirstTokensOnly() {
        var policy = RoutingFixture.policy("prefix-hash", "prefix-tokens = 8");
        int home = policy.choose(RoutingFixture.request(0, 0, 8), view);

        assertThat(policy.choose(RoutingFixture.request(1, 0, 900), view)).isEqualTo(home);
        // Equal choices by chance would take 4^-20.
        assertThat(IntStream.range(1, 20).map(i -> policy.choose(RoutingFixture.request(i, i, 8), view)))
                .as("another first token")
                .contains((home + 1) % 4);
    }

    @Test
    void prefixHash_keepsAdaptersAndSaltsApart() {
        var policy = RoutingFixture.policy("prefix-hash", "");
        var tokens = RoutingFixture.prompt(0, 20).tokens();
        var choices = IntStream.range(0, 50)
                .map(i -> policy.choose(request(new Prompt(tokens, "adapter-" + i, "")), view))
                .distinct();

        assertThat(choices.count()).isEqualTo(4);
    }

    /** Of 100 requests and one more at 4 replicas, one may have 101 / 4 x 1.27 = 32.07; 100 / 4 x 1.27 were 31.75. */
    @Test
    void prefixHash_movesOnWhereALoadIsTooMuch() {
        var policy = RoutingFixture.policy("prefix-hash", "load-factor = 1.27");
        var request = RoutingFixture.request(0, 0, 20);
        int home = policy.choose(request, view);
        int least = (home + 2) % 4;
        setLoads(home, 32, least, 20);

        assertThat(policy.choose(request, view)).isEqualTo(home);
        setLoads(home, 33, least, 20);
        assertThat(policy.choose(request, view)).isEqualTo(least);
        assertThat(policy.explain(view).ranked(view.readyReplicas()).getInt(0)).isEqualTo(least);
        assertThat(policy.explain(view).rule()).isEqualTo("too much load: fewest outstanding");
    }

    /** Sets the loads of two replicas; the other two share what is left of 100. */
    private void setLoads(int one, int oneLoad, int other, int otherLoad) {
        int rest = 100 - oneLoad - otherLoad;
        int third = IntStream.range(0, 4)
                .filter(i -> i != one && i != other)
                .findFirst()
                .orElseThrow();
        for (int i = 0; i < 4; i++) {
            int load = i == one ? oneLoad : i == other ? otherLoad : i == third ? rest / 2 : rest - rest / 2;
            while (view.outstanding(i) < load) {
                view.onDispatched(i);
            }
            view.onEnded(i, view.dispatched(i) - load);
        }
    }

    private List<Integer> replicas(HashRing ring) {
        return IntStream.range(0, KEYS)
                .mapToObj(key -> ring.find(String.valueOf(key), view))
                .toList();
    }

    private static Request request(Prompt prompt) {
        return Request.of(0, 0, prompt, 10, new OutputPlan(i -> i, 10));
    }
}

package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.routing.ClusterView;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingScores;

final class GuardedPolicyTest {
    private static final Request REQUEST = RoutingFixture.request(0, 0, 20);

    private final List<RuntimeException> failures = new ArrayList<>();
    private final ClusterView view = RoutingFixture.view(2);

    /** Whatever it is asked, it throws; but where it is to choose, if it has a choice. */
    private record Throwing(List<Integer> choices) implements RoutingPolicy {
        @Override
        public int choose(Request request, ClusterView view) {
            return choices.get(0);
        }

        @Override
        public RoutingScores explain(ClusterView view) {
            throw new IllegalStateException("explain");
        }

        @Override
        public int cachedTokens(int replica) {
            throw new IllegalStateException("cachedTokens");
        }

        @Override
        public void onKvEvents(int replica, List<KvEvent> events) {
            throw new IllegalStateException("onKvEvents");
        }
    }

    @Test
    void policyThatThrows_leavesTheChoiceToTheLoad() {
        var policy = guarded(List.of());
        view.onDispatched(0);

        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
        assertThat(failures).hasSize(1).first().isInstanceOf(IndexOutOfBoundsException.class);
        // What explains the choice is the policy that has made it.
        assertThat(policy.explain(view).rule()).isEqualTo("fewest outstanding");
        assertThat(policy.cachedTokens(1)).isZero();
        assertThat(failures).hasSize(1);
    }

    @Test
    void replicaThatTakesNoRequests_isNotChosen() {
        view.onDispatched(1);
        view.setReady(0, false);

        assertThat(guarded(List.of(0)).choose(REQUEST, view)).as("not ready").isEqualTo(1);
        assertThat(guarded(List.of(2)).choose(REQUEST, view)).as("not there").isEqualTo(1);
        assertThat(guarded(List.of(-1)).choose(REQUEST, view)).as("negative").isEqualTo(1);
        assertThat(failures).isEmpty();
    }

    @Test
    void whateverElseThrows_staysInsideAndIsReportedOnce() {
        var policy = guarded(List.of(1));

        assertThat(policy.choose(REQUEST, view)).isEqualTo(1);
        assertThat(policy.explain(view).rule()).isEqualTo("fewest outstanding");
        assertThat(policy.cachedTokens(1)).isZero();
        policy.onKvEvents(1, List.of());

        assertThat(failures)
                .extracting(Throwable::getMessage)
                .as("only the first")
                .containsExactly("explain");
    }

    private RoutingPolicy guarded(List<Integer> choices) {
        return new GuardedPolicy(new Throwing(choices), failures::add);
    }
}

package understudy.routing.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.routing.ClusterView;
import understudy.routing.RoutingFixture;
import understudy.routing.RoutingPolicy;

/** The approximate policy; what it shares with {@code prefix-aware} is tested there. Blocks have 4 tokens. */
final class CacheAwareTest {
    private final ClusterView view = RoutingFixture.view(3);

    @Test
    void prompt_goesWhereOneLikeItWent() {
        var policy = RoutingFixture.policy("cache-aware", "");
        dispatch(0);
        send(policy, RoutingFixture.request(1, 0, 40));
        dispatch(1);
        dispatch(1);

        // The first went to replica 1. 16 of 40 tokens are 4 of 10 blocks, more than 0.3; 12 of them are 0.3, and not
        // more.
        assertThat(policy.choose(spliced(16), view)).isEqualTo(1);
        assertThat(policy.cachedTokens(1)).isEqualTo(16);
        assertThat(policy.choose(spliced(12), view)).isEqualTo(2);
    }

    @Test
    void loadsOutOfBalance_goFirst_andThePromptIsStillRemembered() {
        var policy = RoutingFixture.policy("cache-aware", "");
        var prompt = RoutingFixture.request(1, 0, 40);
        assertThat(policy.choose(prompt, view)).isZero();

        for (int i = 0; i < 65; i++) {
            dispatch(0);
        }
        // 65 - 0 is more than 64, and 65 more than 1.5 x 0.
        assertThat(policy.choose(prompt, view)).isEqualTo(1);
        assertThat(policy.explain(view).rule()).isEqualTo("out of balance: fewest outstanding");
        view.onEnded(0, 1);
        // 64 is not more than 64. Both have all of it now, and replica 1 has less load.
        assertThat(policy.choose(prompt, view)).isEqualTo(1);
        assertThat(policy.explain(view).rule()).isEqualTo("most cached");
    }

    @Test
    void promptUnusedLongest_isForgotten() {
        // 24 tokens are 6 blocks.
        var policy = RoutingFixture.policy("cache-aware", "max-tree-tokens = 24");
        view.setReady(1, false);
        view.setReady(2, false);
        policy.choose(RoutingFixture.request(1, 0, 20), view);
        policy.choose(RoutingFixture.request(2, 500, 8), view);

        // 5 + 2 blocks were one too many: the last one of the first prompt went, and 4 x 4 tokens are left.
        policy.choose(RoutingFixture.request(3, 0, 20), view);
        assertThat(policy.cachedTokens(0)).isEqualTo(16);
    }

    @Test
    void crash_isAnEmptyCache() {
        var policy = RoutingFixture.policy("cache-aware", "");
        policy.choose(RoutingFixture.request(1, 0, 40), view);
        policy.onKvEvents(0, List.of(new KvEvent.Cleared()));

        policy.choose(RoutingFixture.request(2, 0, 40), view);
        assertThat(policy.cachedTokens(0)).isZero();
    }

    /** The first tokens of the first prompt, and others up to 40. */
    private static Request spliced(int numShared) {
        var tokens = new int[40];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = i < numShared ? i : 7_000 + numShared * 100 + i;
        }
        return RoutingFixture.request(9, tokens);
    }

    private void send(RoutingPolicy policy, Request request) {
        dispatch(policy.choose(request, view));
    }

    private void dispatch(int replica) {
        view.onDispatched(replica);
    }
}

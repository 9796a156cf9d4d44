package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SessionTurn;
import understudy.report.Invariants;
import understudy.report.RequestRecord;
import understudy.routing.RoutingPolicyFactory;
import understudy.testkit.EmulatedCluster;
import understudy.testkit.EmulatedRequest;

/** Policies and what replicas tell them. */
final class RoutingPoliciesInVirtualTimeTest {

    /** The least loaded replica takes the place of what the policy does not choose. */
    @Test
    void policyThatThrows_doesNotEndTheRun() {
        var cluster = new ClusterFixture();
        cluster.numReplicas = 3;
        cluster.routing = RoutingPolicyFactory.of("broken", () -> (request, view) -> {
            throw new IllegalStateException("broken");
        });

        var run =
                cluster.run(ClusterFixture.workload(request(0, 0, 10, 5), request(1, 0, 10, 5), request(2, 0, 10, 5)));

        assertThat(ClusterFixture.requests(run))
                .extracting(RequestRecord::replicaIndex)
                .containsExactlyInAnyOrder(0, 1, 2);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void leastTokens_followTheRequestsUnderWay() {
        try (var cluster = EmulatedCluster.startPaused("cluster.replicas = 2, router.policy = least-tokens")) {
            var requests = IntStream.of(1_000, 400, 400, 400)
                    .mapToObj(numTokens -> cluster.submit(numTokens, 5))
                    .toList();
            cluster.advance(Duration.ofMinutes(1));
            var later = List.of(cluster.submit(100, 5), cluster.submit(100, 5));
            cluster.advance(Duration.ofMinutes(1));

            // 1,000 at replica 0; 400 and 800 are less, and 1,200 are not. All have ended when the others come: replica
            // 0 has
            // had two requests, and replica 1 three.
            assertThat(requests).extracting(EmulatedRequest::replicaIndex).containsExactly(0, 1, 1, 1);
            assertThat(later).extracting(EmulatedRequest::replicaIndex).containsExactly(0, 1);
        }
    }

    /** A replica runs one request at a time, and reports its queue after every step. */
    @Test
    void session_leavesAReplicaThatIsSaturated() {
        try (var cluster = EmulatedCluster.startPaused("""
                cluster.replicas = 2
                engine.max-num-seqs = 1
                router { policy = session-affinity, wire.load-report-interval = 0ms, session-affinity.max-waiting = 1 }
                """)) {
            var first = List.of(submit(cluster), submit(cluster), submit(cluster));
            cluster.advance(Duration.ofSeconds(1));
            var fourth = submit(cluster);
            cluster.advance(Duration.ofHours(1));

            // One of three runs, and two wait, which is more than one.
            assertThat(first).extracting(EmulatedRequest::replicaIndex).containsExactly(0, 0, 0);
            assertThat(fourth.replicaIndex()).isEqualTo(1);
            cluster.check().hasCompleted(4);
        }
    }

    /** One session's requests, each of which takes longer than a second. */
    private static EmulatedRequest submit(EmulatedCluster cluster) {
        return cluster.submit(new Prompt(SegmentedTokens.EMPTY.append(7, 100), SessionTurn.of(7, 1)), 2_000);
    }
}

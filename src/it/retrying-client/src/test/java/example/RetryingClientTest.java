package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import understudy.faults.Fault;
import understudy.testkit.EmulatedCluster;
import understudy.testkit.EmulatedClusterExtension;

/** The client against a served cluster. A request takes 4 ms to the queue, and each of its tokens a step of 10 ms. */
final class RetryingClientTest {
    private static final String THREE_TOKENS = "{\"prompt\": \"Hello\", \"max_tokens\": 3, \"ignore_eos\": true}";

    @RegisterExtension
    final EmulatedClusterExtension emulation = EmulatedClusterExtension.servingPaused("""
            cluster.replicas = 2
            engine.async-scheduling = false
            latency.model = linear
            latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
            """);

    @Test
    void answer_comesAfterItsTokens(EmulatedCluster cluster) {
        var answer = new RetryingClient(cluster.uri(), 1).complete(THREE_TOKENS);
        cluster.awaitRequests(1);

        // 4 ms + 3 x 10 ms = 34 ms.
        cluster.advance(Duration.ofMillis(33));
        assertFalse(answer.isDone());
        cluster.advance(Duration.ofMillis(1));

        assertEquals(200, answer.join().statusCode());
        cluster.check().hasCompleted(1).hasMetric("vllm:generation_tokens_total", 3);
    }

    @Test
    void failures_areTriedAgain(EmulatedCluster cluster) {
        cluster.inject(new Fault.ErrorSequence(Fault.ALL_REPLICAS, 2));
        cluster.resume();

        var answer = new RetryingClient(cluster.uri(), 3).complete(THREE_TOKENS).join();

        // Two of three tries fail.
        assertEquals(200, answer.statusCode());
        cluster.check().hasFailed(2).hasCompleted(1);
    }

    @Test
    void lastFailure_isReturned(EmulatedCluster cluster) {
        cluster.inject(new Fault.ErrorSequence(Fault.ALL_REPLICAS, 2));
        cluster.resume();

        var answer = new RetryingClient(cluster.uri(), 2).complete(THREE_TOKENS).join();

        assertEquals(500, answer.statusCode());
        cluster.check().hasFailed(2).hasCompleted(0);
    }
}

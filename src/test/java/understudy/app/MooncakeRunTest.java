package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import understudy.TestData;

/** A production trace of an hour on eight replicas. */
final class MooncakeRunTest {
    @Test
    void conversationTrace_isServedWholeAndPrefixAwareRoutingHitsMore() throws IOException {
        var prefixAware = run("prefix-aware");
        var roundRobin = run("round-robin");

        for (var json : new JsonNode[] {prefixAware, roundRobin}) {
            // Counted in the file itself: lines, and the sums of its input_length and output_length.
            assertThat(json.get("completed").asLong()).isEqualTo(12_031);
            assertThat(json.get("total_input_tokens").asLong()).isEqualTo(144_793_823);
            assertThat(json.get("total_output_tokens").asLong()).isEqualTo(4_122_048);
        }
        assertThat(prefixAware.get("prefix_cache_hits").asLong())
                .isGreaterThan(roundRobin.get("prefix_cache_hits").asLong());
    }

    private static JsonNode run(String policy) throws IOException {
        var run = call(
                "run",
                "conf/mooncake.conf",
                "--set",
                "workload.trace=" + TestData.require("traces/conversation_trace.jsonl"),
                "--set",
                "router.policy=" + policy,
                "--json",
                "-");

        assertThat(run.exitCode).as(run.err).isZero();
        return run.json();
    }
}

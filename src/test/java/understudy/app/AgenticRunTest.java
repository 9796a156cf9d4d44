package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.TestData;

/** Sessions of agents on eight replicas. */
final class AgenticRunTest {
    @TempDir
    private Path folder;

    /**
     * 97 files; counted in them: requests, and the sums of in and out. All turns of a session are on one replica, and
     * nothing of a live session is evicted, so that hits of blocks of 16 tokens can hardly be fewer than those of blocks of
     * 64 in an infinite cache, 14,482,859 of 15,097,287 (95.9 %), which counts what sub-agents find on other replicas,
     * too.
     */
    @Test
    void publicSessions_areServedWhole() throws IOException {
        var json = run(TestData.require("agentic/sessions")).json();

        assertThat(json.get("completed").asLong()).isEqualTo(7_953);
        assertThat(json.get("rejected").asLong()).isZero();
        assertThat(json.get("total_input_tokens").asLong()).isEqualTo(966_479_746);
        assertThat(json.get("total_output_tokens").asLong()).isEqualTo(3_749_615);
        assertThat(json.get("prefix_cache_hits").asLong()).isGreaterThan(966_479_746L * 95 / 100);
    }

    /**
     * A session of 100 turns: the first prompt has 6,400 tokens, and each further one 640 more. All but the first find all
     * of the prompt before: 6,400 + 7,040 + ... for 99 prompts, 99 x 6,400 + 640 x (98 x 99 / 2).
     */
    @Test
    void turns_findThePromptBefore() throws IOException {
        var turns = new ArrayList<String>();
        for (int i = 0; i < 100; i++) {
            int numBlocks = 100 + 10 * i;
            turns.add("{\"t\":" + i * 10 + ",\"type\":\"n\",\"in\":" + numBlocks * 64 + ",\"out\":20,\"hash_ids\":["
                    + LongStream.range(0, numBlocks).mapToObj(Long::toString).collect(Collectors.joining(","))
                    + "],\"api_time\":1,\"think_time\":9}");
        }
        Files.writeString(folder.resolve("s.json"), "{\"block_size\":64,\"requests\":" + turns + "}");

        var json = run(folder).json();

        assertThat(json.get("completed").asLong()).isEqualTo(100);
        assertThat(json.get("prefix_cache_hits").asLong()).isEqualTo(99 * 6_400 + 640 * (98 * 99 / 2));
        assertThat(run(folder).jsonWithoutHost()).isEqualTo(run(folder).jsonWithoutHost());
    }

    @Test
    void missingSessions_areAskedForByName() {
        var run = call("run", "conf/agentic.conf");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err)
                .contains("workload.trace", "needs sessions of agents", "github.com/callanjfox/kv-cache-tester");
        assertThat(call("run", "conf/agentic.conf", "--set", "workload.max-concurrency=4").err)
                .contains("workload.agentic.lanes is the limit");
    }

    private static CommandLineFixture run(Path sessions) {
        var run = call("run", "conf/agentic.conf", "--set", "workload.trace=" + sessions, "--json", "-");
        assertThat(run.exitCode).as(run.err).isZero();
        return run;
    }
}

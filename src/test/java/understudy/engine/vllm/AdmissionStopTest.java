package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.host.Emulation;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RunRecord;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/**
 * A replica on which two requests may run, with the adapter of one: request 0 has "a" for 100 tokens, and 1 waits for its own
 * "b" beside it, which makes two. Request 2 comes a minute later, when nothing runs.
 */
final class AdmissionStopTest {
    private static final String SETTINGS = """
        latency { model = roofline, llm = llama-3.1-8b, gpu = h100-sxm }
        engine { max-num-seqs = 2, lora { enable = true, max-loras = 1, max-cpu-loras = 2 } }
        """;

    @TempDir
    private Path directory;

    private RunRecord run(String settings) throws Exception {
        var trace = directory.resolve("trace.jsonl");
        Files.writeString(trace, """
                {"timestamp": 0, "input_length": 10, "output_length": 100, "hash_ids": [1], "lora": "a"}
                {"timestamp": 0, "input_length": 10, "output_length": 100, "hash_ids": [2], "lora": "b"}
                {"timestamp": 60000, "input_length": 10, "output_length": 100, "hash_ids": [3]}
                """);
        var scenario = Scenario.read(new ScenarioFile(Map.of())
                .load(Section.of(SETTINGS + settings + "\nworkload { kind = understudy, trace = \"" + trace + "\" }")));
        try (var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(scenario.workloadSource(), true), Double.POSITIVE_INFINITY);
            return emulation.await(TimeUnit.SECONDS.toMillis(60)).run();
        }
    }

    private static Outcome outcome(RunRecord run, long id) {
        for (int i = 0; i < run.requests().size(); i++) {
            if (run.requests().get(i).requestId() == id) {
                return run.requests().get(i).outcome();
            }
        }
        throw new AssertionError("no request " + id);
    }

    @Test
    void clients_waitUntilNothingHappensAnyMore() throws Exception {
        var run = run("engine.known-bugs = [admission-stops]");

        assertThat(Invariants.check(run)).isEmpty();
        assertThat(outcome(run, 0)).isEqualTo(Outcome.COMPLETED);
        assertThat(outcome(run, 1)).isEqualTo(Outcome.FAILED);
        assertThat(outcome(run, 2)).isEqualTo(Outcome.FAILED);
    }

    @Test
    void allAreServed_withoutTheBug() throws Exception {
        var run = run("");

        assertThat(Invariants.check(run)).isEmpty();
        for (int id = 0; id < 3; id++) {
            assertThat(outcome(run, id)).isEqualTo(Outcome.COMPLETED);
        }
    }
}

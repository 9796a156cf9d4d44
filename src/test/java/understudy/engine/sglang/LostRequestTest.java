package understudy.engine.sglang;

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
 * Runs in which SGLang loses a request. As in {@link PreemptionTest} there are 20 tokens: "stays" holds 6, "victim" 2; the
 * newcomer, which is more important, takes the victim's place at its first trial, and then is refused.
 */
final class LostRequestTest {
    private static final String SETTINGS = """
        engine {
          kind = sglang
          max-model-len = 100
          sglang {
            max-total-tokens = 20
            max-running-requests = 2
            chunked-prefill-size = -1
            disable-overlap-schedule = true
            enable-priority-scheduling = true
            priority-scheduling-preemption-threshold = 0
          }
        }
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        """;

    @TempDir
    private Path directory;

    /** The victim's prefill ends at 14 ms or later; the newcomer comes during that step. */
    private RunRecord run(String settings) throws Exception {
        var trace = directory.resolve("trace.csv");
        Files.writeString(trace, """
                arrival_s,input_toks,output_toks,priority
                0.000,6,4,9
                0.000,2,2,0
                0.008,10,4,5
                """);
        var scenario = Scenario.read(new ScenarioFile(Map.of())
                .load(Section.of(SETTINGS + settings + "\nworkload { kind = csv, trace = \"" + trace + "\" }")));
        try (var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(scenario.workloadSource(), true), Double.POSITIVE_INFINITY);
            return emulation.await(TimeUnit.SECONDS.toMillis(60)).run();
        }
    }

    @Test
    void clientOfALostRequest_waitsUntilNothingHappensAnyMore() throws Exception {
        var run = run("");

        assertThat(Invariants.check(run)).isEmpty();
        assertThat(run.requests().get(0).outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(run.requests().get(1).outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(run.requests().get(2).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(run.requests().get(2).requestId()).isEqualTo(1);
        assertThat(SglangFiguresTest.figure("priority_preemptions", run)).isEqualTo(1);
        assertThat(SglangFiguresTest.figure("lost_by_preemption", run)).isEqualTo(1);
    }

    @Test
    void noneIsLost_ifThatIsMended() throws Exception {
        var run = run("engine.sglang.requeue-refused-preemption = true");

        assertThat(Invariants.check(run)).isEmpty();
        assertThat(run.requests().size()).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            assertThat(run.requests().get(i).outcome()).isEqualTo(Outcome.COMPLETED);
        }
        assertThat(SglangFiguresTest.figure("lost_by_preemption", run)).isZero();
    }
}

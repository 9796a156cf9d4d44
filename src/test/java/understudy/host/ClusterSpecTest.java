package understudy.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.ClusterSpec;
import understudy.report.RunReport;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/** A cluster's specification is a value: it runs again with equal results, also in two threads at once. */
final class ClusterSpecTest {
    private static final long LIMIT_MILLIS = 60_000;

    /** Noise, faults, a routing policy with a history, and sessions: all that could keep something from a run before. */
    @ParameterizedTest
    @ValueSource(strings = {"prefix-aware", "round-robin", "kv-aware", "weighted-scorers", "ttft-estimate", "oracle"})
    void spec_runsAgain_alsoInTwoThreadsAtOnce(String policy) {
        var spec = spec(policy);

        var first = run(spec);
        var again = run(spec);
        var one = CompletableFuture.supplyAsync(() -> run(spec));
        var other = CompletableFuture.supplyAsync(() -> run(spec));

        assertThat(first.numCompleted()).isPositive();
        assertThat(again).isEqualTo(first);
        assertThat(one.orTimeout(LIMIT_MILLIS, TimeUnit.MILLISECONDS).join()).isEqualTo(first);
        assertThat(other.orTimeout(LIMIT_MILLIS, TimeUnit.MILLISECONDS).join()).isEqualTo(first);
    }

    private static ClusterSpec spec(String policy) {
        var settings = Section.of("""
                cluster.replicas = 3
                router.policy = %s
                latency.jitter = 0.1
                workload { requests = 300, prefix-groups.count = 10, sessions.turns { kind = uniform, min = 1, max = 4 } }
                faults.plan = [
                  { at = 2s, do = crash, replica = 0, for = 3s }
                  { at = 3s, do = error-rate, rate = 0.1, for = 5s }
                ]
                """.formatted(policy));
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load(settings));
        return scenario.clusterSpec(scenario.workloadSource(), true);
    }

    private static RunReport run(ClusterSpec spec) {
        try (var emulation = new Emulation()) {
            emulation.start(spec, Double.POSITIVE_INFINITY);
            return RunReport.of(emulation.await(LIMIT_MILLIS).run());
        } catch (Exception e) {
            throw new AssertionError("the run failed", e);
        }
    }
}

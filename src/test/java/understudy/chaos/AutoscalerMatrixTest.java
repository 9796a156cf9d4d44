package understudy.chaos;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.chaos.autoscaler.reference.ReferenceAutoscaler;
import understudy.chaos.autoscaler.reference.WrongScaling;
import understudy.chaos.autoscaler.scenario.ScalingScenario;
import understudy.chaos.autoscaler.scenario.ScalingScenarioReader;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.law.Verdict;

/** Each wrong autoscaler breaks its laws in a short scenario and no others, and the reference keeps all. */
final class AutoscalerMatrixTest {
    private static final ScalingScenario VANISHED = scenario("vanished", """
            replicas = 2, load = [{ users = 8 }], for = 3500ms
            faults = [{ at = 200ms, do = vanished-series, for = 3200ms }]
            bounds { most-replicas = 2 }""");

    private static final ScalingScenario STALE = scenario("stale", """
            replicas = 3, load = [{ users = 12 }, { at = 500ms, users = 0 }, { at = 1300ms, users = 12 }], for = 4s
            faults = [{ at = 1100ms, do = stale-metrics, for = 2800ms }]
            bounds { most-replicas = 3 }""");

    private static final ScalingScenario ALTERNATING = scenario("alternating", """
            replicas = 4, for = 4s
            load = [{ users = 16 }, { at = 600ms, users = 4 }, { at = 1200ms, users = 16 }, { at = 1800ms, users = 4 }
              { at = 2400ms, users = 16 }, { at = 3000ms, users = 4 }, { at = 3600ms, users = 16 }]
            bounds { most-replicas = 4 }""");

    /** Overshoot counts here; elsewhere a request too many in metrics of two instants may ask for a fifth replica. */
    private static final ScalingScenario WARM_UP = scenario("warm-up", """
            startup = 2s, load = [{ users = 4 }, { at = 200ms, users = 16 }], for = 3s
            bounds { most-replicas = 4, up = [{ from = 200ms, replicas = 4 }] }""");

    /** Above its maximum an autoscaler has the load that it wants, and goes up and down with a busy machine. */
    private static final ScalingScenario ABOVE_MAXIMUM = scenario("above-maximum", """
            load = [{ users = 32 }], for = 4s
            bounds { max-replicas = 4, max-reversals = 100 }""");

    private static final ScalingScenario FAILED_SCALE = scenario("failed-scale", """
            replicas = 2, load = [{ users = 8 }, { at = 400ms, users = 16 }], for = 4s
            faults = [{ at = 200ms, do = failed-scale, for = 1500ms }]
            bounds { most-replicas = 5, max-calls-per-second = 15, up = [{ from = 1700ms, replicas = 4 }] }""");

    private static final ScalingScenario CONFLICTS = scenario("conflicts", """
            replicas = 2, load = [{ users = 8 }, { at = 400ms, users = 16 }], for = 3s
            faults = [{ do = scale-conflicts, for = 3s }]
            bounds { most-replicas = 5, up = [{ from = 400ms, replicas = 4 }] }""");

    private static final ScalingScenario FROM_ZERO = scenario("from-zero", """
            replicas = 0, load = [{ users = 0 }, { at = 200ms, users = 4 }], for = 3s
            bounds { min-replicas = 0, most-replicas = 1 }""");

    private static final ScalingScenario LOAD_ENDS = scenario("load-ends", """
            replicas = 4, load = [{ users = 16 }, { at = 200ms, users = 2 }], for = 4s
            bounds { most-replicas = 4, down = [{ from = 200ms, within = 3700ms, replicas = 1 }] }""");

    private static final ScalingScenario LOAD_DOUBLES = scenario("load-doubles", """
            replicas = 2, load = [{ users = 8 }, { at = 200ms, users = 16 }], for = 3s
            bounds { most-replicas = 5, up = [{ from = 200ms, replicas = 4 }] }""");

    private static final Map<WrongScaling, Case> CASES = Map.ofEntries(
            entry(WrongScaling.MISSING_AS_ZERO, new Case(VANISHED, Set.of("holds-without-metrics"))),
            entry(WrongScaling.TRUSTS_STALE_SERIES, new Case(STALE, Set.of("holds-without-metrics"))),
            entry(WrongScaling.NO_STABILIZATION, new Case(ALTERNATING, Set.of("no-flapping"))),
            entry(WrongScaling.ASKS_AGAIN_WHILE_STARTING, new Case(WARM_UP, Set.of("no-overshoot"))),
            entry(WrongScaling.IGNORES_MAXIMUM, new Case(ABOVE_MAXIMUM, Set.of("replicas-within-bounds"))),
            entry(
                    WrongScaling.GIVES_UP_AT_API_ERROR,
                    new Case(FAILED_SCALE, Set.of("scales-up-in-time", "survives-api-errors"))),
            entry(WrongScaling.HAMMERS_API, new Case(FAILED_SCALE, Set.of("calls-in-measure"))),
            entry(WrongScaling.KEEPS_STALE_VERSION, new Case(CONFLICTS, Set.of("scales-up-in-time"))),
            entry(WrongScaling.SEES_REPLICAS_ONLY, new Case(FROM_ZERO, Set.of("serves-from-zero"))),
            entry(WrongScaling.NEVER_DOWN, new Case(LOAD_ENDS, Set.of("scales-down-in-time"))),
            entry(WrongScaling.SLOW_UP, new Case(LOAD_DOUBLES, Set.of("scales-up-in-time"))));

    private record Case(ScalingScenario scenario, Set<String> laws) {}

    private static ScalingScenario scenario(String name, String settings) {
        return ScalingScenarioReader.text("scenarios = [{ name = " + name + "\n" + settings + "\n}]")
                .get(0);
    }

    static Stream<WrongScaling> wrongOnes() {
        return Stream.of(WrongScaling.values()).filter(wrong -> wrong != WrongScaling.NONE);
    }

    @ParameterizedTest
    @MethodSource("wrongOnes")
    void wrongOneBreaksItsLaws(WrongScaling wrong) throws IOException {
        var wanted = CASES.get(wrong);
        try (var kit = new AutoscalerKit(new ReferenceAutoscaler(wrong), 1)) {
            var result = kit.run(wanted.scenario());

            assertThat(brokenLaws(result)).as(reasons(result)).isEqualTo(wanted.laws());
        }
    }

    @Test
    void referenceKeepsAllLaws() throws IOException {
        var broken = new ArrayList<String>();
        try (var kit = new AutoscalerKit(new ReferenceAutoscaler(WrongScaling.NONE), 1)) {
            var scenarios =
                    CASES.values().stream().map(Case::scenario).distinct().toList();
            for (var scenario : scenarios) {
                var result = kit.run(scenario);
                if (!result.isPassed()) {
                    broken.add(scenario.name() + ": " + reasons(result));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private static Set<String> brokenLaws(ScenarioResult result) {
        return result.verdicts().stream()
                .filter(verdict -> !verdict.isKept())
                .map(Verdict::law)
                .collect(Collectors.toSet());
    }

    private static String reasons(ScenarioResult result) {
        return result.verdicts().stream()
                .flatMap(verdict -> verdict.breaches().stream().limit(2))
                .map(Breach::reason)
                .collect(Collectors.joining("; "));
    }
}

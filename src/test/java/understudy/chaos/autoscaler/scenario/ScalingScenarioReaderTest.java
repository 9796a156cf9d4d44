package understudy.chaos.autoscaler.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.chaos.autoscaler.evidence.Deadline;
import understudy.chaos.autoscaler.fleet.LoadStep;
import understudy.chaos.autoscaler.law.ScalingLaws;
import understudy.chaos.autoscaler.plane.PlaneFault;
import understudy.settings.ScenarioException;

final class ScalingScenarioReaderTest {
    private static ScalingScenario read(String settings) {
        return ScalingScenarioReader.text("scenarios = [{ name = a\n" + settings + "\n}]")
                .get(0);
    }

    @Test
    void builtInScenariosTakeAboutAMinuteAndAHalf() {
        var scenarios = ScalingScenarioReader.builtIn();
        double seconds = scenarios.stream()
                .mapToDouble(scenario -> scenario.durationNanos() / 1e9)
                .sum();

        assertThat(scenarios).hasSizeGreaterThanOrEqualTo(8);
        assertThat(seconds).isBetween(60.0, 100.0);
        assertThat(scenarios)
                .allSatisfy(scenario -> assertThat(scenario.description()).endsWith("."))
                .allSatisfy(scenario -> assertThat(scenario.laws()).isEqualTo(ScalingLaws.names()));
    }

    @Test
    void everythingIsRead() {
        var scenario = read("""
                replicas = 3, startup = 2s, period = 100ms, window = 1s, for = 4s
                load = [{ at = 2s, rate = 2.5 }, { users = 7 }]
                faults = [{ at = 1s, for = 500ms, do = false-metrics, instance = replica-1, series = "a=NaN, b=0" }]
                laws = [no-flapping]
                bounds { max-replicas = 5, up = [{ from = 1s, within = 2s, replicas = 4 }], down = [{ replicas = 2 }] }
                """);

        assertThat(scenario.load()).containsExactly(new LoadStep(0, 7, 0), new LoadStep(2_000_000_000L, 0, 2.5));
        assertThat(scenario.faults())
                .containsExactly(new TimedFault(
                        new PlaneFault(
                                PlaneFault.Kind.FALSE_METRICS,
                                Optional.of("replica-1"),
                                Map.of("a", "NaN", "b", "0"),
                                1000),
                        1_000_000_000L,
                        500_000_000L));
        assertThat(scenario.laws()).containsExactly("no-flapping");
        assertThat(scenario.bounds().deadlines())
                .containsExactly(
                        new Deadline(1_000_000_000L, 2_000_000_000L, true, 4),
                        new Deadline(0, 2_000_000_000L, false, 2));
        assertThat(scenario)
                .extracting(ScalingScenario::replicas, ScalingScenario::startupMillis, ScalingScenario::periodMillis)
                .containsExactly(3, 2000, 100);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "name = A | name is \"A\", must be of small letters, digits and dashes",
                "load = [{ at = 1s }] | load",
                "load = [{ user = 4 }] | users",
                "faults = [{ do = crash }] | do is \"crash\", must be one of vanished-series",
                "laws = [no-flaping] | laws",
                "bounds { min-replicas = 4, max-replicas = 3 } | max-replicas is 3, must be from 4 to 64",
                "period = 0s | period is \"0s\", must be at least 1ms"
            })
    void mistakeNamesItsPlaceAndWhatIsAllowed(String settings, String message) {
        assertThatThrownBy(() -> read(settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(message);
    }
}

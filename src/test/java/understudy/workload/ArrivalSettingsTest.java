package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

final class ArrivalSettingsTest {
    @Test
    void profile_changesTheRateOfArrivals() {
        String profile = "workload { requests = 30, arrivals { kind = constant, request-rate = 1, profile ="
                + " [{ at = 10s, request-rate = 0.5 }, { at = 14s, request-rate = 4 }] } }";
        try (var workload = read(profile).workloadSource().open()) {
            // One a second until 10 s, one more in 2 s each until 14 s, then four a second: the 13th at 14.25 s.
            long[] arrivals = new long[13];
            for (int i = 0; i < arrivals.length; i++) {
                arrivals[i] = workload.next().arrivalNanos() / 1_000_000;
            }
            assertThat(arrivals)
                    .containsExactly(
                            1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000, 12_000, 14_000, 14_250);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'{ at = 10s }', 'each entry must have at'",
        "'{ at = 10, request-rate = 1 }', 'each entry must have at'",
        "'{ at = 10s, request-rate = inf }', 'each entry must have at'",
        "'{ at = 10s, request-rate = 1, for = 3s }', 'each entry must have at'",
        "'{ at = 10s, request-rate = 0 }', 'take more than three years'"
    })
    void profileThatCannotBe_isNamed(String entry, String message) {
        assertThatThrownBy(() ->
                        read("workload.arrivals.profile = [" + entry + "]").workloadSource())
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("workload.arrivals.profile")
                .hasMessageContaining(message);
    }

    private static Scenario read(String settings) {
        return Scenario.read(new ScenarioFile(Map.of()).load(Section.of(settings)));
    }
}

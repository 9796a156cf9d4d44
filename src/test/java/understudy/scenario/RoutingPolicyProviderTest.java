package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.settings.ScenarioException;
import understudy.testkit.EmulatedCluster;
import understudy.testkit.EmulatedRequest;

/** A routing policy of a user, {@link example.FillFirst}, which META-INF/services of the test resources names. */
final class RoutingPolicyProviderTest {
    private static final String SETTINGS = "cluster.replicas = 3, router.policy = fill-first, ";

    @Test
    void policyOfAUser_routesWithItsSettings() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + "router.fill-first.max-outstanding = 2")) {
            var requests =
                    Stream.generate(() -> cluster.submit(100, 20)).limit(5).toList();
            cluster.advance(Duration.ofMinutes(1));

            assertThat(requests).extracting(EmulatedRequest::replicaIndex).containsExactly(0, 0, 1, 1, 2);
            cluster.check().hasCompleted(5);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "router.fill-first.max-outstanding = 0 | max-outstanding is 0, must be from 1 to 1000",
                "router.fill-last.max-outstanding = 1 | unknown key router.fill-last.max-outstanding",
                "router.round-robin.max-outstanding = 1 | unknown key router.round-robin.max-outstanding",
                "router.fill-first = 1 | unknown key router.fill-first",
                "fill-first.max-outstanding = 1 | unknown key fill-first.max-outstanding"
            })
    void settingsOfAUser_areChecked(String settings, String problem) {
        assertThatThrownBy(() -> EmulatedCluster.startPaused(SETTINGS + settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void settingThatIsMissing_isNamed() {
        assertThatThrownBy(() -> EmulatedCluster.startPaused(SETTINGS))
                .isInstanceOf(ScenarioException.class)
                .hasMessage("router.fill-first.max-outstanding is missing");
    }

    @Test
    void policyThatIsNotChosen_needsNoSettings() {
        EmulatedCluster.startPaused("router.policy = random").close();
    }

    @Test
    void manual_showsThisVeryClass() throws IOException {
        String source = Files.readString(Path.of("src/test/java/example/FillFirst.java"));

        assertThat(Files.readString(Path.of("src/site/markdown/routing.md"))).contains(source);
    }
}

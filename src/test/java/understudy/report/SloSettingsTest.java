package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

final class SloSettingsTest {
    private static final long OFF = ServiceLevels.Limits.OFF;

    @TempDir
    private Path directory;

    @Test
    void nothingIsSet_byDefault() {
        assertThat(read("").areSet()).isFalse();
        assertThat(read("slo.classes = [{ priority = 1, attainment = 0.5 }]").areSet())
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"ttft", "tpot", "e2el"})
    void oneLimit_isAServiceLevel(String key) {
        assertThat(read("slo." + key + " = 1h").areSet()).isTrue();
        assertThat(read("slo.classes = [{ priority = 1, " + key + " = 1h }]").areSet())
                .isTrue();
    }

    @Test
    void classes_haveWhatTheyDoNotSayFromTheSection() {
        var levels = read("""
            slo {
              ttft = 200ms, tpot = 20.5us, attainment = 0.95
              classes = [{ priority = -2, ttft = off, e2el = 1m }, { priority = 3, attainment = 1 }]
            }
            """);

        assertThat(levels.others()).isEqualTo(new ServiceLevels.Limits(200_000_000, 20_500, OFF, 0.95));
        assertThat(levels.byPriority())
                .containsExactly(
                        Map.entry(-2, new ServiceLevels.Limits(OFF, 20_500, 60_000_000_000L, 0.95)),
                        Map.entry(3, new ServiceLevels.Limits(200_000_000, 20_500, OFF, 1)));
    }

    @Test
    void off_isAWordInYamlToo() throws IOException {
        var file = Files.writeString(
                directory.resolve("a.yaml"), "slo: { ttft: 1s, classes: [{ priority: 1, ttft: off }] }");
        var config = new ScenarioFile(Map.of()).load(file.toString(), Map.of());

        var levels = Scenario.read(config).serviceLevels();

        assertThat(levels.others().ttftNanos()).isEqualTo(1_000_000_000);
        assertThat(levels.byPriority().get(1).ttftNanos()).isEqualTo(OFF);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ttft = soon                       | slo.ttft is "soon", must be off, or a duration from 0 to 720h
        attainment = 99                   | slo.attainment is 99, must be a number from 0.0 to 1.0
        classes = 1                       | slo.classes is 1, which is not the kind of value it takes
        classes = [{ ttft = 1s }]         | slo.classes.0.priority is missing
        classes = [{ priority = low }]    | slo.classes.0.priority is "low", must be a whole number
        classes = [{ priority = 1, tpot = 5 }] | slo.classes.0.tpot is 5, must be off, or a duration
        classes = [{ priority = 1, ttf = 5s }] | unknown key slo.classes.0.ttf; did you mean slo.classes.0.ttft?
        classes = [{ priority = 1 }, { priority = 1 }] | slo.classes.1.priority is 1, which another class has already
        """)
    void badValue_isNamedWithItsPlaceAndWhatIsAllowed(String setting, String problem) throws IOException {
        var file = Files.writeString(directory.resolve("a.conf"), "seed = 1\nslo {\n  " + setting + "\n}\n");

        assertThatThrownBy(() -> Scenario.read(new ScenarioFile(Map.of()).load(file.toString(), Map.of())))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(file + ":3: " + problem);
    }

    private static ServiceLevels read(String settings) {
        return Scenario.read(new ScenarioFile(Map.of()).load(Section.of(settings)))
                .serviceLevels();
    }
}

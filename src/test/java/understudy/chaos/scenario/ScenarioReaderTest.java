package understudy.chaos.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.chaos.fleet.Injection;
import understudy.chaos.proxy.ReplicaFault;
import understudy.faults.Fault;
import understudy.settings.ScenarioException;

final class ScenarioReaderTest {
    private static ChaosScenario read(String keys) {
        return ScenarioReader.text("scenarios = [{ name = a, " + keys + " }]").get(0);
    }

    @Test
    void kitHasAtLeastThirtyScenariosEachWithItsSentence() {
        var scenarios = ScenarioReader.builtIn();

        assertThat(scenarios).hasSizeGreaterThanOrEqualTo(30).allSatisfy(scenario -> {
            assertThat(scenario.description()).endsWith(".");
            assertThat(scenario.incident()).matches("|[\\w.-]+/[\\w.-]+#\\d+");
            assertThat(scenario.numReplicas()).isEqualTo(3);
        });
    }

    @Test
    void faultOnTheWireHasItsEnd() {
        var injections = read("faults = [{ at = 100ms, do = cut, replica = 1, every = 2, for = 300ms }]")
                .injections();

        assertThat(injections).hasSize(2);
        assertThat(injections.get(0).atNanos()).isEqualTo(100_000_000);
        assertThat(injections.get(0).replica()).isEqualTo(OptionalInt.of(1));
        assertThat(((Injection.Begin) injections.get(0).action()).fault().every())
                .isEqualTo(2);
        // 100 ms + 300 ms.
        assertThat(injections.get(1).atNanos()).isEqualTo(400_000_000);
        assertThat(injections.get(1).action()).isEqualTo(new Injection.End(ReplicaFault.Kind.CUT));
    }

    @Test
    void faultOfTheEngineIsThatOfAPlan() {
        var injections = read("faults = [{ at = 1s, do = slow-gpu, replica = 2, factor = 4, for = 1s }]")
                .injections();

        assertThat(injections.get(0).action()).isEqualTo(new Injection.OfEngine(new Fault.SlowGpu(2, 4), false));
        assertThat(injections.get(1).action()).isEqualTo(new Injection.OfEngine(new Fault.SlowGpu(2, 1), true));
    }

    @Test
    void seriesHaveFigures() {
        var fault = (Injection.Begin) read("faults = [{ at = 1s, do = false-metrics, series = \"a=NaN, b=0\" }]")
                .injections()
                .get(0)
                .action();

        assertThat(fault.fault().series())
                .containsEntry("a", "NaN")
                .containsEntry("b", "0")
                .hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "faults = [{ at = 1s, do = cutt }] | do is \"cutt\", must be one of refuse, zombie",
                "faults = [{ at = 1s, do = cut, replica = 3 }] | replica is \"3\", must be below 3",
                "faults = [{ at = 1s, do = cut, factor = 2 }] | unknown key factor for cut",
                "faults = [{ at = 0s, do = crash, replica = 0 }] | at is 0s, must be more for crash",
                "faults = [{ at = 1s, do = crash }] | replica is missing",
                "faults = [{ at = 1s, do = add }] | do is \"add\", must be one of",
                "faults = [{ do = cut }] | at is missing",
                "load = [{ rate = 0 }] | load.0.rate is 0, must be a number from 0.1 to 200.0",
                "load = [{ rates = 3 }] | unknown key",
                "laws = [no-such] | calls-end-once",
                "faults = [{ at = 1s, do = crash-decode, replica = 0 }] | crash-decode is for pairs of engines, and replica 0"
                        + " must be vllm-pd",
                "fleet.engines = [tgi] | must be a list of 1 to 16 of vllm, sglang, vllm-pd",
                "fleet.settings.engine.max-num-seq = 3 | engine.max-num-seqs",
                "bounds.min-success = 2 | bounds.min-success is 2, must be a number from 0.0 to 1.0",
                "bound.min-success = 1 | bounds.min-success",
                "name = \"A B\" | must be of small letters"
            })
    void mistakeIsNamed(String keys, String message) {
        assertThatThrownBy(() -> read(keys))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(message);
    }

    /** The settings are part of a larger text that the kit makes; the place is that of the file. */
    @Test
    void mistakeInTheSettingsOfAFleet_hasThePlaceInTheFile(@TempDir Path folder) throws IOException {
        var file = Files.writeString(folder.resolve("own.conf"), """
                scenarios = [{
                  name = a
                  fleet.settings { engine.max-num-seqs = x }
                }]
                """);

        assertThatThrownBy(() -> ScenarioReader.file(file))
                .isInstanceOf(ScenarioException.class)
                .hasMessage(file
                        + ":3: scenarios.0.fleet.settings: cluster.groups.0.engine.max-num-seqs is \"x\", must be a"
                        + " whole number from 1 to 1000000");
    }

    @Test
    void namesAreUnique() {
        assertThatThrownBy(() -> ScenarioReader.text("scenarios = [{ name = a }, { name = a }]"))
                .hasMessage("two scenarios have the name \"a\"");
    }
}

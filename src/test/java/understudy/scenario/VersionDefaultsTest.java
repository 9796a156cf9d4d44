package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.engine.version.EngineProfile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

final class VersionDefaultsTest {
    private static final String VERSION = "server.vllm-version";
    private static final String CAP = "engine.cap-lone-prefills";

    @TempDir
    private Path directory;

    @Test
    void defaultsOfAVersion_areWeakerThanWhatIsGiven_andStrongerThanTheOthers() throws IOException {
        assertThat(load("").text(VERSION)).isEqualTo("0.24.0");
        assertThat(load("engine.version = 0.30").text(VERSION)).isEqualTo("0.30.0");
        assertThat(load("engine.version = 0.30, " + VERSION + " = mine").text(VERSION))
                .isEqualTo("mine");
        assertThat(load("engine.version = 0.30", "engine.version", "0.28").text(VERSION))
                .isEqualTo("0.28.0");
        assertThat(load("engine.version = 0.30", VERSION, "mine").text(VERSION)).isEqualTo("mine");
    }

    @Test
    void programThatEmbedsACluster_hasThemToo() {
        assertThat(EmbeddedScenario.of("engine.version = main").server().vllmVersion())
                .isEqualTo("0.30.1rc0");
    }

    /** A group follows its own version, unless the user says otherwise, and another engine has no default of vLLM's. */
    @Test
    void groupsHaveVersionsOfTheirOwn() throws IOException {
        String groups = "cluster.groups = [{ name = old, engine.version = recorded }, { name = new },"
                + " { name = other, engine { kind = sglang, version = recorded } },"
                + " { name = mine, engine { version = 0.28, cap-lone-prefills = false } }]\n";

        assertThat(values("engine.version = main, " + groups, CAP)).containsExactly("true", "false", "true", "false");
        assertThat(values("engine.version = main, " + CAP + " = true, " + groups, CAP))
                .containsExactly("true", "true", "true", "false");
        assertThat(values("cluster.groups = [{ name = a }, { name = b, engine.version = main }]", CAP))
                .containsExactly("true", "false");
    }

    @Test
    void groupsOfTwoEngines_areRead_underAVersionOfOne() throws IOException {
        var scenario = Scenario.read(load("engine.version = main, engine.max-model-len = 8192, cluster.groups = ["
                + "{ name = a }, { name = b, engine { kind = sglang, version = recorded } }]"));

        assertThat(scenario.groups()).hasSize(2);
        assertThatThrownBy(() -> load("engine.version = main, cluster.groups = [{ name = b, engine.kind = sglang }]"))
                .hasMessageContaining("engine.version is \"main\", must be one of recorded");
    }

    @Test
    void profiles_areThoseOfTheGroups() throws IOException {
        var scenario = load("engine.version = main, cluster.groups = [{ name = a }, { name = b }, { name = c,"
                + " engine.version = 0.28 }]");

        assertThat(VersionDefaults.profiles(scenario))
                .map(EngineProfile::version)
                .containsExactly("main", "0.28");
    }

    /** Returns a setting of each group, or of the scenario where it has none. */
    private List<String> values(String settings, String key) throws IOException {
        var scenario = load(settings);
        return scenario.sections("cluster.groups").stream()
                .map(group -> group.withFallback(scenario.only("engine")).text(key))
                .toList();
    }

    @Test
    void versionThatIsNotKnown_isOneLine() {
        assertThatThrownBy(() -> load("engine.version = 0.31"))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("engine.version is 0.31, must be one of 0.27, recorded");
    }

    private Section load(String settings, String... flag) throws IOException {
        var file = Files.writeString(directory.resolve("a.conf"), settings);
        return new ScenarioFile(Map.of()).load(file.toString(), flag.length == 0 ? Map.of() : Map.of(flag[0], flag[1]));
    }
}

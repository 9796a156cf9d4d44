package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

final class VersionDefaultsTest {
    private static final String VERSION = "server.vllm-version";

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

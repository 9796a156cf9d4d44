package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class VersionsCommandTest {
    @TempDir
    private Path directory;

    @Test
    void list_hasAllVersions_orThoseOfOneEngine() {
        assertThat(call("versions").out).contains("vllm", "sglang", "017e9f4448", "8905cbd42f", "0.30.0");
        assertThat(call("versions", "--engine", "sglang").out)
                .contains("8905cbd42f")
                .doesNotContain("017e9f4448");
        assertThat(call("versions", "--engine", "tgi").err)
                .isEqualToIgnoringNewLines("--engine tgi: must be one of vllm, sglang");
    }

    @Test
    void show_saysWhatIsSecondHand_andWhatIsNotKnown() {
        assertThat(call("versions", "--show", "0.30").out)
                .contains("vllm #57382", "second hand", "not known: The default hash of the prefix cache");
    }

    @Test
    void diff_marksWhatTheScenarioGives_alsoInGroups() throws IOException {
        String file = Files.writeString(directory.resolve("a.conf"), """
                        server.vllm-version = "0.26.1"
                        cluster.groups = [{ name = a, kv-cache.tiers.host.gib = 10 }]
                        """).toString();

        var diff = call("versions", "--diff", "0.27", "0.30", file);

        // The text of /version, and what is said of offloading: back-pressure, a limit, KVCR.
        assertThat(diff.out)
                .contains("4 of them about settings of " + file)
                .contains("> 0.30      default        server.vllm-version = 0.27.1 -> 0.30.0")
                .contains("the scenario has server.vllm-version = 0.26.1, which stays")
                .contains("the scenario has kv-cache.tiers.host.gib = 10")
                .contains("flag-renamed")
                .doesNotContain("0.28.0");
        assertThat(diff.out.lines().filter(line -> line.startsWith("> "))).hasSize(4);
    }

    @Test
    void json_hasTheSame() throws IOException {
        var diff = call("versions", "--diff", "0.29", "0.30", "--set", "server.vllm-version=x", "--json", "-")
                .json();

        var first = diff.get("changes").get(0);
        assertThat(first.get("name").asText()).isEqualTo("server.vllm-version");
        assertThat(first.get("before").asText()).isEqualTo("0.29.0");
        assertThat(first.get("value").asText()).isEqualTo("0.30.0");
        assertThat(first.get("scenario").get("server.vllm-version").asText()).isEqualTo("x");
        assertThat(diff.get("not_known")).isNotEmpty();
    }

    @Test
    void wrongUse_isOneLine() {
        assertThat(call("versions", "conf/demo.conf").err)
                .isEqualToIgnoringNewLines("conf/demo.conf: a scenario needs --diff");
        assertThat(call("versions", "--diff", "0.30", "0.27").err).contains("must be later than 0.30");
    }
}

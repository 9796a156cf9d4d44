package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EmitCommandTest {
    @TempDir
    private Path folder;

    @Test
    void commands_goToStdout() {
        var result = CommandLineFixture.call("emit", "conf/demo.conf", "--set", "latency.tensor-parallel-size=2");

        assertThat(result.exitCode).isZero();
        assertThat(result.out).contains("""
                        # vllm: 4 servers with 2 x h100-sxm
                        vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size=2 --port=8000
                        """).contains("which reads their KV events (--kv-events-config)");
    }

    @Test
    void files_goToTheFolder_andArePrinted() {
        var result = CommandLineFixture.call("emit", "conf/demo.conf", "--as", "compose", "--dir", folder + "/new");

        assertThat(result.exitCode).isZero();
        assertThat(result.out.lines())
                .containsExactlyInAnyOrder(
                        folder.resolve("new/compose.yaml").toString(),
                        folder.resolve("new/compose-understudy.yaml").toString());
        assertThat(folder.resolve("new/compose.yaml")).content().contains("vllm/vllm-openai:latest");
    }

    @Test
    void formatThatThereIsNot_isRefused() {
        var result = CommandLineFixture.call("emit", "conf/demo.conf", "--as", "helm");

        assertThat(result.exitCode).isEqualTo(2);
        assertThat(result.err).contains("--as helm: must be one of commands, compose, kubernetes");
    }

    @Test
    void placeThatIsNoFolder_isRefused() throws Exception {
        var file = Files.writeString(folder.resolve("file"), "");
        var result = CommandLineFixture.call("emit", "conf/demo.conf", "--as", "compose", "--dir", file.toString());

        assertThat(result.exitCode).isEqualTo(2);
        assertThat(result.err).contains("--dir " + file + ": not a folder");
    }
}

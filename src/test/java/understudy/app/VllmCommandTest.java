package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;

/** What manifests call beside 'vllm serve MODEL'. */
final class VllmCommandTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "serve --help",
                "serve --help=listgroup",
                "serve --help=max-num-seqs",
                "serve m --help=all",
                "launch render --help",
                "-u -m vllm.entrypoints.openai.api_server --help"
            })
    void help_isPrinted(String line) {
        var called = call(("vllm " + line).split(" "));

        assertThat(called.exitCode).isZero();
        assertThat(called.out).contains("Usage: vllm serve [MODEL] [FLAGS]", "--max-num-seqs");
    }

    @Test
    void typo_endsTheStartAsInVllm() {
        var called = call("vllm", "serve", "Qwen/Qwen3-8B", "--portt", "24500");

        assertThat(called.exitCode).isEqualTo(2);
        assertThat(called.err).isEqualTo("vllm: error: unrecognized arguments: --portt 24500 (did you mean --port?)\n");
    }

    @Test
    void probe_succeedsWhereTheServerDoes() {
        String url = server.start().url();
        String text = "import urllib.request; urllib.request.urlopen('" + url + "%s', timeout=2).read()";

        assertThat(call("vllm", "-c", text.formatted("/health")).exitCode).isZero();
        var failed = call("vllm", "-c", text.formatted("/nothing"));
        assertThat(failed.exitCode).isEqualTo(1);
        assertThat(failed.err).isEqualTo(url + "/nothing: status 404\n");
    }

    @Test
    void version_isPrintedByPythonToo() {
        assertThat(call("vllm", "-c", "import vllm; print(vllm.__version__)").out)
                .isEqualTo(call("vllm", "--version").out);
    }

    @Test
    void pip_saysThatItDoesNothing() {
        var called = call("vllm", "-m", "pip", "install", "x");

        assertThat(called.exitCode).isZero();
        assertThat(called.err).contains("nothing is installed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-c print(1)      | python -c: there is no Python here; only a text with a URL",
                "-m torch         | python -m torch: must be vllm.entrypoints.openai.api_server",
                "launch something | vllm launch something: must be render",
                "chat             | vllm chat: must be serve, launch render, --version or -m vllm"
            })
    void others_areRefused(String line, String message) {
        var called = call(("vllm " + line).split(" "));

        assertThat(called.exitCode).isEqualTo(2);
        assertThat(called.err).startsWith(message);
    }
}

package understudy.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.app.vllm.VllmSettings;
import understudy.scenario.SpecFiles;

/** The scripts of the image, run by this machine's shell; in place of Java stands what prints its words. */
final class ImageScriptsTest {
    private static final Path SCRIPTS = Path.of("src/main/image").toAbsolutePath();
    private static final Path COMMANDS = Path.of("src/test/resources/understudy/image/container-commands.txt");
    private static final String SERVER = "vllm.entrypoints.openai.api_server";

    /** Prints each word behind the jar on a line of its own. */
    private static final String JAVA = """
        #!/bin/sh
        while [ "$1" != -jar ]; do shift; done
        shift 2
        for word; do echo "word:$word"; done
        """;

    /** Prints what it is asked, and fails at a port that nobody listens at. */
    private static final String CURL = """
        #!/bin/sh
        for url; do :; done
        echo "asked $url"
        case $url in *:9/*) exit 7 ;; esac
        """;

    @TempDir
    private static Path stubs;

    /** What a line said, and how it ended. */
    private record Run(int exitCode, String out) {
        /** Returns the words of the program. */
        List<String> words() {
            return out.lines()
                    .filter(line -> line.startsWith("word:"))
                    .map(line -> line.substring("word:".length()))
                    .toList();
        }
    }

    @BeforeAll
    static void writeStubs() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no /bin/bash");
        for (var stub : Map.of("java", JAVA, "curl", CURL).entrySet()) {
            var file = Files.writeString(stubs.resolve(stub.getKey()), stub.getValue());
            assertThat(file.toFile().setExecutable(true)).isTrue();
        }
    }

    /** Runs a line where all that there is on the path are the scripts, the stubs and the system. */
    private static Run run(String line) throws IOException, InterruptedException {
        var builder = new ProcessBuilder("/bin/sh", "-c", line).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().put("PATH", stubs + ":" + SCRIPTS + ":/usr/bin:/bin");
        builder.environment().put("HOME", stubs.toString());
        // A login shell would set another path.
        Files.writeString(stubs.resolve(".bash_profile"), "PATH=" + stubs + ":" + SCRIPTS + ":/usr/bin:/bin\n");
        var process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), out);
    }

    private static String inThisTree(String line) {
        return line.replaceFirst("^IMAGE", SCRIPTS.resolve("understudy").toString())
                .replace("/opt/venv/bin/", SCRIPTS + "/");
    }

    static Stream<String> commands() throws IOException {
        return Files.readAllLines(COMMANDS).stream().filter(line -> !line.startsWith("#"));
    }

    @Test
    void commands_areMany() throws IOException {
        assertThat(commands().toList()).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(40);
    }

    @ParameterizedTest
    @MethodSource("commands")
    void commandOfAContainer_servesAsVllm(String command) throws Exception {
        var run = run(inThisTree(command));

        var words = run.words();
        assertThat(words).as(run.out()).startsWith("vllm");
        var flags = behindServe(words.subList(1, words.size()));
        var served = VllmSettings.of(flags, Map.of()).start(VllmSettings.SCENARIO, Map.of(), Map.of());
        assertThat(served.scenario().numReplicas()).isPositive();
    }

    /** Returns what is behind the ways to say 'serve'. */
    private static List<String> behindServe(List<String> words) {
        int first = words.indexOf("serve");
        first = first < 0 ? words.indexOf("render") : first;
        first = first < 0 ? words.indexOf(SERVER) : first;
        assertThat(first).as(words.toString()).isBetween(0, 2);
        return words.subList(first + 1, words.size());
    }

    /** Understudy's own commands stay what they are; its serve has a scenario, or flags of its own. */
    @ParameterizedTest
    @CsvSource({
        "'', ''",
        "--help, --help",
        "--version, --version",
        "run conf/demo.conf, run conf/demo.conf",
        "serve, serve",
        "serve conf/serve.conf, serve conf/serve.conf",
        "serve mine.yaml --port 1, serve mine.yaml --port 1",
        "serve --port 8000, serve --port 8000",
        "models, models",
        "gpus --tables x, gpus --tables x",
        "versions --show main, versions --show main",
        "sweep --help, sweep --help",
        "nonsense, nonsense",
        "serve Qwen/Qwen3-8B --port 1, vllm serve Qwen/Qwen3-8B --port 1",
        "serve --port 1 --model=x, vllm serve --port 1 --model=x",
        "/mnt/models, vllm serve /mnt/models",
        "serve /mnt, vllm serve /mnt"
    })
    void entrypoint_knowsItsCommands(String given, String words) throws Exception {
        var run = run(SCRIPTS.resolve("understudy") + " " + given);

        assertThat(String.join(" ", run.words())).isEqualTo(words);
    }

    /** A model may have the name of no file and no command. */
    @Test
    void everyBundledModel_isServedByItsName() throws Exception {
        String lines = String.join(
                "\n",
                SpecFiles.MODELS.all().stream()
                        .map(file -> "understudy " + file.text("name") + " --port 1")
                        .toList());

        var words = run(lines).words();

        assertThat(words).hasSize(5 * SpecFiles.MODELS.all().size());
        assertThat(words.stream().filter("serve"::equals)).hasSize(words.size() / 5);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '#',
            value = {
                "python3 -c \"import urllib.request; urllib.request.urlopen('http://localhost:8000/health')\" | 0",
                "python -c 'import requests; requests.get(\"http://localhost:8000/health\").raise_for_status()' | 0",
                "python3 -c \"import urllib.request as u; u.urlopen('http://localhost:9/health')\" | 7"
            })
    void probeByPython_asksItsUrl(String line, int exitCode) throws Exception {
        var run = run(line);

        assertThat(run.out()).isEqualTo("asked http://localhost:" + (exitCode == 0 ? "8000" : "9") + "/health\n");
        assertThat(run.exitCode()).isEqualTo(exitCode);
    }

    @ParameterizedTest
    @CsvSource({"pip install x", "pip3 install x", "python3 -m pip install x", "uv pip install --system x"})
    void installers_sayThatTheyDoNothing(String line) throws Exception {
        var run = run(line);

        assertThat(run.out()).contains("nothing is installed; there is no Python here, and none is needed");
        assertThat(run.exitCode()).isZero();
    }
}

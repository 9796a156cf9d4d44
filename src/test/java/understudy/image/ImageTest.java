package understudy.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The image, run over a base system as Kubernetes runs it. */
@Timeout(180)
final class ImageTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final List<String> TOKEN = List.of("UNDERSTUDY_SERVER_ADMIN_TOKEN=secret");

    private static ImageFixture image;

    @BeforeAll
    static void unpack() throws Exception {
        image = ImageFixture.unpack();
    }

    @AfterAll
    static void remove() throws Exception {
        if (image != null) {
            image.close();
        }
    }

    /** How KServe asks for the version. */
    @Test
    void version_isTheLastWordOfTheLastLine() throws Exception {
        assertThat(image.output("/bin/bash", "-c", "vllm --version | tail -1 | awk '{print $NF}'"))
                .matches("\\d+\\.\\d+\\.\\d+\n");
    }

    /** Where charts call the virtual environment of vLLM's images, and Debian's Python. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/opt/venv/bin/vllm --version",
                "/opt/venv/bin/python3 -m vllm.entrypoints.cli.main --version",
                "/usr/bin/python3 -c print(__import__('vllm').vllm.__version__)",
                "/bin/sh -c exec␠vllm␠--version",
                "/bin/bash -lc pip␠install␠x␠2>/dev/null␠&&␠vllm␠--version"
            })
    void otherPaths_areVllmToo(String command) throws Exception {
        var words = List.of(command.split(" ")).stream().map(ImageTest::spaced).toArray(String[]::new);

        assertThat(image.output(words)).matches("\\d+\\.\\d+\\.\\d+\n");
    }

    @Test
    void nativeCode_isThatOfLinux() throws Exception {
        try (var jar = new ZipFile(image.path("understudy/understudy.jar").toFile())) {
            var folders = jar.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.matches(".*[.](so|dylib|jnilib|dll)"))
                    .map(name ->
                            name.replaceAll("^(native/lib|com/sun/jna)/", "").replaceAll("/.*", ""))
                    .distinct();

            assertThat(folders).containsExactlyInAnyOrder("linux-x86_64", "linux-x86-64", "linux-aarch64");
        }
    }

    @Test
    void sleepOfPreStop_isThere() throws Exception {
        assertThat(image.output("/bin/sleep", "0")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "vllm serve meta-llama/Llama-3.1-8B-Instruct --port=PORT",
                "python3 -m vllm.entrypoints.openai.api_server --model meta-llama/Llama-3.1-8B-Instruct --port PORT",
                "/bin/sh -c pip␠install␠x␠&&␠vllm␠serve␠meta-llama/Llama-3.1-8B-Instruct␠--port=PORT",
                "/opt/venv/bin/vllm serve meta-llama/Llama-3.1-8B-Instruct --port=PORT",
                "/bin/bash -c eval␠exec␠vllm␠serve␠meta-llama/Llama-3.1-8B-Instruct␠--port␠PORT␠--enforce-eager"
            })
    void commandOfAManifest_answersUnderTheModelsName(String command) throws Exception {
        int port = freePort();
        var words = List.of(command.replace("PORT", String.valueOf(port)).split(" "));

        String answer = answer(List.of(), words.stream().map(ImageTest::spaced).toList(), port);

        assertThat(answer).contains("\"model\":\"meta-llama/Llama-3.1-8B-Instruct\"");
    }

    @Test
    void containerThatIsGivenNothing_serves() throws Exception {
        int port = freePort();
        var environment = new ArrayList<>(TOKEN);
        environment.add("UNDERSTUDY_SERVER_PORT=" + port);

        assertThat(answer(environment, image.defaultCommand(), port)).contains("\"model\":\"llama-3.1-8b\"");
    }

    /** As vLLM's own image, and what the chart of llm-d calls imageDefault. */
    @Test
    void containerThatIsGivenFlags_takesThemForVllmServe() throws Exception {
        int port = freePort();
        var flags = List.of("--model", "Qwen/Qwen3-8B", "--port", String.valueOf(port), "--served-model-name", "q");

        assertThat(answer(List.of(), image.commandWith(flags), port)).contains("\"model\":\"q\"");
    }

    /** As 'docker run IMAGE MODEL --flags'. */
    @ParameterizedTest
    @ValueSource(strings = {"Qwen/Qwen3-8B --port PORT", "serve Qwen/Qwen3-8B --port PORT"})
    void containerThatIsGivenAModel_servesIt(String arguments) throws Exception {
        int port = freePort();
        var words = List.of(arguments.replace("PORT", String.valueOf(port)).split(" "));

        assertThat(answer(List.of(), image.commandWith(words), port)).contains("\"model\":\"Qwen/Qwen3-8B\"");
    }

    /** Returns the answer to a completion of a server that is started for it. */
    private static String answer(List<String> environment, List<String> command, int port) throws Exception {
        var process = image.start(environment, command);
        try (var out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            awaitReady(out);
            var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"prompt\": \"x\", \"max_tokens\": 2}"));
            return CLIENT.send(request.build(), BodyHandlers.ofString()).body();
        } finally {
            ImageFixture.end(process);
        }
    }

    private static void awaitReady(BufferedReader out) throws IOException {
        var said = new ArrayList<String>();
        String line = out.readLine();
        while (line != null && !line.startsWith("ready")) {
            said.add(line);
            line = out.readLine();
        }
        assertThat(line).as(String.join("\n", said)).isNotNull();
    }

    /** A word of a shell's -c has spaces of its own. */
    private static String spaced(String word) {
        return word.replace('␠', ' ');
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}

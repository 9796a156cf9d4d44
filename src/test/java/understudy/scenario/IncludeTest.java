package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** What a scenario may include: files, by paths from its own folder, which must be there. */
final class IncludeTest {
    private static final String ONLY_FILES = "a scenario includes files only, by a path from its own folder";

    @TempDir
    private Path directory;

    @Test
    void file_isFoundFromTheFolderOfTheOneThatNamesIt() throws IOException {
        write("sub/inner.conf", "seed = 7, include \"../beside.conf\"");
        write("beside.conf", "cluster.replicas = 3");
        write("sizes.conf", "max-num-seqs = 9");

        var config = load(write("a.conf", "include \"sub/inner.conf\"\nengine { include \"sizes\" }"));

        assertThat(config.text("seed")).isEqualTo("7");
        assertThat(config.text("cluster.replicas")).isEqualTo("3");
        assertThat(config.text("engine.max-num-seqs")).isEqualTo("9");
    }

    /** The folder of the test is named from the one that the tests run in. */
    @Test
    void file_isFoundByARelativePathOfTheScenario() throws IOException {
        write("base.conf", "seed = 7");
        var file = Path.of("").toAbsolutePath().relativize(Path.of(write("a.conf", "include \"base.conf\"")));

        assertThat(load(file.toString()).text("seed")).isEqualTo("7");
    }

    @ParameterizedTest
    @ValueSource(strings = {"include \"none.conf\"", "include file(\"none.conf\")", "engine { include \"none.conf\" }"})
    void fileThatIsNotThere_isNamedWithTheLine(String line) throws IOException {
        String file = write("a.conf", "seed = 1\n" + line + "\n");

        requireRefused(file, file + ":2: include \"none.conf\": no such file: " + directory.resolve("none.conf"));
    }

    @Test
    void fileThatAnIncludedOneMisses_isNamedWithThatOne() throws IOException {
        String inner = write("sub/inner.conf", "include \"a.conf\"");

        requireRefused(
                write("a.conf", "include \"sub/inner.conf\""),
                inner + ":1: include \"a.conf\": no such file: " + directory.resolve("sub/a.conf"));
    }

    @Test
    void fileThatIncludesItself_isRefused() throws IOException {
        write("b.conf", "include \"a.conf\"");

        requireRefused(
                write("a.conf", "include \"b.conf\""),
                directory.resolve("b.conf") + ":1: include \"a.conf\": which includes this file");
    }

    @Test
    void absolutePath_isRefused() throws IOException {
        String other = write("b.conf", "seed = 7");
        String file = write("a.conf", "include \"" + other + "\"");

        requireRefused(file, file + ":1: include \"" + other + "\": " + ONLY_FILES);
    }

    /** A server of our own stands for one on the network, and counts who asks. */
    @Test
    void addressesAndTheClassPath_areRefused_andNobodyIsAsked() throws IOException {
        var asked = new AtomicInteger();
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", call -> {
            asked.incrementAndGet();
            call.sendResponseHeaders(200, -1);
            call.close();
        });
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/evil.conf";
        try {
            for (String include : new String[] {
                "include url(\"" + url + "\")",
                "include \"" + url + "\"",
                "include required(url(\"" + url + "\"))",
                "include \"file:///etc/hostname\"",
                "include classpath(\"reference.conf\")",
                "workload.tenants = 1, include required(classpath(\"conf/demo.conf\"))"
            }) {
                String file = write("a.conf", include);
                requireRefused(file, ONLY_FILES);
            }
        } finally {
            server.stop(0);
        }
        assertThat(asked).hasValue(0);
    }

    /** Lists may stand in a text, which is HOCON, too. */
    @Test
    void textWithAList_includesNothing() throws IOException {
        String list = "[{ include file(\"b.conf\") }]";
        write("b.conf", "name = b");
        String file = write("a.conf", "");

        assertThatThrownBy(() -> new ScenarioFile(Map.of()).load(file, Map.of("cluster.groups", list)))
                .isInstanceOf(ScenarioException.class)
                .hasMessage("--set cluster.groups: include \"b.conf\": only a file may include another one");
    }

    @Test
    void modelFile_isReadInTheSameWay() throws IOException {
        String file = write("model.conf", "include url(\"http://127.0.0.1:1/x\")");

        assertThatThrownBy(() -> SpecFiles.MODELS.read(Path.of(file)))
                .isInstanceOf(ScenarioException.class)
                .hasMessageEndingWith(ONLY_FILES);
    }

    private static void requireRefused(String file, String message) {
        assertThatThrownBy(() -> load(file))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(file.substring(0, file.lastIndexOf('/')))
                .hasMessageEndingWith(message);
    }

    private static Section load(String file) {
        return new ScenarioFile(Map.of()).load(file, Map.of());
    }

    private String write(String name, String text) throws IOException {
        var file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text).toString();
    }
}

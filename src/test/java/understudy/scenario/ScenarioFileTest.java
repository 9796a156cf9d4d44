package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.evidence.ValidationTest;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

final class ScenarioFileTest {

    private static final String KEY = "kv-cache.block-size";

    @TempDir
    private Path directory;

    /** The test resources have such a file, with another seed and another engine. */
    @Test
    void referenceOfAnotherProject_saysNothingAboutAnEmulation_norOursAboutIt() {
        assertThat(ConfigFactory.load().getInt("seed")).isEqualTo(99);
        assertThat(ConfigFactory.load().hasPath("kv-cache")).isFalse();

        var scenario = new ScenarioFile(Map.of()).load("conf/demo.conf", Map.of());

        assertThat(scenario.text("engine.max-num-seqs")).isNotEqualTo("1");
        assertThat(scenario.text("seed")).isNotEqualTo("99");
    }

    @Test
    void flag_beatsEnvironmentBeatsFileBeatsDefault() throws IOException {
        String empty = write("empty.conf", "");
        String file = write("file.conf", KEY + " = 3");
        var environment = Map.of("UNDERSTUDY_KV_CACHE_BLOCK_SIZE", "4");

        assertThat(value(empty, Map.of(), Map.of())).isEqualTo(16);
        assertThat(value(file, Map.of(), Map.of())).isEqualTo(3);
        assertThat(value(file, environment, Map.of())).isEqualTo(4);
        assertThat(value(file, environment, Map.of(KEY, "5"))).isEqualTo(5);
    }

    @Test
    void badEnvironment_isNamed() throws IOException {
        var config =
                new ScenarioFile(Map.of("UNDERSTUDY_KV_CACHE_BLOCK_SIZE", "x")).load(write("a.conf", ""), Map.of());

        assertThatThrownBy(() -> Scenario.read(config))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith("environment variable UNDERSTUDY_KV_CACHE_BLOCK_SIZE: " + KEY + " is \"x\"");
    }

    /** What Kubernetes tells pods of the Services understudy and understudy-server. */
    @Test
    void variablesOfServices_areNoSettings() throws IOException {
        var environment = Map.of(
                "UNDERSTUDY_SERVICE_HOST", "10.0.0.1",
                "UNDERSTUDY_SERVICE_PORT", "8000",
                "UNDERSTUDY_SERVICE_PORT_HTTP", "8000",
                "UNDERSTUDY_PORT", "tcp://10.0.0.1:8000",
                "UNDERSTUDY_PORT_8000_TCP", "tcp://10.0.0.1:8000",
                "UNDERSTUDY_PORT_8000_TCP_ADDR", "10.0.0.1",
                "UNDERSTUDY_SERVER_SERVICE_HOST", "10.0.0.2",
                "UNDERSTUDY_SERVER_PORT", "tcp://10.0.0.2:80",
                "UNDERSTUDY_CLUSTER_REPLICAS", "3");

        var config = new ScenarioFile(environment).load(write("a.conf", ""), Map.of());

        assertThat(config.text("cluster.replicas")).isEqualTo("3");
        assertThat(config.text("server.port")).isEqualTo("8000");
    }

    /** A variable of the pod itself takes the place of the Service's. */
    @Test
    void portThatAPodSets_isASettingBesideAServiceOfItsName() throws IOException {
        var environment = Map.of("UNDERSTUDY_SERVER_SERVICE_HOST", "10.0.0.2", "UNDERSTUDY_SERVER_PORT", "8080");

        var config = new ScenarioFile(environment).load(write("a.conf", ""), Map.of());

        assertThat(config.text("server.port")).isEqualTo("8080");
    }

    @Test
    void unknownEnvironmentVariable_isRefusedNamingTheNearest() throws IOException {
        String file = write("a.conf", "");

        assertThatThrownBy(() -> new ScenarioFile(Map.of("UNDERSTUDY_ENGINE_MAX_SEQS", "4")).load(file, Map.of()))
                .hasMessage("unknown environment variable UNDERSTUDY_ENGINE_MAX_SEQS;"
                        + " did you mean UNDERSTUDY_ENGINE_MAX_NUM_SEQS?");
    }

    @Test
    void yamlThatSaysSomethingTwice_isRefused() throws IOException {
        String file = write("a.yaml", "seed: 1\nseed: 2\n");

        assertThatThrownBy(() -> new ScenarioFile(Map.of()).load(file, Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("a.yaml:2: ")
                .hasMessageContaining("Duplicate");
    }

    @Test
    void values_areTakenAsTheyAre() throws IOException {
        var config = new ScenarioFile(Map.of()).load(write("a.conf", ""), Map.of("workload.trace", "a//b #c: $d,e"));

        assertThat(config.text("workload.trace")).isEqualTo("a//b #c: $d,e");
    }

    @Test
    void yamlWithAMistake_namesTheLine() throws IOException {
        String file = write("a.yaml", "cluster:\n  replicas: [1\n");

        assertThatThrownBy(() -> new ScenarioFile(Map.of()).load(file, Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(file + ":");
    }

    @Test
    void yaml_mayHaveKeysWithDots() throws IOException {
        String text = """
                cluster.replicas: 2
                engine.max-num-seqs: 9
                engine:
                  max-num-batched-tokens: 64
                engine.lora: {enable: false}
                router.disaggregation.uncached-tokens: 3
                """;

        var config = new ScenarioFile(Map.of()).load(write("a.yaml", text), Map.of());

        assertThat(config.text("cluster.replicas")).isEqualTo("2");
        assertThat(config.text("engine.max-num-seqs")).isEqualTo("9");
        assertThat(config.text("engine.max-num-batched-tokens")).isEqualTo("64");
        assertThat(config.text("router.disaggregation.uncached-tokens")).isEqualTo("3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cluster.replicas: 2;cluster: {replicas: 3} | cluster.replicas stands there twice",
                "cluster: {replicas: 3};cluster.replicas: 2 | cluster.replicas stands there twice",
                "seed: 2;seed.a: 2 | seed stands there twice"
            })
    void yamlKeyWithDots_standsThereOnce(String lines, String problem) throws IOException {
        String file = write("a.yaml", lines.replace(';', '\n'));

        assertThatThrownBy(() -> new ScenarioFile(Map.of()).load(file, Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith(file)
                .hasMessageContaining(problem);
    }

    /** As deep as an attacker can make it with a few kilobytes. */
    @ParameterizedTest
    @CsvSource({"a.yaml, 'a: ', [, 100000", "a.conf, a =, [, 20000", "a.conf, '', {b=, 20000", "a.conf, '', a., 20000"})
    void fileThatIsNestedTooDeeply_isOneLine(String name, String start, String level, int depth) throws IOException {
        String file = write(name, start + level.repeat(depth) + (level.equals("a.") ? "a=1" : ""));

        assertThatThrownBy(() -> new ScenarioFile(Map.of()).load(file, Map.of()))
                .isInstanceOf(ScenarioException.class)
                .hasMessageMatching("(?s)" + Pattern.quote(file) + ": .*nest[^\n]*");
    }

    @Test
    void off_isAWordInYamlToo() throws IOException {
        var config = new ScenarioFile(Map.of()).load(write("a.yaml", "kv-cache:\n  sessions: off\n"), Map.of());

        assertThat(Scenario.read(config).engine().kvCache().findsBySession()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '~', textBlock = """
        "tcp://h:1", tcp://h:1
        tcp://h:1, tcp://h:1
        "a" and "b", "a" and "b"
        ", "
        """)
    void quotesAroundAFlag_areLeftOut(String given, String meant) throws IOException {
        String key = "kv-cache.kv-events.endpoint";

        var config = new ScenarioFile(Map.of()).load(write("a.yml", ""), Map.of(key, given));

        assertThat(config.text(key)).isEqualTo(meant);
    }

    @Test
    void emptyYaml_isAllDefaults() throws IOException {
        assertThat(value(write("a.yml", ""), Map.of(), Map.of())).isEqualTo(16);
    }

    /** Every scenario that comes with the program; models, GPUs and plans are files of another form. */
    static Stream<Path> scenarios() throws IOException {
        try (var files = Files.walk(Path.of("conf"))) {
            return files
                    .filter(file -> file.toString().endsWith(".conf"))
                    .filter(file -> !file.startsWith("conf/models") && !file.startsWith("conf/gpus"))
                    .filter(file -> !file.startsWith("conf/plan"))
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void shippedScenario_isRight(Path file) throws IOException {
        var config = new ScenarioFile(Map.of()).load(file.toString(), ValidationTest.measurements(file.toString()));
        var scenario = Scenario.read(config);

        assertThat(scenario.numReplicas()).isPositive();
        if (config.text("workload.kind").equals("generated")) {
            scenario.workloadSource().open().close();
        }
    }

    @Test
    void tenants_areThoseOfTheWorkload() {
        var settings = Section.of("workload.tenants = 2");
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load(settings));

        try (var workload = scenario.workloadSource().open()) {
            assertThat(workload.next().tenant()).startsWith("tenant-");
        }
    }

    private static int value(String file, Map<String, String> environment, Map<String, String> flags) {
        return new ScenarioFile(environment).load(file, flags).wholeNumber(KEY, 0, Integer.MAX_VALUE);
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    @Test
    void variablesOfTheLauncher_areNoSettings() {
        var environment = Map.of("UNDERSTUDY_JAVA_OPTS", "-Xmx1g", "UNDERSTUDY_ARCHIVE", "off");

        assertThat(new ScenarioFile(environment)
                        .load("conf/demo.conf", Map.of())
                        .values())
                .isEqualTo(new ScenarioFile(Map.of())
                        .load("conf/demo.conf", Map.of())
                        .values());
    }
}

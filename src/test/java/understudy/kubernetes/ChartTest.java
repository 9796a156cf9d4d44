package understudy.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.app.sglang.SglangCommandLine;
import understudy.app.vllm.VllmSettings;

/** The chart of {@code conf/kubernetes}, rendered as helm renders it, and the manifests beside it. */
final class ChartTest {
    private static final String ALL = """
            serviceMonitor: {enabled: true}
            inferencePool: {enabled: true}
            """;

    @TempDir
    private Path folder;

    @Test
    void chart_hasNothingToComplainOf() {
        var result = ChartFixture.helm().lint().strict().call();

        assertThat(result.isFailed())
                .as(String.join("\n", result.getMessages()))
                .isFalse();
    }

    @Test
    void defaults_areADeploymentAndAService() throws IOException {
        assertThat(render("")).containsOnlyKeys("Deployment", "Service");
    }

    @ParameterizedTest
    @CsvSource({
        "Deployment, serve.yaml",
        "Service, serve.yaml",
        "ServiceMonitor, servicemonitor.yaml",
        "InferencePool, inferencepool.yaml"
    })
    void manifest_saysWhatTheChartSaysByDefault(String kind, String file) throws IOException {
        var ofChart = ChartFixture.withoutLabelsOfHelm(render(ALL).get(kind));

        assertThat(ChartFixture.plain(file).get(kind)).isEqualTo(ofChart);
    }

    @Test
    void selectors_findThePods() throws IOException {
        var objects = render(ALL + "podLabels: {tier: gold}\n");

        var labels = fields(objects.get("Deployment").at("/spec/template/metadata/labels"));
        assertThat(labels).containsEntry("tier", "gold");
        assertThat(labels).containsAllEntriesOf(fields(objects.get("Deployment").at("/spec/selector/matchLabels")));
        assertThat(labels).containsAllEntriesOf(fields(objects.get("Service").at("/spec/selector")));
        assertThat(labels)
                .containsAllEntriesOf(fields(objects.get("InferencePool").at("/spec/selector/matchLabels")));
        // A ServiceMonitor selects Services.
        assertThat(fields(objects.get("Service").at("/metadata/labels")))
                .containsAllEntriesOf(fields(objects.get("ServiceMonitor").at("/spec/selector/matchLabels")));
    }

    @Test
    void releases_doNotSelectEachOthersPods() {
        String other = ChartFixture.helm().template().withName("another").call();

        assertThat(other).contains("name: \"another\"").doesNotContain("instance: \"understudy\"");
    }

    /** Names that helm takes; Kubernetes wants texts, and of a Service a name of letters that begins with one. */
    @ParameterizedTest
    @CsvSource({"7, understudy-7", "1e3, understudy-1e3", "v1.2, v1-2", "true, true"})
    void nameOfARelease_becomesOneOfAService(String release, String name) throws IOException {
        var objects = ChartFixture.byKind(
                ChartFixture.helm().template().withName(release).call());

        for (var object : objects.values()) {
            assertThat(object.at("/metadata/name").isTextual()).isTrue();
            assertThat(object.at("/metadata/name").asText()).isEqualTo(name);
            object.findValues("app.kubernetes.io/instance")
                    .forEach(label -> assertThat(label.isTextual()).isTrue());
        }
    }

    @Test
    void tls_reachesServerProbesAndMonitor() throws IOException {
        var objects = render(ALL + "tls: {secretName: cert}\n");

        var deployment = objects.get("Deployment");
        var container = ChartFixture.container(deployment);
        assertThat(texts(container.path("args")))
                .contains("--ssl-certfile=/etc/understudy/tls/tls.crt", "--ssl-keyfile=/etc/understudy/tls/tls.key");
        assertThat(container.at("/volumeMounts/0/mountPath").asText()).isEqualTo("/etc/understudy/tls");
        assertThat(deployment
                        .at("/spec/template/spec/volumes/0/secret/secretName")
                        .asText())
                .isEqualTo("cert");
        assertThat(container.findValues("httpGet"))
                .hasSize(3)
                .allSatisfy(get -> assertThat(get.path("scheme").asText()).isEqualTo("HTTPS"));
        assertThat(objects.get("ServiceMonitor").at("/spec/endpoints/0/scheme").asText())
                .isEqualTo("https");
    }

    @Test
    void largeNumbers_areWrittenOut() throws IOException {
        var deployment =
                render("replicas: 1000000\npreStopSleepSeconds: 1000000\n").get("Deployment");

        assertThat(deployment.at("/spec/replicas").isInt()).isTrue();
        assertThat(texts(ChartFixture.container(deployment).at("/lifecycle/preStop/exec/command")))
                .containsExactly("/bin/sleep", "1000000");
    }

    @Test
    void portOfTheService_isThatOfAll() throws IOException {
        var objects = render(ALL + "service: {port: 8200}\n");

        var container = ChartFixture.container(objects.get("Deployment"));
        assertThat(texts(container.path("args"))).contains("--port=8200");
        assertThat(container.at("/ports/0/name").asText()).isEqualTo("http");
        assertThat(container.at("/ports/0/containerPort").asInt()).isEqualTo(8200);
        assertThat(objects.get("Service").at("/spec/ports/0/port").asInt()).isEqualTo(8200);
        assertThat(objects.get("Service").at("/spec/ports/0/targetPort").asText())
                .isEqualTo("http");
        assertThat(objects.get("InferencePool").at("/spec/targetPorts/0/number").asInt())
                .isEqualTo(8200);
        assertThat(objects.get("ServiceMonitor").at("/spec/endpoints/0/port").asText())
                .isEqualTo("http");
    }

    @ParameterizedTest
    @ValueSource(strings = {"startupProbe", "readinessProbe", "livenessProbe"})
    void probe_asksForHealthAtTheServersPort(String probe) throws IOException {
        var container = ChartFixture.container(render("").get("Deployment"));

        assertThat(container.at("/" + probe + "/httpGet/path").asText()).isEqualTo("/health");
        assertThat(container.at("/" + probe + "/httpGet/port").asText())
                .isEqualTo(container.at("/ports/0/name").asText());
    }

    @Test
    void values_reachThePod() throws IOException {
        var deployment = render("""
                replicas: 3
                model: Qwen/Qwen3-32B
                gpu: h200
                image: {repository: registry.example/understudy, tag: "7"}
                vllmArgs:
                  - --tensor-parallel-size=2
                  - '--kv-events-config={"enable_kv_cache_events": true}'
                env: [{name: UNDERSTUDY_CLOCK_SPEED, value: "2"}]
                preStopSleepSeconds: 5
                """).get("Deployment");

        var container = ChartFixture.container(deployment);
        assertThat(deployment.at("/spec/replicas").asInt()).isEqualTo(3);
        assertThat(container.path("image").asText()).isEqualTo("registry.example/understudy:7");
        assertThat(texts(container.path("command"))).containsExactly("vllm", "serve");
        assertThat(texts(container.path("args")))
                .containsExactly(
                        "Qwen/Qwen3-32B",
                        "--port=8000",
                        "--tensor-parallel-size=2",
                        "--kv-events-config={\"enable_kv_cache_events\": true}");
        assertThat(container.path("env").findValuesAsText("name"))
                .containsExactly("UNDERSTUDY_LATENCY_GPU", "POD_IP", "UNDERSTUDY_CLOCK_SPEED");
        assertThat(container.at("/env/0/value").asText()).isEqualTo("h200");
        assertThat(texts(container.at("/lifecycle/preStop/exec/command"))).containsExactly("/bin/sleep", "5");
        // 5 s of sleep, server.drain-timeout of 30 s, and 15 s for the rest.
        assertThat(deployment
                        .at("/spec/template/spec/terminationGracePeriodSeconds")
                        .asInt())
                .isEqualTo(50);
    }

    /** SGLang's server listens at 127.0.0.1 unless told otherwise, and has no metrics. */
    @Test
    void sglang_isStartedByItsOwnCommand() throws IOException {
        var deployment = render("""
                engine: sglang
                model: Qwen/Qwen3-32B
                vllmArgs: [--enforce-eager]
                sglangArgs: [--tp-size=2, --schedule-policy=lpm]
                """).get("Deployment");

        var container = ChartFixture.container(deployment);
        var arguments = texts(container.path("args"));
        assertThat(container.path("name").asText()).isEqualTo("sglang");
        assertThat(texts(container.path("command"))).containsExactly("sglang", "serve");
        assertThat(arguments)
                .containsExactly(
                        "Qwen/Qwen3-32B",
                        "--port=8000",
                        "--host=0.0.0.0",
                        "--enable-metrics",
                        "--tp-size=2",
                        "--schedule-policy=lpm");
        var sglang = SglangCommandLine.of(arguments, Map.of());
        assertThat(sglang.warnings()).isEmpty();
        var settings = sglang.start(Map.of()).scenario().server().read();
        assertThat(settings.http().host()).isEqualTo("0.0.0.0");
        assertThat(settings.http().port()).isEqualTo(8000);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "engine: trtllm | engine",
                "replica: 3 | replica",
                "service: {port: 70000} | port",
                "vllmArgs: --enforce-eager | vllmArgs",
                "model: '' | model"
            })
    void valueThatIsWrong_isRefusedByName(String values, String name) {
        ChartFixture.helm();

        assertThatThrownBy(() -> render(values)).hasMessageContaining(name);
    }

    @Test
    void argumentsOfThePod_areUnderstoodByTheProgram() throws IOException {
        var deployment = ChartFixture.plain("serve.yaml").get("Deployment");
        var arguments = texts(ChartFixture.container(deployment).path("args"));

        var vllm = VllmSettings.of(arguments, Map.of());

        assertThat(vllm.warnings()).isEmpty();
        var scenario = vllm.over("conf/vllm.conf", Map.of("UNDERSTUDY_LATENCY_GPU", "h100-sxm"), Map.of());
        assertThat(scenario.numReplicas()).isEqualTo(1);
        assertThat(scenario.server().read().servedModel()).isEqualTo("meta-llama/Llama-3.1-8B-Instruct");
    }

    /** What the chart of llm-d makes of the values, after its template {@code vllmServeModelCommand}. */
    @Test
    void argumentsOfModelservice_areUnderstoodByTheProgram() throws IOException {
        var values = ChartFixture.yaml("llm-d-modelservice.yaml");
        String model = values.at("/modelArtifacts/uri").asText().replace("hf://", "");
        String port = values.at("/routing/proxy/targetPort").asText();
        String name = values.at("/modelArtifacts/name").asText();

        var vllm = VllmSettings.of(List.of(model, "--port", port, "--served-model-name", name), Map.of());

        assertThat(vllm.warnings()).isEmpty();
        assertThat(vllm.settings())
                .containsEntry("server.port", "8200")
                .containsEntry("server.served-model-name", "meta-llama/Llama-3.1-8B-Instruct");
    }

    @Test
    void imagesOfAllManifests_areOfThisVersion() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        String image = "understudy:" + pom.substring(pom.indexOf("<version>") + 9, pom.indexOf("</version>"));

        assertThat(ChartFixture.container(ChartFixture.plain("serve.yaml").get("Deployment"))
                        .path("image")
                        .asText())
                .isEqualTo(image);
        assertThat(ChartFixture.yaml("llm-d-modelservice.yaml").findValuesAsText("image"))
                .containsOnly(image);
        assertThat(Files.readString(ChartFixture.FOLDER.resolve("sweep.yaml"))).contains("image: " + image + "\n");
    }

    /** The chart adds {@code --port} with the port behind the sidecar, which probes and metrics must know. */
    @Test
    void valuesForModelservice_probeThePortBehindTheSidecar() throws IOException {
        var values = ChartFixture.yaml("llm-d-modelservice.yaml");

        var container = values.at("/decode/containers/0");
        int port = values.at("/routing/proxy/targetPort").asInt();
        assertThat(container.path("modelCommand").asText()).isEqualTo("vllmServe");
        assertThat(container.at("/ports/0/containerPort").asInt()).isEqualTo(port);
        assertThat(container.path("extraConfig").findValues("httpGet"))
                .hasSize(3)
                .allSatisfy(get -> assertThat(get.path("port").asInt()).isEqualTo(port));
    }

    private Map<String, JsonNode> render(String values) throws IOException {
        return ChartFixture.render(folder, values);
    }

    private static Map<String, String> fields(JsonNode object) {
        var fields = new TreeMap<String, String>();
        object.properties()
                .forEach(field -> fields.put(field.getKey(), field.getValue().asText()));
        assertThat(fields).isNotEmpty();
        return fields;
    }

    private static List<String> texts(JsonNode array) {
        var texts = new ArrayList<String>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }
}

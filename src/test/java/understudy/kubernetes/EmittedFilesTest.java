package understudy.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.app.emit.DeploymentFormat;
import understudy.app.emit.ServerCommands;
import understudy.app.sglang.SglangProgram;
import understudy.app.vllm.VllmProgram;
import understudy.app.vllm.VllmSettings;
import understudy.scenario.ScenarioFile;

/** Files that start the servers of a scenario in containers. */
final class EmittedFilesTest {
    private static final YAMLMapper YAML = new YAMLMapper();
    private static final Map<String, String> TWO_GPUS =
            Map.of("cluster.replicas", "3", "latency.tensor-parallel-size", "2", "engine.max-num-seqs", "64");

    @TempDir
    private Path folder;

    @Test
    void manifests_areADeploymentAndAServiceOfTheRealServers() throws IOException {
        var objects = ChartFixture.byKind(file(DeploymentFormat.KUBERNETES, TWO_GPUS, "servers.yaml"));

        var container = ChartFixture.container(objects.get("Deployment"));
        assertThat(objects).containsOnlyKeys("Deployment", "Service");
        assertThat(objects.get("Deployment").at("/spec/replicas").asInt()).isEqualTo(3);
        assertThat(objects.get("Service").at("/spec/selector"))
                .isEqualTo(objects.get("Deployment").at("/spec/template/metadata/labels"));
        assertThat(container.at("/resources/limits/nvidia.com~1gpu").asInt()).isEqualTo(2);
        assertThat(texts(container.path("command"))).containsExactly("vllm", "serve");
        assertThat(VllmSettings.of(texts(container.path("args")), Map.of()).settings())
                .containsEntry("engine.max-num-seqs", "64")
                .containsEntry("latency.tensor-parallel-size", "2")
                .containsEntry("latency.llm", "llama-3.1-8b");
    }

    /** The project's chart knows all values that are written for it, and starts what the scenario has. */
    @Test
    void valuesOfTheChart_renderToTheEmulatedServers() throws IOException {
        var settings = Map.of("latency.tensor-parallel-size", "2", "engine.preemption-victim", "first-admitted");
        var objects = ChartFixture.render(folder, file(DeploymentFormat.KUBERNETES, settings, "understudy-vllm.yaml"));

        var container = ChartFixture.container(objects.get("Deployment"));
        assertThat(texts(container.path("args"))).contains("meta-llama/Llama-3.1-8B", "--tensor-parallel-size=2");
        assertThat(container.path("env").findValuesAsText("name"))
                .contains("UNDERSTUDY_LATENCY_GPU", "UNDERSTUDY_ENGINE_PREEMPTION_VICTIM");
    }

    /** The chart adds --no-enable-prefix-caching unless its values say otherwise. */
    @Test
    void valuesOfTheProductionStack_keepPrefixCaching() throws IOException {
        var values = YAML.readTree(file(DeploymentFormat.KUBERNETES, TWO_GPUS, "production-stack.yaml"));

        var model = values.at("/servingEngineSpec/modelSpec/0");
        assertThat(model.at("/vllmConfig/enablePrefixCaching").asBoolean()).isTrue();
        assertThat(texts(model.at("/vllmConfig/extraArgs"))).contains("--max-num-seqs=64", "--tensor-parallel-size=2");
        assertThat(model.path("requestGPU").asInt()).isEqualTo(2);
        assertThat(model.path("replicaCount").asInt()).isEqualTo(3);
    }

    @Test
    void groupsWithRoles_areBothPartsOfLlmD() throws IOException {
        var files = files("conf/pd.conf", DeploymentFormat.KUBERNETES, Map.of());
        var values = YAML.readTree(files.get("llm-d-modelservice.yaml"));

        for (String role : List.of("prefill", "decode")) {
            assertThat(values.at("/" + role + "/replicas").asInt()).isEqualTo(2);
            assertThat(texts(values.at("/" + role + "/containers/0/args")))
                    .containsExactly(
                            "--kv-transfer-config={\"kv_connector\":\"NixlConnector\",\"kv_role\":\"kv_both\"}");
        }
    }

    /** Each server has a port of its own; only the real ones ask for GPUs. */
    @Test
    void servicesOfCompose_areTheProcesses() throws IOException {
        var files = files("conf/vllm.conf", DeploymentFormat.COMPOSE, TWO_GPUS);
        var real = YAML.readTree(files.get("compose.yaml")).path("services");
        var emulated = YAML.readTree(files.get("compose-understudy.yaml")).path("services");

        assertThat(real.fieldNames()).toIterable().containsExactly("vllm-0", "vllm-1", "vllm-2");
        assertThat(emulated.fieldNames()).toIterable().containsExactly("vllm-0", "vllm-1", "vllm-2");
        assertThat(real.at("/vllm-2/ports/0").asText()).isEqualTo("8002:8002");
        assertThat(real.at("/vllm-2/deploy/resources/reservations/devices/0/count")
                        .asInt())
                .isEqualTo(2);
        assertThat(texts(emulated.at("/vllm-2/command")))
                .startsWith("vllm", "serve", "meta-llama/Llama-3.1-8B")
                .contains("--port=8002");
        assertThat(emulated.at("/vllm-2/environment/UNDERSTUDY_LATENCY_GPU").asText())
                .isEqualTo("h100-sxm");
        assertThat(emulated.at("/vllm-2/deploy").isMissingNode()).isTrue();
    }

    private static String file(DeploymentFormat format, Map<String, String> settings, String name) {
        return files("conf/vllm.conf", format, settings).getOrDefault(name, "");
    }

    private static Map<String, String> files(String scenario, DeploymentFormat format, Map<String, String> settings) {
        var servers = new ServerCommands(List.of(new VllmProgram(), new SglangProgram()));
        var root = new ScenarioFile(Map.of()).load(scenario, settings);
        var release = new DeploymentFormat.Release(scenario, "round-robin", false, "understudy:1");
        return format.files(servers.of(root), release);
    }

    private static List<String> texts(JsonNode list) {
        var texts = new ArrayList<String>();
        list.forEach(text -> texts.add(text.asText()));
        return texts;
    }
}

package understudy.app.emit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import understudy.routing.Role;

/**
 * Manifests of the servers, and values of charts: vLLM's production stack, llm-d's model service, and Understudy's own. The
 * first two charts know vLLM alone.
 */
final class KubernetesFiles {
    private static final int PORT = 8000;
    /** Behind the sidecar of llm-d. */
    private static final int PORT_BEHIND_SIDECAR = 8200;

    private KubernetesFiles() {}

    static Map<String, String> of(List<ServerCommand> servers, DeploymentFormat.Release release) {
        var files = new LinkedHashMap<String, String>();
        String routing = release.routing();
        var manifests = new ArrayList<Map<String, Object>>();
        for (var server : servers) {
            manifests.add(deployment(server));
            manifests.add(service(server));
        }
        files.put(
                "servers.yaml",
                YamlText.of(
                        "Servers of " + release.scenario() + ".\n" + routing + "\n\n  kubectl apply -f servers.yaml",
                        manifests));
        if (servers.stream().allMatch(server -> server.program().kind().equals("vllm"))) {
            files.put("production-stack.yaml", productionStack(servers, release));
            if (isOneOfEach(servers)) {
                files.put("llm-d-modelservice.yaml", llmD(servers, release));
            }
        }
        for (var server : servers) {
            String file = "understudy-" + server.name() + ".yaml";
            files.put(
                    file,
                    YamlText.of(
                            "Values of Understudy's chart: the servers " + server.name() + " of " + release.scenario()
                                    + " emulated, without a GPU.\n\n  helm install " + server.name()
                                    + " conf/kubernetes/chart -f " + file,
                            List.of(ownValues(server))));
        }
        return files;
    }

    /** llm-d's chart has one kind of server that computes prompts, and one that answers. */
    private static boolean isOneOfEach(List<ServerCommand> servers) {
        long numPrefills = servers.stream().filter(KubernetesFiles::isPrefill).count();
        return numPrefills <= 1 && servers.size() - numPrefills == 1;
    }

    private static boolean isPrefill(ServerCommand server) {
        return server.role() == Role.PREFILL;
    }

    private static Map<String, Object> deployment(ServerCommand server) {
        var labels = labels(server);
        var probe = YamlText.map("path", "/health", "port", "http");
        var container = YamlText.map(
                "name", server.program().kind(), "image", server.program().image());
        container.put("command", server.program().words());
        container.put(
                "args",
                Stream.concat(server.arguments(PORT).stream(), host(server)).toList());
        if (!server.environment().isEmpty()) {
            container.put("env", YamlText.variables(server.environment()));
        }
        container.put("ports", List.of(YamlText.map("name", "http", "containerPort", PORT)));
        container.put("startupProbe", YamlText.map("httpGet", probe, "periodSeconds", 10, "failureThreshold", 180));
        container.put("readinessProbe", YamlText.map("httpGet", probe, "periodSeconds", 5));
        container.put("livenessProbe", YamlText.map("httpGet", probe, "periodSeconds", 10, "failureThreshold", 3));
        container.put("resources", YamlText.map("limits", gpus(server)));
        container.put("volumeMounts", List.of(YamlText.map("name", "shm", "mountPath", "/dev/shm")));
        var pod = YamlText.map("containers", List.of(container));
        pod.put("volumes", List.of(YamlText.map("name", "shm", "emptyDir", YamlText.map("medium", "Memory"))));
        return YamlText.map(
                "apiVersion",
                "apps/v1",
                "kind",
                "Deployment",
                "metadata",
                YamlText.map("name", server.name(), "labels", labels),
                "spec",
                YamlText.map(
                        "replicas",
                        server.numProcesses(),
                        "selector",
                        YamlText.map("matchLabels", labels),
                        "template",
                        YamlText.map("metadata", YamlText.map("labels", labels), "spec", pod)));
    }

    /** SGLang listens at 127.0.0.1 unless it is told otherwise. */
    private static Stream<String> host(ServerCommand server) {
        return server.program().kind().equals("sglang") ? Stream.of("--host=0.0.0.0") : Stream.empty();
    }

    private static Map<String, Object> service(ServerCommand server) {
        var port = YamlText.map("name", "http", "port", PORT, "targetPort", "http");
        return YamlText.map(
                "apiVersion",
                "v1",
                "kind",
                "Service",
                "metadata",
                YamlText.map("name", server.name(), "labels", labels(server)),
                "spec",
                YamlText.map("selector", labels(server), "ports", List.of(port)));
    }

    private static Map<String, Object> labels(ServerCommand server) {
        return YamlText.map(
                "app.kubernetes.io/name", server.program().kind(), "app.kubernetes.io/instance", server.name());
    }

    private static Map<String, Object> gpus(ServerCommand server) {
        return YamlText.map("nvidia.com/gpu", server.numGpus());
    }

    /** The chart switches prefix caching off where its configuration does not say otherwise. */
    private static String productionStack(List<ServerCommand> servers, DeploymentFormat.Release release) {
        var models = servers.stream()
                .<Object>map(server -> {
                    int colon = server.program().image().indexOf(':');
                    var model = YamlText.map("name", server.name());
                    model.put("repository", server.program().image().substring(0, colon));
                    model.put("tag", server.program().image().substring(colon + 1));
                    model.put("modelURL", server.model());
                    model.put("replicaCount", server.numProcesses());
                    model.put("requestGPU", server.numGpus());
                    boolean isCaching = !server.flags().contains("--no-enable-prefix-caching");
                    model.put(
                            "vllmConfig", YamlText.map("enablePrefixCaching", isCaching, "extraArgs", server.flags()));
                    if (!server.environment().isEmpty()) {
                        model.put("env", YamlText.variables(server.environment()));
                    }
                    return model;
                })
                .toList();
        var values = YamlText.map(
                "servingEngineSpec",
                YamlText.map("modelSpec", models),
                "routerSpec",
                YamlText.map("routingLogic", routingLogic(release.routerPolicy())));
        return YamlText.of(
                "Values of vLLM's production stack for " + release.scenario() + ".\n\n"
                        + "  helm install vllm vllm/vllm-stack -f production-stack.yaml\n\n"
                        + "Its router's nearest logic to the policy " + release.routerPolicy() + ".",
                List.of(values));
    }

    private static String routingLogic(String policy) {
        return switch (policy) {
            case "session-affinity", "consistent-hash" -> "session";
            case "prefix-hash", "cache-aware" -> "prefixaware";
            case "prefix-aware", "kv-aware", "ttft-estimate" -> "kvaware";
            default -> "roundrobin";
        };
    }

    private static String llmD(List<ServerCommand> servers, DeploymentFormat.Release release) {
        var first = servers.get(0);
        var values = YamlText.map(
                "modelArtifacts",
                YamlText.map("name", first.model(), "uri", "hf://" + first.model()),
                "routing",
                YamlText.map("servicePort", PORT, "proxy", YamlText.map("targetPort", PORT_BEHIND_SIDECAR)));
        values.put("decode", llmDRole(servers, false));
        values.put("prefill", llmDRole(servers, true));
        return YamlText.of(
                "Values of llm-d's chart llm-d-modelservice for " + release.scenario() + ".\n\n"
                        + "  helm install ms llm-d-modelservice/llm-d-modelservice -f llm-d-modelservice.yaml",
                List.of(values));
    }

    private static Map<String, Object> llmDRole(List<ServerCommand> servers, boolean isPrefill) {
        var server =
                servers.stream().filter(each -> isPrefill(each) == isPrefill).findFirst();
        if (server.isEmpty()) {
            return YamlText.map("create", false, "replicas", 0);
        }
        var found = server.get();
        var container = YamlText.map("name", "vllm", "image", found.program().image(), "modelCommand", "vllmServe");
        container.put("args", found.flags());
        if (!found.environment().isEmpty()) {
            container.put("env", YamlText.variables(found.environment()));
        }
        container.put("resources", YamlText.map("limits", gpus(found)));
        container.put("mountModelVolume", true);
        return YamlText.map("create", true, "replicas", found.numProcesses(), "containers", List.of(container));
    }

    private static Map<String, Object> ownValues(ServerCommand server) {
        var values = YamlText.map(
                "replicas", server.numProcesses(), "engine", server.program().kind());
        values.put("model", server.model());
        if (!server.flags().isEmpty()) {
            values.put(server.program().kind() + "Args", server.flags());
        }
        values.put("gpu", server.gpu());
        var others = new LinkedHashMap<>(server.allEnvironment());
        others.remove("UNDERSTUDY_LATENCY_GPU");
        if (!others.isEmpty()) {
            values.put("env", YamlText.variables(others));
        }
        return values;
    }
}

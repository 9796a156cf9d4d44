package understudy.app.emit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Files of {@code docker compose}: a service for each server, at a port of its own. */
final class ComposeFiles {
    private ComposeFiles() {}

    static Map<String, String> of(List<ServerCommand> servers, DeploymentFormat.Release release) {
        String routing = release.routing();
        var files = new LinkedHashMap<String, String>();
        files.put(
                "compose.yaml",
                YamlText.of(
                        "Servers of " + release.scenario() + ".\n" + routing,
                        List.of(YamlText.map("services", services(servers, "")))));
        files.put(
                "compose-understudy.yaml",
                YamlText.of(
                        "The servers of " + release.scenario() + " emulated, without a GPU.\n" + routing,
                        List.of(YamlText.map("services", services(servers, release.image())))));
        return files;
    }

    private static Map<String, Object> services(List<ServerCommand> servers, String emulated) {
        var services = new LinkedHashMap<String, Object>();
        int numBefore = 0;
        for (var server : servers) {
            for (int i = 0; i < server.numProcesses(); i++) {
                int port = server.program().port() + numBefore++;
                services.put(
                        server.name() + "-" + i,
                        emulated.isEmpty() ? real(server, port) : emulated(server, port, emulated));
            }
        }
        return services;
    }

    private static Map<String, Object> real(ServerCommand server, int port) {
        var service = YamlText.map("image", server.program().image());
        service.put("entrypoint", server.program().words());
        service.put("command", server.arguments(port));
        putEnvironment(server.environment(), service);
        service.put("ipc", "host");
        service.put("ports", List.of(port + ":" + port));
        var device = YamlText.map("driver", "nvidia", "count", server.numGpus(), "capabilities", List.of("gpu"));
        service.put(
                "deploy",
                YamlText.map("resources", YamlText.map("reservations", YamlText.map("devices", List.of(device)))));
        return service;
    }

    private static Map<String, Object> emulated(ServerCommand server, int port, String image) {
        var service = YamlText.map("image", image);
        var words = Stream.concat(Stream.of(server.program().kind(), "serve"), server.arguments(port).stream());
        service.put("command", Stream.concat(words, Stream.of("--host=0.0.0.0")).toList());
        putEnvironment(server.allEnvironment(), service);
        service.put("ports", List.of(port + ":" + port));
        return service;
    }

    private static void putEnvironment(Map<String, String> environment, Map<String, Object> service) {
        if (!environment.isEmpty()) {
            service.put("environment", environment);
        }
    }
}

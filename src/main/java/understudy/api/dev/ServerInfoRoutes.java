package understudy.api.dev;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.parameterOptional;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;
import understudy.cluster.ReplicaSpec;

/** Route of vLLM's {@code /server_info}. Of its environment and its machine it tells nothing but the version. */
public final class ServerInfoRoutes implements RoutePart {
    private final ServerInfo info;
    private final SortedMap<Integer, ReplicaSpec> replicas;

    /**
     * Creates the route.
     *
     * @param info settings of the first replica
     * @param replicas all that are behind the port, by index
     */
    public ServerInfoRoutes(ServerInfo info, SortedMap<Integer, ReplicaSpec> replicas) {
        this.info = info;
        this.replicas = replicas;
    }

    @Override
    public Route route() {
        return path(
                "server_info", () -> get(() -> parameterOptional("config_format", format -> complete(answer(format)))));
    }

    private HttpResponse answer(Optional<String> format) {
        var answer = Json.object();
        switch (format.orElse("text")) {
            case "text" -> answer.put("vllm_config", info.text());
            case "json" -> answer.set("vllm_config", info.json());
            default -> throw ApiException.invalid("Input should be 'text' or 'json'", "query.config_format");
        }
        addEngines(answer.putObject("emulation").put("timed_as", info.settings().hardware()));
        answer.putObject("vllm_env");
        answer.putObject("system_env").put("vllm_version", info.settings().vllmVersion());
        return HttpBodies.json(200, answer);
    }

    /** Adds which replica has which engine and role, where there are several of them. */
    private void addEngines(ObjectNode emulation) {
        long numKinds = replicas.values().stream()
                .map(replica ->
                        replica.engineTraits().family() + " " + replica.traits().role())
                .distinct()
                .count();
        if (numKinds < 2) {
            return;
        }
        var engines = emulation.putArray("replicas");
        replicas.forEach((index, replica) -> engines.addObject()
                .put("replica", index)
                .put("group", replica.traits().group())
                .put("engine", replica.engineTraits().family())
                .put("role", replica.traits().role().name().toLowerCase(Locale.ROOT)));
    }
}

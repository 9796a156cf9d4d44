package understudy.api.dev;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.parameterOptional;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import java.util.Optional;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;

/** Route of vLLM's {@code /server_info}. Of its environment and its machine it tells nothing but the version. */
public final class ServerInfoRoutes implements RoutePart {
    private final ServerInfo info;

    public ServerInfoRoutes(ServerInfo info) {
        this.info = info;
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
        answer.putObject("emulation").put("timed_as", info.settings().hardware());
        answer.putObject("vllm_env");
        answer.putObject("system_env").put("vllm_version", info.settings().vllmVersion());
        return HttpBodies.json(200, answer);
    }
}

package understudy.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.json.Jackson;
import understudy.settings.ScenarioException;

/** Options of a benchmark that say where requests go, and what is in them besides the workload. */
public final class TargetOptions {
    private static final ObjectMapper JSON = Jackson.mapper();

    private enum Prompts {
        IDS,
        TEXT
    }

    @Parameters(index = "0", paramLabel = "URL", description = "The server, such as http://localhost:8000.")
    private String url = "";

    @Option(names = "--endpoint", paramLabel = "PATH", description = "API, default ${DEFAULT-VALUE}.")
    private String endpoint = "/v1/completions";

    @Option(names = "--model", paramLabel = "NAME", description = "Model; default the first one of the server.")
    private @Nullable String model;

    @Option(
            names = "--header",
            paramLabel = "KEY=VALUE",
            description = "Header of all requests, repeatable. OPENAI_API_KEY in the environment gives a key.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(names = "--extra-body", paramLabel = "JSON", description = "Fields of all requests.")
    private String extraBody = "{}";

    @Option(
            names = "--prompts",
            paramLabel = "KIND",
            description = "ids, or text with a word per token; default ids for /v1/completions, except sharegpt.")
    private @Nullable Prompts prompts;

    @Option(
            names = "--ignore-eos",
            negatable = true,
            description = "Answers go on up to max_tokens; default as workload.ignore-eos says, except sharegpt.")
    private @Nullable Boolean ignoreEos;

    /**
     * Returns the target, and asks the server for its model if none was named.
     *
     * @param key for the server, or null
     * @param isShareGpt whether prompts come as text, whose answers may end by themselves
     * @param ignoresEos whether the workload wants answers that go on
     * @throws BenchUnreachableException if there is no such server
     */
    public BenchTarget target(@Nullable String key, boolean isShareGpt, boolean ignoresEos)
            throws InterruptedException {
        var base = base();
        if (key != null) {
            headers.putIfAbsent("Authorization", "Bearer " + key);
        }
        var body = body();
        boolean sendsIds = sendsIds(isShareGpt);
        // Asked also if the name is known: one message is better than a thousand refused connections.
        String first = ServerLink.firstModel(base, headers, model != null);
        return new BenchTarget(
                base,
                endpoint,
                Objects.requireNonNullElse(model, first),
                headers,
                sendsIds,
                ignoreEos == null ? ignoresEos && !isShareGpt : ignoreEos,
                body);
    }

    private boolean sendsIds(boolean isShareGpt) {
        if (!endpoint.startsWith("/") || !endpoint.endsWith("completions")) {
            throw new ScenarioException(
                    "--endpoint " + endpoint + ": must be a path that ends with completions, such as /v1/completions");
        }
        boolean isChat = BenchTarget.isChat(endpoint);
        if (isChat && prompts == Prompts.IDS) {
            throw new ScenarioException("--prompts ids: a chat takes text alone");
        }
        return prompts == null ? !isChat && !isShareGpt : prompts == Prompts.IDS;
    }

    URI base() {
        return base(url);
    }

    /**
     * Returns the address of a server; what clients of OpenAI call the base URL, which ends with /v1, is accepted as well.
     *
     * @throws ScenarioException if it is none
     */
    public static URI base(String url) {
        String text = url.replaceFirst("/+$", "").replaceFirst("/v1$", "");
        try {
            var uri = URI.create(text.toLowerCase(Locale.ROOT).startsWith("http") ? text : "http://" + text);
            if (uri.getHost() != null) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw new ScenarioException(url + ": not the URL of a server; it must be such as http://localhost:8000");
    }

    private ObjectNode body() {
        try {
            if (JSON.readTree(extraBody) instanceof ObjectNode body) {
                return body;
            }
        } catch (JsonProcessingException e) {
            // Said below.
        }
        throw new ScenarioException("--extra-body " + extraBody + ": not a JSON object");
    }
}

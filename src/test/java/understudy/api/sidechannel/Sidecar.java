package understudy.api.sidechannel;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Calls as the routing sidecar of llm-d makes them ({@code connector_nixlv2.go}): first the prefill, then the decode. */
final class Sidecar {
    static final ObjectMapper JSON = new ObjectMapper();
    private final HttpClient client = HttpClient.newHttpClient();

    /** An answer, whole or streamed. */
    record Reply(int status, String text) {
        JsonNode json() {
            try {
                return JSON.readTree(text);
            } catch (IOException e) {
                throw new AssertionError("not JSON: " + text, e);
            }
        }

        JsonNode kvTransferParams() {
            return json().get("kv_transfer_params");
        }
    }

    /** Sends the prompt to be computed, with a limit of one token and not streamed. */
    CompletableFuture<Reply> prefill(URI server, String path, ObjectNode call) {
        var body = call.deepCopy().put("max_tokens", 1).put("stream", false);
        body.remove("stream_options");
        body.putObject("kv_transfer_params")
                .put("do_remote_decode", true)
                .put("do_remote_prefill", false)
                .putNull("remote_engine_id")
                .putNull("remote_block_ids")
                .putNull("remote_host")
                .putNull("remote_port");
        return post(server.resolve(path), body.toString());
    }

    /** Sends the whole call, with what the prefill has returned. */
    CompletableFuture<Reply> decode(URI server, String path, ObjectNode call, JsonNode kvTransferParams) {
        var body = call.deepCopy();
        body.set("kv_transfer_params", kvTransferParams);
        return post(server.resolve(path), body.toString());
    }

    CompletableFuture<Reply> post(URI uri, String body) {
        var request = HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(60))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .thenApply(response -> new Reply(response.statusCode(), response.body()));
    }

    /** Returns whether the process that has computed a prompt had kept it, before it heard this word. */
    boolean isKept(String word, JsonNode params) {
        var uri = URI.create("http://" + params.get("remote_host").asText() + ":" + params.get("remote_port")
                + "/kv_transfer/" + word + "?engine_id="
                + params.get("remote_engine_id").asText() + "&request_id="
                + params.get("remote_request_id").asText());
        int status = post(uri, "").join().status();
        if (status != 204 && status != 410) {
            throw new AssertionError(uri + ": " + status);
        }
        return status == 204;
    }
}

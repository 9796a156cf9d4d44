package understudy.chaos.autoscaler.reference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import understudy.json.Jackson;

/** Calls of an autoscaler, none of which takes longer than a time-out. */
final class ScaleClient {
    private static final int OK = 200;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(1))
            .build();
    private final Duration timeout;

    ScaleClient(Duration timeout) {
        this.timeout = timeout;
    }

    /** An answer other than 200. */
    static final class StatusException extends IOException {
        private static final long serialVersionUID = 1;

        final int status;

        StatusException(URI uri, int status) {
            super(uri + " answers " + status);
            this.status = status;
        }
    }

    /**
     * Returns a page.
     *
     * @throws StatusException if the status is not 200
     * @throws IOException if no answer comes in time
     */
    String get(URI uri) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri).timeout(timeout).build());
    }

    /** Returns a Scale as {@link #get} returns a page. */
    JsonNode scale(URI uri) throws IOException, InterruptedException {
        return Jackson.mapper().readTree(get(uri));
    }

    /** Writes a Scale that was read before, with another number of replicas, unless it was changed since. */
    void write(URI uri, JsonNode read, int replicas) throws IOException, InterruptedException {
        ObjectNode scale = read.deepCopy();
        scale.putObject("spec").put("replicas", replicas);
        send(HttpRequest.newBuilder(uri)
                .timeout(timeout)
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(scale.toString()))
                .build());
    }

    private String send(HttpRequest request) throws IOException, InterruptedException {
        var response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != OK) {
            throw new StatusException(request.uri(), response.statusCode());
        }
        return response.body();
    }
}

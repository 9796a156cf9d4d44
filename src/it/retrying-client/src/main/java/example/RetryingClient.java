package example;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;

/** Asks an OpenAI-compatible server for completions, and asks again when the server fails. */
final class RetryingClient {
    private final HttpClient http = HttpClient.newHttpClient();
    private final URI completions;
    private final int maxTries;

    RetryingClient(URI server, int maxTries) {
        completions = server.resolve("/v1/completions");
        this.maxTries = maxTries;
    }

    CompletableFuture<HttpResponse<String>> complete(String body) {
        var request = HttpRequest.newBuilder(completions)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
        return send(request, maxTries);
    }

    private CompletableFuture<HttpResponse<String>> send(HttpRequest request, int triesLeft) {
        return http.sendAsync(request, BodyHandlers.ofString())
                .thenCompose(answer -> answer.statusCode() < 500 || triesLeft == 1
                        ? CompletableFuture.completedFuture(answer)
                        : send(request, triesLeft - 1));
    }
}

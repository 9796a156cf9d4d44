package understudy.api;

import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;

/**
 * Sends many requests to a server in this process, as fast as it goes, and prints the heap in use after each tenth: {@code
 * RequestSoak REQUESTS}. By hand, after {@code mvn test-compile}.
 */
public final class RequestSoak {
    private static final int NUM_CLIENTS = 8;

    private RequestSoak() {}

    /** Takes the number of requests. */
    public static void main(String[] args) {
        int numRequests = Integer.parseInt(args[0]);
        try (var server = new ServerFixture()) {
            server.speed = Double.POSITIVE_INFINITY;
            server.numReplicas = 2;
            server.startAlone();
            for (int tenth = 1; tenth <= 10; tenth++) {
                send(server, numRequests / 10 / NUM_CLIENTS, tenth);
                System.out.printf(
                        "%d requests: heap %.1f MB, blocks in use %.4f, running %.0f, calls in flight %.0f%n",
                        numRequests / 10 * tenth,
                        heapMegabytes(),
                        server.metric("vllm:kv_cache_usage_perc", ""),
                        server.metric("vllm:num_requests_running", ""),
                        server.metric("understudy_calls_in_flight", ""));
            }
        }
    }

    private static void send(ServerFixture server, int numEach, int tenth) {
        var clients = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < NUM_CLIENTS; i++) {
            int client = i;
            clients.add(CompletableFuture.runAsync(() -> send(server, numEach, tenth, client)));
        }
        clients.forEach(CompletableFuture::join);
    }

    private static void send(ServerFixture server, int numEach, int tenth, int client) {
        for (int i = 0; i < numEach; i++) {
            var reply = server.post(
                    "/v1/completions",
                    "{\"prompt\": \"Request %d of client %d in tenth %d\", \"max_tokens\": 8, \"stream\": %s}"
                            .formatted(i, client, tenth, i % 2 == 0));
            if (reply.status() != 200) {
                throw new AssertionError(reply.text());
            }
        }
    }

    private static double heapMegabytes() {
        var runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return (runtime.totalMemory() - runtime.freeMemory()) / 1e6;
    }
}

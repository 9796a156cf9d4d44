package understudy.chaos.proxy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An engine whose answers are always the same: four events, or one body. */
final class ScriptedEngine implements AutoCloseable {
    static final String WHOLE = "{\"choices\":[{\"message\":{\"content\":\"one two\"}}],"
            + "\"usage\":{\"prompt_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":3}}}";
    static final String METRICS = "# TYPE a gauge\na{x=\"1\"} 5\nb_total 7\n";

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;
    private volatile String metrics = METRICS;
    private volatile boolean joinsLast;

    ScriptedEngine() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    static String event(int number) {
        return "data: {\"token\":" + number + "}\n\n";
    }

    InetSocketAddress address() {
        return server.getAddress();
    }

    void metricsAre(String text) {
        metrics = text;
    }

    /** Sends the last two events in one part from now on, as an engine does whose thread was late. */
    void joinLastEvents() {
        joinsLast = true;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String path = exchange.getRequestURI().getPath();
            if (body.contains("\"stream\":true")) {
                exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
                exchange.sendResponseHeaders(200, 0);
                var parts = joinsLast
                        ? List.of(event(0), event(1), event(2) + event(3))
                        : List.of(event(0), event(1), event(2), event(3));
                for (String part : parts) {
                    exchange.getResponseBody().write(part.getBytes(StandardCharsets.UTF_8));
                    exchange.getResponseBody().flush();
                }
                exchange.getResponseBody().write("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
            } else {
                String text = switch (path) {
                    case "/metrics" -> metrics;
                    case "/v1/models" -> "{\"data\":[{\"id\":\"chaos-model\"},{\"id\":\"chaos-adapter\"}]}";
                    case "/health" -> "ok";
                    default -> WHOLE;
                };
                exchange.sendResponseHeaders(200, text.length());
                exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}

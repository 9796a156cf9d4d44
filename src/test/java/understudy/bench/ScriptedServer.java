package understudy.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server that does with each call what a test says, by its number from 0. */
public final class ScriptedServer implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> bodies = Collections.synchronizedList(new ArrayList<>());

    /** Answers a call. */
    public interface Script {
        void answer(int number, HttpExchange call) throws IOException;
    }

    public ScriptedServer(Script script) {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", call -> {
            int number;
            synchronized (bodies) {
                number = bodies.size();
                bodies.add(new String(call.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            }
            script.answer(number, call);
            call.close();
        });
        server.setExecutor(threads);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns the bodies of all calls so far. */
    List<String> bodies() {
        return List.copyOf(bodies);
    }

    /** Sends events as they are. */
    public static void stream(HttpExchange call, String... data) throws IOException {
        call.getResponseHeaders().set("Content-Type", "text/event-stream");
        call.sendResponseHeaders(200, 0);
        for (String each : data) {
            call.getResponseBody().write(("data: " + each + "\n\n").getBytes(StandardCharsets.UTF_8));
            call.getResponseBody().flush();
        }
    }

    /** Sends an error as vLLM does. */
    public static void refuse(HttpExchange call, int status, String message) throws IOException {
        byte[] body = ("{\"error\": {\"message\": \"" + message + "\"}}").getBytes(StandardCharsets.UTF_8);
        call.sendResponseHeaders(status, body.length);
        call.getResponseBody().write(body);
    }

    /** Returns a chunk of a text completion. */
    public static String chunk(String text) {
        return "{\"choices\": [{\"index\": 0, \"text\": \"" + text + "\"}]}";
    }

    /** Returns the chunk that counts tokens. */
    public static String usage(int promptTokens, int completionTokens) {
        return "{\"choices\": [], \"usage\": {\"prompt_tokens\": " + promptTokens + ", \"completion_tokens\": "
                + completionTokens + "}}";
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}

package understudy.chaos.autoscaler.plane;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import understudy.chaos.autoscaler.evidence.ScaleCall;
import understudy.json.Jackson;
import understudy.runtime.EpochClock;
import understudy.runtime.Stopwatch;

/**
 * HTTP server of what an autoscaler works with, at a port of 127.0.0.1: the scale subresource, the targets to scrape as
 * Prometheus' HTTP service discovery has them, and the metrics. Thread-safe.
 */
public final class ControlPlane implements AutoCloseable {
    private static final String PODS = "/pods/";
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int FAILED = 500;
    private static final int UNAVAILABLE = 503;
    private static final int BACKLOG = 50;
    private static final int MAX_BODY_BYTES = 1 << 20;

    static {
        // Else the JDK's server sends head and body apart, and the body once the client has acknowledged the head.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private final HttpServer server;
    private final ExecutorService threads;
    private final ScaleResource scale;
    private final Supplier<String> metrics;
    private final Map<PlaneFault, Begin> faults = new LinkedHashMap<>();
    private final List<ScaleCall> calls = new ArrayList<>();
    private final List<HttpExchange> hung = new ArrayList<>();
    private Pods pods = new Pods(new TreeMap<>(), new TreeMap<>());
    private final Stopwatch stopwatch = Stopwatch.start();
    private long beginNanos;
    private int numVersioned;
    private volatile boolean isCalled;

    /** What there was when a fault began. */
    private record Begin(MetricsPage page, long epochMillis) {}

    /** Names of the replicas that are ready, and of those that start, by their index. */
    private record Pods(SortedMap<Integer, String> ready, SortedMap<Integer, String> starting) {}

    /**
     * Opens the server.
     *
     * @param replicas replicas that are wanted at first
     * @param metrics shows the cluster's metrics, with the label {@code engine} at series of replicas
     * @throws IOException if no port can be had
     */
    public ControlPlane(int replicas, Supplier<String> metrics) throws IOException {
        this.metrics = metrics;
        scale = new ScaleResource(replicas);
        server = HttpServer.create(
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0), BACKLOG);
        threads = Executors.newCachedThreadPool(work -> {
            var thread = new Thread(work, "control-plane");
            thread.setDaemon(true);
            return thread;
        });
        server.setExecutor(threads);
        server.createContext("/", this::onRequest);
        server.start();
    }

    /** Returns the address of the scale subresource. */
    public URI scale() {
        return uri(ScaleResource.PATH);
    }

    /** Returns the address of the targets. */
    public URI targets() {
        return uri("/targets");
    }

    /** Returns the address of all metrics on one page. */
    public URI metrics() {
        return uri("/metrics");
    }

    private URI uri(String path) {
        return URI.create("http://" + address() + path);
    }

    private String address() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns whether any request has come. */
    public boolean hasBeenCalled() {
        return isCalled;
    }

    /** Begins the time of the scenario. Calls before it count as calls at its start: the first one began it. */
    public synchronized void begin() {
        beginNanos = stopwatch.nanos();
    }

    /** Returns {@code spec.replicas}. */
    public int wanted() {
        return scale.wanted();
    }

    /** Tells which replicas there are, by their index: those that are ready, and those that start. */
    public synchronized void setPods(SortedMap<Integer, String> ready, SortedMap<Integer, String> starting) {
        pods = new Pods(ready, starting);
        scale.setStatus(ready.size(), ready.size() + starting.size());
    }

    /** Begins a fault. */
    public synchronized void begin(PlaneFault fault) {
        faults.put(fault, new Begin(page(), EpochClock.millis()));
    }

    /** Ends a fault; what hangs by it is broken off. */
    public synchronized void end(PlaneFault fault) {
        faults.remove(fault);
        hung.forEach(HttpExchange::close);
        hung.clear();
    }

    /** Returns the calls of the scale subresource, with their time since the scenario's start. */
    public synchronized List<ScaleCall> calls() {
        return calls.stream().map(call -> call.since(beginNanos)).toList();
    }

    private void onRequest(HttpExchange exchange) throws IOException {
        isCalled = true;
        String path = exchange.getRequestURI().getPath();
        if (path.equals(ScaleResource.PATH)) {
            onScale(exchange);
        } else if (path.equals(ScaleResource.DEPLOYMENT)) {
            answer(exchange, scale.deployment(exchange.getRequestMethod()));
        } else if (path.equals("/targets")) {
            answer(exchange, OK, "application/json", targetGroups());
        } else if (path.equals("/metrics")) {
            onMetrics(exchange, null);
        } else if (path.startsWith(PODS) && path.endsWith("/metrics")) {
            onMetrics(exchange, path.substring(PODS.length(), path.length() - "/metrics".length()));
        } else {
            answer(exchange, ScaleResource.failure(NOT_FOUND, "NotFound", path + " does not exist"));
        }
    }

    private void onScale(HttpExchange exchange) throws IOException {
        String method = exchange.getRequestMethod();
        String body = new String(exchange.getRequestBody().readNBytes(MAX_BODY_BYTES), StandardCharsets.UTF_8);
        long atNanos = stopwatch.nanos();
        var late = fault(PlaneFault.Kind.LATE_SCALE);
        if (late != null) {
            pause(late.delayMillis());
        }
        var answer = fault(PlaneFault.Kind.FAILED_SCALE) != null
                ? failed(method, body)
                : scale(method, String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type")), body);
        synchronized (this) {
            calls.add(new ScaleCall(atNanos, method, answer.status(), answer.replicas()));
        }
        answer(exchange, answer);
    }

    /** What was asked for counts, though it is not done. */
    private static ScaleResource.Answer failed(String method, String body) {
        var failure = ScaleResource.failure(FAILED, "InternalError", "etcdserver: request timed out");
        return method.equals("GET")
                ? failure
                : new ScaleResource.Answer(FAILED, failure.body(), ScaleResource.asked(body));
    }

    private ScaleResource.Answer scale(String method, String contentType, String body) {
        synchronized (this) {
            boolean conflicts = fault(PlaneFault.Kind.SCALE_CONFLICTS) != null
                    && !method.equals("GET")
                    && ScaleResource.namesVersion(body);
            if (conflicts && numVersioned++ % 2 == 0) {
                scale.touch();
            }
        }
        return scale.scale(method, contentType, body);
    }

    private void onMetrics(HttpExchange exchange, @Nullable String instance) throws IOException {
        if (hangs(exchange)) {
            return;
        }
        boolean isStale = fault(PlaneFault.Kind.STALE_METRICS) != null;
        if (fault(PlaneFault.Kind.FAILED_METRICS) != null) {
            answer(exchange, FAILED, "text/plain", "query processing would load too many samples into memory\n");
        } else if (instance != null && (isStale || !isScraped(instance))) {
            answer(exchange, UNAVAILABLE, "text/plain", instance + " cannot be scraped\n");
        } else {
            answer(exchange, OK, "text/plain; version=0.0.4; charset=utf-8", metricsOf(instance));
        }
    }

    private synchronized boolean hangs(HttpExchange exchange) {
        return fault(PlaneFault.Kind.HUNG_METRICS) != null && hung.add(exchange);
    }

    private synchronized boolean isScraped(String instance) {
        return instance.equals(MetricsPage.ROUTER) || pods.ready.containsValue(instance);
    }

    private synchronized String metricsOf(@Nullable String instance) {
        var page = page();
        long epochMillis = EpochClock.millis();
        for (var each : faults.entrySet()) {
            if (each.getKey().kind() == PlaneFault.Kind.STALE_METRICS) {
                page = each.getValue().page();
                epochMillis = each.getValue().epochMillis();
            }
            page = page.under(each.getKey(), each.getValue().page());
        }
        return instance == null ? page.federated(epochMillis) : page.of(instance);
    }

    private synchronized MetricsPage page() {
        return MetricsPage.of(metrics.get(), pods.ready);
    }

    private synchronized String targetGroups() {
        var groups = Jackson.mapper().createArrayNode();
        var all = new LinkedHashMap<String, Boolean>();
        pods.ready.values().forEach(name -> all.put(name, true));
        pods.starting.values().forEach(name -> all.put(name, false));
        all.forEach((name, isReady) -> {
            var labels = target(groups.addObject(), name);
            labels.put("__meta_kubernetes_pod_name", name);
            labels.put("__meta_kubernetes_pod_ready", String.valueOf(isReady));
        });
        target(groups.addObject(), MetricsPage.ROUTER);
        return groups.toString();
    }

    private ObjectNode target(ObjectNode group, String instance) {
        group.putArray("targets").add(address());
        return group.putObject("labels")
                .put("__metrics_path__", PODS + instance + "/metrics")
                .put("instance", instance);
    }

    private synchronized @Nullable PlaneFault fault(PlaneFault.Kind kind) {
        return faults.keySet().stream()
                .filter(fault -> fault.kind() == kind)
                .findFirst()
                .orElse(null);
    }

    private static void pause(long millis) {
        new CompletableFuture<Void>()
                .completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                .join();
    }

    private static void answer(HttpExchange exchange, ScaleResource.Answer answer) throws IOException {
        answer(exchange, answer.status(), "application/json", answer.body());
    }

    private static void answer(HttpExchange exchange, int status, String type, String body) throws IOException {
        var bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length);
        try (var out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            hung.forEach(HttpExchange::close);
        }
        server.stop(0);
        threads.shutdownNow();
    }
}

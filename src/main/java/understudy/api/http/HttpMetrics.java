package understudy.api.http;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import understudy.runtime.VirtualTime;

/** Metrics of the server itself, and the page that shows all metrics. */
public final class HttpMetrics {
    /** As FastAPI's instrumentation leaves them out for vLLM. */
    private static final Set<String> SILENT =
            Set.of("/metrics", "/load", "/ping", "/version", "/health", "/health/ready", "/server_info");

    /** Label of a replica: vLLM's, or that of SGLang's ranks. */
    private static final Pattern REPLICA_LABEL = Pattern.compile("\\b(?:engine|dp_rank)=\"(\\d+)\",?");

    private final PrometheusRegistry registry;
    private final Set<String> absent;
    private final PrometheusTextFormatWriter writer = writer();
    private final Counter requests;
    private final Histogram seconds;
    private final Counter streamsCut;

    /**
     * Registers the metrics of the server.
     *
     * @param absent names of families that the page leaves out
     */
    public HttpMetrics(PrometheusRegistry registry, Set<String> absent) {
        this.registry = registry;
        // The library adds the end of a counter's name itself.
        this.absent =
                absent.stream().map(name -> name.replaceFirst("_total$", "")).collect(Collectors.toUnmodifiableSet());
        requests = Counter.builder()
                .name("http_requests")
                .help("Total number of requests by method, status and handler.")
                .labelNames("handler", "method", "status")
                .register(registry);
        seconds = Histogram.builder()
                .name("http_request_duration_seconds")
                .help("Time to the end of the response, by method and handler.")
                .labelNames("handler", "method")
                .classicOnly()
                .classicUpperBounds(0.1, 0.5, 1)
                .register(registry);
        streamsCut = Counter.builder()
                .name("understudy_streams_cut")
                .help("Streams that were cut because their reader was too slow.")
                .register(registry);
        ProcessMetrics.builder().register(registry);
    }

    /** Python's client shows when a series began in seconds, so this one must; there are no other time stamps. */
    @SuppressWarnings("deprecation")
    private static PrometheusTextFormatWriter writer() {
        return PrometheusTextFormatWriter.builder()
                .setIncludeCreatedTimestamps(true)
                .setTimestampsInMs(false)
                .build();
    }

    /** Shows the emulation's clock. */
    public void watch(VirtualTime<?> time, IntSupplier numInFlight) {
        gauge("understudy_virtual_time_seconds", "Virtual time since the start.", () -> time.nowNanos() / 1e9);
        gauge(
                "understudy_lateness_p50_seconds",
                "Median lateness of timers against the wall clock.",
                () -> time.lateness().p50Nanos() / 1e9);
        gauge(
                "understudy_lateness_p99_seconds",
                "99th percentile of the lateness of timers.",
                () -> time.lateness().p99Nanos() / 1e9);
        gauge(
                "understudy_lateness_max_seconds",
                "Largest lateness of a timer.",
                () -> time.lateness().maxNanos() / 1e9);
        gauge("understudy_calls_in_flight", "Calls of the API that are being answered.", numInFlight::getAsInt);
    }

    private void gauge(String name, String help, DoubleSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call(value.getAsDouble()))
                .register(registry);
    }

    public void onResponse(String handler, String method, int status, double tookSeconds) {
        if (!SILENT.contains(handler)) {
            requests.labelValues(handler, method, status / 100 + "xx").inc();
            seconds.labelValues(handler, method).observe(tookSeconds);
        }
    }

    public void onStreamCut() {
        streamsCut.inc();
    }

    /** Returns all metrics in Prometheus' text format. */
    public String text() {
        var out = new ByteArrayOutputStream(1 << 16);
        try {
            writer.write(out, registry.scrape(name -> !absent.contains(name)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    /**
     * Returns the metrics of one replica, which shows itself as engine 0, as a server of its own does; one of SGLang's has no
     * rank then.
     */
    public String textOf(int replicaIndex) {
        String own = String.valueOf(replicaIndex);
        return text().lines()
                .filter(line -> isOf(line, own))
                .map(HttpMetrics::alone)
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static boolean isOf(String line, String replica) {
        if (line.startsWith("#")) {
            return true;
        }
        var label = REPLICA_LABEL.matcher(line);
        return !label.find() || label.group(1).equals(replica);
    }

    private static String alone(String line) {
        var label = REPLICA_LABEL.matcher(line);
        if (line.startsWith("#") || !label.find()) {
            return line;
        }
        String first = label.group().startsWith("dp_rank") ? "" : label.group().replace(label.group(1), "0");
        return line.substring(0, label.start()) + first + line.substring(label.end());
    }
}

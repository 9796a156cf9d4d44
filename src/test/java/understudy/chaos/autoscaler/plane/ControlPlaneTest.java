package understudy.chaos.autoscaler.plane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import understudy.chaos.autoscaler.evidence.ScaleCall;
import understudy.json.Jackson;

/** Two replicas that are ready, 3 and 5, one that starts, 6, and a fourth one that is gone but still shows its series. */
final class ControlPlaneTest {
    private static final String PAGE = """
            # TYPE vllm:num_requests_running gauge
            vllm:num_requests_running{engine="3",model_name="m"} 2.0
            vllm:num_requests_running{engine="4",model_name="m"} 9.0
            vllm:num_requests_running{engine="5",model_name="m"} %d.0
            # TYPE vllm:generation_tokens_total counter
            vllm:generation_tokens_total{engine="3",model_name="m"} %d.0
            # TYPE understudy_router_requests_held gauge
            understudy_router_requests_held 7.0
            """;

    private final HttpClient client = HttpClient.newHttpClient();
    private String text = PAGE.formatted(4, 100);
    private ControlPlane plane;

    @BeforeEach
    void open() throws IOException {
        plane = new ControlPlane(3, () -> text);
        plane.setPods(new TreeMap<>(Map.of(3, "replica-3", 5, "replica-5")), new TreeMap<>(Map.of(6, "replica-6")));
    }

    @AfterEach
    void close() {
        plane.close();
    }

    private HttpResponse<String> send(String method, URI uri, String type, String body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(uri)
                        .timeout(Duration.ofSeconds(20))
                        .header("Content-Type", type)
                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(URI uri) throws Exception {
        return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    private JsonNode scale() throws Exception {
        return Jackson.mapper().readTree(get(plane.scale()).body());
    }

    private static String scale(String version, int replicas) {
        return "{\"metadata\": {\"resourceVersion\": \"" + version + "\"}, \"spec\": {\"replicas\": " + replicas + "}}";
    }

    @Test
    void scaleIsThatOfKubernetes() throws Exception {
        var scale = scale();

        assertThat(plane.scale().getPath()).isEqualTo("/apis/apps/v1/namespaces/default/deployments/replicas/scale");
        assertThat(scale.path("kind").asText()).isEqualTo("Scale");
        assertThat(scale.path("apiVersion").asText()).isEqualTo("autoscaling/v1");
        assertThat(scale.path("spec").path("replicas").asInt()).isEqualTo(3);
        assertThat(scale.path("status").path("replicas").asInt()).isEqualTo(3);
    }

    @Test
    void putOfAnOldVersionConflicts() throws Exception {
        String version = scale().path("metadata").path("resourceVersion").asText();

        assertThat(send("PUT", plane.scale(), "application/json", scale(version, 5))
                        .statusCode())
                .isEqualTo(200);
        var conflict = send("PUT", plane.scale(), "application/json", scale(version, 6));

        assertThat(conflict.statusCode()).isEqualTo(409);
        assertThat(Jackson.mapper().readTree(conflict.body()).path("reason").asText())
                .isEqualTo("Conflict");
        assertThat(plane.wanted()).isEqualTo(5);
        assertThat(plane.calls())
                .extracting(ScaleCall::status, ScaleCall::replicas)
                .containsExactly(
                        tuple(200, OptionalInt.empty()), tuple(200, OptionalInt.of(5)), tuple(409, OptionalInt.of(6)));
    }

    /** The first call begins the scenario, but what an autoscaler asks for at once comes before the kit has seen that. */
    @Test
    void callBeforeTheScenarioCountsAsOneAtItsStart() throws Exception {
        send("PATCH", plane.scale(), "application/merge-patch+json", "{\"spec\": {\"replicas\": 8}}");

        plane.begin();
        send("PATCH", plane.scale(), "application/merge-patch+json", "{\"spec\": {\"replicas\": 7}}");

        assertThat(plane.calls()).extracting(ScaleCall::replicas).containsExactly(OptionalInt.of(8), OptionalInt.of(7));
        assertThat(plane.calls().get(0).atNanos()).isZero();
        assertThat(plane.calls().get(1).atNanos()).isPositive();
    }

    @Test
    void statusThatChangesMakesANewVersion() throws Exception {
        String version = scale().path("metadata").path("resourceVersion").asText();
        plane.setPods(new TreeMap<>(Map.of(3, "replica-3")), new TreeMap<>());

        assertThat(send("PUT", plane.scale(), "application/json", scale(version, 5))
                        .statusCode())
                .isEqualTo(409);
    }

    @Test
    void patchMerges() throws Exception {
        var patched = send("PATCH", plane.scale(), "application/merge-patch+json", "{\"spec\": {\"replicas\": 1}}");

        assertThat(patched.statusCode()).isEqualTo(200);
        assertThat(plane.wanted()).isEqualTo(1);
        assertThat(send("PATCH", plane.scale(), "application/merge-patch+json", "{}")
                        .statusCode())
                .isEqualTo(200);
        assertThat(plane.wanted()).isEqualTo(1);
        assertThat(send("PATCH", plane.scale(), "application/json-patch+json", "[]")
                        .statusCode())
                .isEqualTo(415);
        assertThat(send("PATCH", plane.scale(), "application/merge-patch+json", "{\"spec\": {\"replicas\": -1}}")
                        .statusCode())
                .isEqualTo(422);
    }

    @Test
    void conflictsStrikeEverySecondWriteThatNamesAVersion() throws Exception {
        plane.begin(new PlaneFault(PlaneFault.Kind.SCALE_CONFLICTS, Optional.empty(), Map.of(), 0));

        for (int status : new int[] {409, 200, 409, 200}) {
            String version = scale().path("metadata").path("resourceVersion").asText();
            assertThat(send("PUT", plane.scale(), "application/json", scale(version, status))
                            .statusCode())
                    .isEqualTo(status);
        }
        assertThat(send("PATCH", plane.scale(), "application/merge-patch+json", "{\"spec\": {\"replicas\": 1}}")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void targetsAreThoseOfServiceDiscovery() throws Exception {
        var groups = Jackson.mapper().readTree(get(plane.targets()).body());

        assertThat(groups.findValuesAsText("instance"))
                .containsExactly("replica-3", "replica-5", "replica-6", "router");
        assertThat(groups.findValuesAsText("__meta_kubernetes_pod_ready")).containsExactly("true", "true", "false");
        var group = groups.get(0);
        var own = URI.create("http://" + group.path("targets").get(0).asText()
                + group.path("labels").path("__metrics_path__").asText());
        assertThat(get(own).body())
                .contains("vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 2.0\n")
                .doesNotContain("held{", "9.0");
        assertThat(get(plane.metrics().resolve("/pods/replica-6/metrics")).statusCode())
                .isEqualTo(503);
    }

    @Test
    void metricsHaveInstancesAndTimeStamps() throws Exception {
        assertThat(get(plane.metrics()).body())
                .containsPattern(
                        "vllm:num_requests_running\\{engine=\"0\",model_name=\"m\",instance=\"replica-5\"} 4.0 \\d{13}\n")
                .containsPattern("understudy_router_requests_held\\{instance=\"router\"} 7.0 \\d{13}\n")
                .contains("# TYPE vllm:num_requests_running gauge\n")
                .doesNotContain("9.0");
    }

    @Test
    void faultsChangeWhatMetricsSay() throws Exception {
        var falseOnes = new PlaneFault(
                PlaneFault.Kind.FALSE_METRICS, Optional.of("replica-5"), Map.of("vllm:num_requests_running", "NaN"), 0);
        plane.begin(falseOnes);
        assertThat(get(plane.metrics()).body()).contains("\"replica-5\"} NaN ", "\"replica-3\"} 2.0 ");
        plane.end(falseOnes);

        var vanished = new PlaneFault(PlaneFault.Kind.VANISHED_SERIES, Optional.of("replica-3"), Map.of(), 0);
        plane.begin(vanished);
        assertThat(get(plane.metrics()).body()).doesNotContain("replica-3").contains("replica-5");
        plane.end(vanished);

        var restarted = new PlaneFault(PlaneFault.Kind.RESTARTED_COUNTERS, Optional.empty(), Map.of(), 0);
        plane.begin(restarted);
        text = PAGE.formatted(5, 130);
        // 130 since the start, of which 100 came before the fault.
        assertThat(get(plane.metrics()).body()).contains("\"replica-3\"} 30.0 ", "\"replica-5\"} 5.0 ");
        plane.end(restarted);
        assertThat(get(plane.metrics()).body()).contains("\"replica-3\"} 130.0 ");
    }

    @Test
    void staleMetricsStayWithTheirTimeStamps() throws Exception {
        plane.begin(new PlaneFault(PlaneFault.Kind.STALE_METRICS, Optional.empty(), Map.of(), 0));
        String before = get(plane.metrics()).body();
        text = PAGE.formatted(5, 130);

        assertThat(get(plane.metrics()).body()).isEqualTo(before).contains(" 4.0 ");
        assertThat(get(plane.metrics().resolve("/pods/replica-3/metrics")).statusCode())
                .isEqualTo(503);
    }

    @Test
    void hungMetricsAreBrokenOffAtTheEnd() throws Exception {
        var fault = new PlaneFault(PlaneFault.Kind.HUNG_METRICS, Optional.empty(), Map.of(), 0);
        plane.begin(fault);
        var answer =
                client.sendAsync(HttpRequest.newBuilder(plane.metrics()).build(), HttpResponse.BodyHandlers.ofString());
        while (!plane.hasBeenCalled()) {
            Thread.onSpinWait();
        }

        assertThat(answer).isNotDone();
        plane.end(fault);

        assertThat(answer.handle((response, failure) -> true).get(20, TimeUnit.SECONDS))
                .isTrue();
    }
}

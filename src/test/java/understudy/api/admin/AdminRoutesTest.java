package understudy.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.testkit.EmulatedClusterExtension;

/** Control over HTTP, of a cluster whose clock stands still. */
final class AdminRoutesTest {
    @RegisterExtension
    final EmulatedClusterExtension emulation = EmulatedClusterExtension.servingPaused("cluster.replicas = 2");

    private final HttpClient client = HttpClient.newHttpClient();

    @Test
    void status_showsEveryReplica() throws Exception {
        var status = call("GET", "/admin/status", "");

        assertThat(status.statusCode()).isEqualTo(200);
        assertThat(json(status).get("virtual_time_s").asDouble()).isZero();
        assertThat(states(status)).isEqualTo("ready ready");
    }

    @Test
    void replica_crashesAndComesBack() throws Exception {
        assertThat(states(call("POST", "/admin/replicas/1/crash", ""))).isEqualTo("ready down");
        assertThat(states(call("POST", "/admin/replicas/1/restart", ""))).isEqualTo("ready starting");
        assertThat(states(call("POST", "/admin/clock/advance?by=1ms", ""))).isEqualTo("ready ready");
        assertThat(states(call("POST", "/admin/replicas/0/drain", ""))).isEqualTo("draining ready");
        assertThat(states(call("POST", "/admin/replicas", ""))).isEqualTo("draining ready starting");
    }

    @Test
    void faultWithADuration_endsByItself() throws Exception {
        call("POST", "/admin/faults", "{\"do\": \"crash\", \"replica\": 0, \"for\": \"10s\"}");
        call("POST", "/admin/clock/advance?by=9.9s", "");
        assertThat(states(call("GET", "/admin/status", ""))).isEqualTo("down ready");

        call("POST", "/admin/clock/advance?by=200ms", "");

        assertThat(states(call("GET", "/admin/status", ""))).isEqualTo("ready ready");
    }

    @Test
    void clock_stepsFromInstantToInstant() throws Exception {
        call("POST", "/admin/faults", "{\"do\": \"drain\", \"replica\": 0, \"for\": \"7s\"}");

        var stepped = json(call("POST", "/admin/clock/step", ""));

        assertThat(stepped.get("virtual_time_s").asDouble()).isEqualTo(7);
    }

    @Test
    void whatCannotBe_isAConflict() throws Exception {
        var refused = call("POST", "/admin/replicas/0/restart", "");

        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(json(refused).at("/error/message").asText()).isEqualTo("Restart: replica 0 is READY");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/admin/faults | {\"do\": \"krash\"} | do is \"krash\", must be one of",
                "/admin/faults | {\"do\": \"crash\", \"replica\": [1]} | replica must be a text or a number",
                "/admin/faults | {\"do\": | JSON decode error",
                "/admin/faults | [] | Input should be a valid dictionary or object",
                "/admin/replicas/0/explode | '' | do is \"explode\"",
                "/admin/clock/run          | '' | the parameter speed is missing",
                "/admin/clock/advance      | '' | the parameter by is missing",
                "/admin/clock/run?speed=-1 | '' | speed is \"-1\", must be a number above 0, or max",
                "/admin/clock/advance?by=1 | '' | by is \"1\", must be a duration",
            })
    void mistake_isNamed(String path, String body, String message) throws Exception {
        var response = call("POST", path, body);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(json(response).at("/error/message").asText()).contains(message);
    }

    private HttpResponse<String> call(String method, String path, String body)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(uri(path))
                .timeout(Duration.ofMinutes(1))
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return emulation.cluster().uri().resolve(path);
    }

    private static String states(HttpResponse<String> response) throws IOException {
        return String.join(" ", json(response).get("replicas").findValuesAsText("state"));
    }

    private static JsonNode json(HttpResponse<String> response) throws IOException {
        return new ObjectMapper().readTree(response.body());
    }
}

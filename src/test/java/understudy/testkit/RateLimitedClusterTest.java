package understudy.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One request may come, and the next one 1,000 seconds later. */
final class RateLimitedClusterTest {
    @RegisterExtension
    final EmulatedClusterExtension emulation =
            EmulatedClusterExtension.serving("router.admission.rate-limit { rate = 0.001, burst = 1 }");

    @Test
    void requestBeyondTheLimit_getsA429() throws Exception {
        assertThat(call("{\"prompt\": \"Hi\", \"max_tokens\": 2}").statusCode()).isEqualTo(200);

        for (String stream : new String[] {"false", "true"}) {
            var refused = call("{\"prompt\": \"Hi\", \"max_tokens\": 2, \"stream\": %s}".formatted(stream));

            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            assertThat(refused.body())
                    .isEqualTo("{\"error\":{\"message\":\"the rate limit is exceeded\",\"type\":\"RateLimitError\","
                            + "\"param\":null,\"code\":429}}");
        }
    }

    private HttpResponse<String> call(String body) throws Exception {
        var request = HttpRequest.newBuilder(emulation.cluster().uri().resolve("/v1/completions"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }
}

package understudy.api.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;
import understudy.api.http.Json;

/** The page's files and its events, over HTTP. */
final class LivePageRoutesTest {
    private static final Pattern ELSEWHERE = Pattern.compile("(?:src|href|import|fetch)\\W+https?:");
    private static final String CHAT = """
            {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 5, "stream": true}""";

    private final ServerFixture fixture = new ServerFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/page/app.js",
                "/page/charts.js",
                "/page/controls.js",
                "/page/decisions.js",
                "/page/format.js",
                "/page/keys.js",
                "/page/lanes.js",
                "/page/prompt.js",
                "/page/replicas.js",
                "/page/sparkline.js",
                "/page/page.css"
            })
    void files_areServedAndNeedNoNetwork(String path) {
        fixture.start();

        var file = fixture.get(path);

        assertThat(file.status()).isEqualTo(200);
        assertThat(file.headers().firstValue("Content-Security-Policy").orElse(""))
                .startsWith("default-src 'self'");
        assertThat(ELSEWHERE.matcher(file.text()).find()).isFalse();
        assertThat(file.text().lines().count()).isLessThan(250);
    }

    @Test
    void chartJs_comesFromItsJar() {
        fixture.start();

        var script = fixture.get("/page/chart.js");

        assertThat(script.status()).isEqualTo(200);
        assertThat(script.headers().firstValue("Content-Type").orElse("")).startsWith("application/javascript");
        assertThat(script.text()).contains("Chart.js v4");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/page/none.js",
                "/page/",
                "/page/../LivePageRoutes.class",
                "/page/%2e%2e/Json.class",
                "/page/..%2fJson.class"
            })
    void nothingElse_isServed(String path) {
        fixture.start();

        assertThat(fixture.get(path).status()).isEqualTo(404);
    }

    @Test
    void events_beginWithWhatHasBeen_thenShowWhatIs() throws IOException {
        fixture.numReplicas = 2;
        fixture.start();

        try (var events = open()) {
            assertThat(next(events, "history", any -> true).isArray()).isTrue();
            var idle = next(events, "snapshot", any -> any.get("replicas").size() == 2);
            assertThat(idle.get("model").asText()).isEqualTo("m");
            assertThat(idle.get("policy").asText()).isEqualTo("round-robin");
            assertThat(idle.get("clock").get("mode").asText()).isEqualTo("paced by the wall clock");
            assertThat(idle.get("clock").get("speed").asDouble()).isEqualTo(10);

            fixture.post("/v1/chat/completions", CHAT);
            var served = next(
                    events,
                    "snapshot",
                    any -> any.get("totals").get("finished").asInt() == 1
                            && any.get("decisions").size() == 1);

            assertThat(served.get("decisions").get(0).get("rule").asText()).isEqualTo("next in turn");
            var lane = served.get("requests").get(0);
            assertThat(lane.get("state").asText()).isEqualTo("completed");
            assertThat(lane.get("outputTokens").asInt()).isEqualTo(5);
            // Five steps of 5 ms, the first token after the first.
            assertThat(lane.get("end").asDouble() - lane.get("firstToken").asDouble())
                    .isCloseTo(0.020, within(1e-6));
        }
    }

    @Test
    void events_tellOfAPausedClockAndOfCrashes() throws IOException {
        fixture.numReplicas = 2;
        fixture.start();

        try (var events = open()) {
            assertThat(fixture.post("/admin/replicas/1/crash", "").status()).isEqualTo(200);
            assertThat(fixture.post("/admin/clock/pause", "").status()).isEqualTo(200);

            next(
                    events,
                    "snapshot",
                    any -> any.get("clock").get("mode").asText().equals("paused")
                            && any.get("replicas").size() == 2
                            && any.get("replicas").get(1).get("state").asText().equals("down"));
        }
    }

    @Test
    void replicasThatJoin_showUpAndServe() throws IOException {
        fixture.start();

        try (var events = open()) {
            assertThat(fixture.post("/admin/replicas", "").status()).isEqualTo(200);
            next(
                    events,
                    "snapshot",
                    any -> any.get("replicas").size() == 2
                            && any.get("replicas").get(1).get("state").asText().equals("ready"));
            // One after the other, so round robin sends the second to the new one.
            fixture.post("/v1/chat/completions", CHAT);
            fixture.post("/v1/chat/completions", CHAT);

            next(events, "snapshot", any -> any.get("totals").get("finished").asInt() == 2);
            fixture.awaitMetric("vllm:generation_tokens_total", "engine=\"1\"", tokens -> tokens == 5);
        }
    }

    @Test
    void pagesThatAreTooMany_areTurnedAway() throws IOException {
        fixture.start();
        var open = new ArrayList<BufferedReader>();
        for (int i = 0; i < 32; i++) {
            var events = open();
            next(events, "history", any -> true);
            open.add(events);
        }

        assertThat(fixture.get("/live/events").status()).isEqualTo(503);
        for (var events : open) {
            events.close();
        }
    }

    private BufferedReader open() {
        try {
            var request = fixture.request("/live/events").GET().build();
            var response = fixture.client().send(request, HttpResponse.BodyHandlers.ofInputStream());
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
            return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Reads on until an event is as it should be. */
    private static JsonNode next(BufferedReader events, String name, Predicate<JsonNode> isGood) throws IOException {
        String event = "";
        for (String line = events.readLine(); line != null; line = events.readLine()) {
            if (line.startsWith("event: ")) {
                event = line.substring("event: ".length());
            } else if (line.startsWith("data: ") && event.equals(name)) {
                var data = Json.read(line.substring("data: ".length()));
                if (isGood.test(data)) {
                    return data;
                }
            }
        }
        throw new AssertionError("the events have ended");
    }
}

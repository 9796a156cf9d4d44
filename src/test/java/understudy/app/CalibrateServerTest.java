package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;
import static understudy.bench.ScriptedServer.chunk;
import static understudy.bench.ScriptedServer.refuse;
import static understudy.bench.ScriptedServer.stream;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.bench.ScriptedServer;
import understudy.settings.Hocon;
import understudy.testkit.EmulatedCluster;

/** Calibration by a live server, and what becomes of it when the server does not play along. */
final class CalibrateServerTest {
    private static final String MODELS =
            "{\"data\": [{\"id\": \"m\", \"owned_by\": \"vllm\", \"max_model_len\": 4096}]}";

    @TempDir
    private Path directory;

    /**
     * Steps of 20 ms, and 50 us for each token of a prompt, at wall-clock pace. A busy machine may be late by some
     * milliseconds, which is part of a single step, but little of the many that tell the plateau.
     */
    @Test
    void stepsOfAServer_becomeSettingsThatRun() {
        var out = directory.resolve("server.conf");
        try (var cluster = EmulatedCluster.serve("""
                clock.speed = 1
                cluster.replicas = 1
                engine.max-model-len = 2048
                latency {
                  model = profile, api-delay = 2ms
                  profile {
                    weights = 20ms, per-token = 50us, per-kv-token = 100ns, per-attention-pair = 0ns
                    per-mixed-kv-token = 0ns
                  }
                }
                """)) {
            var run =
                    call("calibrate", "--url", cluster.uri().toString(), "--max-requests=75", "--out", out.toString());

            assertThat(run.exitCode).as(run.err).isZero();
            assertThat(run.out).contains("| decodes, short contexts", "the network's round trip");
        }
        double weights = Hocon.file(out).section("latency").section("profile").nanos("weights");
        assertThat(weights).isCloseTo(20e6, Percentage.withPercentage(10));
        assertThat(call("run", out.toString(), "--explain-step", "1x1@30").out).startsWith("A step of 1 decode");
    }

    @Test
    void aServerThatIsNotThere_isOneLine() {
        String url;
        try (var gone = new ScriptedServer((number, call) -> {})) {
            url = gone.url();
        }

        assertEnds(url, url + "/v1/models: cannot be reached: connection refused");
    }

    @Test
    void aServerThatRefuses_isOneLine() {
        try (var server = server((number, call) -> refuse(call, 503, "no room"))) {
            assertEnds(
                    server.url(),
                    server.url() + "/v1/completions: a request with a prompt of 256 words failed: HTTP 503: no room");
        }
    }

    @Test
    void aServerThatDies_isOneLine() {
        try (var server = server((number, call) -> stream(call, chunk(" a"), chunk(" b")))) {
            assertEnds(
                    server.url(),
                    server.url() + "/v1/completions: a request with a prompt of 256 words failed: the stream ended"
                            + " before the answer");
        }
    }

    /** As with --stream-interval, or speculative decoding. */
    @Test
    void aServerWithSeveralTokensInAChunk_isOneLine() {
        try (var server = server((number, call) ->
                stream(call, chunk(" a b c"), "{\"choices\": [], \"usage\": {\"completion_tokens\": 16}}", "[DONE]"))) {
            assertEnds(
                    server.url(),
                    server.url()
                            + "/v1/completions: 16 tokens in 1 chunks, where 16 tokens were wanted; steps show only"
                            + " if answers go on to max_tokens, and each chunk has one token");
        }
    }

    @Test
    void aServerThatDoesNotAnswer_isGivenUp() {
        try (var server = server((number, call) -> {
            call.sendResponseHeaders(200, 0);
            call.getRequestBody().readAllBytes();
            try {
                Thread.sleep(3000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        })) {
            assertEnds(
                    server.url(),
                    server.url()
                            + " (m): 0 of 0 steps show in when tokens came, too few to fit; left out: all probes after"
                            + " the first 0 requests: time was up",
                    "--max-seconds=0.5");
        }
    }

    @Test
    void misuse_isReported() {
        assertThat(call("calibrate").err)
                .isEqualTo("calibrate takes one of a file of measurements, --url and --from-metrics\n");
        assertThat(call("calibrate", "x.csv", "--url", "localhost").exitCode).isEqualTo(2);
        assertThat(call("calibrate", "--url", "http://").err).startsWith("http://: not the URL of a server");
        assertThat(call("calibrate", "--url", "localhost", "--max-requests=0").err)
                .startsWith("--max-requests 0 --max-seconds 120.0: both must be above 0");
    }

    private void assertEnds(String url, String line, String... more) {
        var out = directory.resolve("out.conf");
        var args = new ArrayList<>(List.of("calibrate", "--url", url, "--out", out.toString()));
        args.addAll(List.of(more));

        var run = call(args.toArray(String[]::new));

        assertThat(run.err).isEqualTo(line + "\n");
        assertThat(run.exitCode).isEqualTo(1);
        assertThat(out).doesNotExist();
    }

    /** A server that is well until it is asked for completions. */
    private static ScriptedServer server(ScriptedServer.Script completions) {
        return new ScriptedServer((number, call) -> {
            if (call.getRequestURI().getPath().equals("/v1/completions")) {
                completions.answer(number, call);
            } else {
                answer(call, MODELS);
            }
        });
    }

    private static void answer(HttpExchange call, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        call.sendResponseHeaders(200, body.length);
        call.getResponseBody().write(body);
    }
}

package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import understudy.api.http.FaultHeaders;

/** What clients see when something goes wrong behind the server; a step takes 0.5 ms. */
final class ServedFaultsTest {
    private static final String WHOLE = "{\"prompt\": \"Hello\", \"max_tokens\": 20, \"ignore_eos\": true}";
    private static final String STREAM =
            "{\"prompt\": \"Hello\", \"max_tokens\": 20, \"ignore_eos\": true, \"stream\": true}";

    private static final String ERROR = "finished_reason=\"error\"";

    private final ServerFixture server = new ServerFixture();

    @BeforeEach
    void start() {
        server.numReplicas = 2;
        server.portsPerReplica = true;
        server.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void withoutAnyReplica_callsAreToldToComeAgain() {
        assertThat(server.get("/health/ready").status()).isEqualTo(200);
        assertThat(server.post("/admin/replicas/0/crash", "").status()).isEqualTo(200);
        assertThat(server.get("/health/ready").status()).isEqualTo(200);
        assertThat(server.post("/admin/replicas/1/crash", "").status()).isEqualTo(200);

        assertThat(server.get("/health/ready").status()).isEqualTo(503);
        for (String body : new String[] {WHOLE, STREAM}) {
            var refused = server.post("/v1/completions", body);
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).contains("2");
            assertThat(refused.json().at("/error/message").asText()).isEqualTo("no replica takes requests");
        }

        server.post("/admin/replicas/1/restart", "");
        server.awaitReady();
        assertThat(server.post("/v1/completions", STREAM).isDone()).isTrue();
    }

    @Test
    void headers_letOneRequestFail() {
        for (String body : new String[] {WHOLE, STREAM}) {
            var failed = server.post("/v1/completions", body, FaultHeaders.FAIL, "true");
            assertThat(failed.status()).isEqualTo(500);
            assertThat(failed.json().at("/error/message").asText()).isEqualTo("this error was asked for");
        }
        assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({
        "400, BadRequestError", "401, AuthenticationError", "404, NotFoundError", "408, RequestTimeout",
        "422, UnprocessableEntityError", "429, RateLimitError", "500, InternalServerError", "502, BadGateway",
        "503, ServiceUnavailable", "504, GatewayTimeout"
    })
    void errors_haveTheStatusThatWasAskedFor(int status, String type) {
        server.post("/admin/faults", "{\"do\": \"error-sequence\", \"count\": 1, \"status\": " + status + "}");
        var planned = server.post("/v1/completions", WHOLE);
        var single = server.post("/v1/completions", STREAM, FaultHeaders.FAIL, String.valueOf(status));

        for (var failed : List.of(planned, single)) {
            assertThat(failed.status()).isEqualTo(status);
            assertThat(failed.json().at("/error/code").asInt()).isEqualTo(status);
            assertThat(failed.json().at("/error/type").asText()).isEqualTo(type);
            assertThat(failed.headers().firstValue("Retry-After").isPresent())
                    .isEqualTo(status == 429 || status == 503);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"418", "0", "-1", "4294967696", "99999999999999", "yes"})
    void otherStatuses_areRefused(String status) {
        var refused = server.post("/v1/completions", WHOLE, FaultHeaders.FAIL, status);
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.json().at("/error/message").asText()).contains(status, "one of [400, 401");
        var fault = server.post("/admin/faults", "{\"do\":\"error-rate\",\"rate\":1,\"status\":\"" + status + "\"}");
        assertThat(fault.status()).isEqualTo(400);
    }

    @Test
    void cutStream_endsWithoutItsLastChunk() {
        assertThatThrownBy(() -> server.post("/v1/completions", STREAM, FaultHeaders.CUT_AFTER_TOKENS, "5"))
                .isInstanceOf(AssertionError.class);
        assertThat(server.post("/v1/completions", WHOLE, FaultHeaders.CUT_AFTER_TOKENS, "5")
                        .status())
                .isEqualTo(500);
    }

    @Test
    void cuts_areNotLogged() {
        var log = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
        var logged = new ListAppender<ILoggingEvent>();
        logged.start();
        log.addAppender(logged);
        try {
            for (int i = 0; i < 10; i++) {
                String kind = i % 2 == 0 ? FaultHeaders.CUT_AFTER_TOKENS : FaultHeaders.RESET_AFTER_TOKENS;
                assertThatThrownBy(() -> server.post("/v1/completions", STREAM, kind, "5"))
                        .isInstanceOf(AssertionError.class);
            }
            // Logs travel by way of the actor system, so that it must have ended for all of them to be here.
            server.close();
        } finally {
            log.detachAppender(logged);
        }

        assertThat(logged.list).isEmpty();
    }

    @Test
    void failures_areCountedAsTheEnginesErrors() {
        server.post("/v1/completions", WHOLE, FaultHeaders.FAIL, "true");
        server.awaitMetric("vllm:request_success_total", ERROR, count -> count == 1);
        server.post("/v1/completions", WHOLE, FaultHeaders.CUT_AFTER_TOKENS, "5");
        server.awaitMetric("vllm:request_success_total", ERROR, count -> count == 2);

        // Round robin: one on each replica. The first one had no token, the second one five.
        for (String engine : List.of("engine=\"0\"", "engine=\"1\"")) {
            assertThat(server.metric("vllm:request_success_total", engine)).isEqualTo(1);
            assertThat(server.metric("vllm:request_generation_tokens_count", engine))
                    .isEqualTo(1);
        }
        assertThat(server.metric("vllm:request_generation_tokens_sum", "")).isEqualTo(5);
    }

    @Test
    void failuresThatNoEngineSurvives_areNotCounted() {
        String longest = WHOLE.replace("20", "2000");
        var running = CompletableFuture.supplyAsync(() -> server.post("/v1/completions", longest));
        server.awaitMetric("vllm:num_requests_running", "", count -> count == 1);
        server.post("/admin/replicas/0/crash", "");
        server.post("/admin/replicas/1/crash", "");
        assertThat(running.join().status()).isEqualTo(500);
        assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(503);

        assertThat(server.metric("vllm:request_success_total", "")).isZero();
    }

    @Test
    void streamOfACrashedReplica_goesOnAtAnother() {
        server.close();
        server.moreSettings = "faults.on-crash = resume";
        server.start();
        String body = STREAM.replace("20", "1500");
        String undisturbed = text(server.post("/v1/completions", body));
        server.close();
        server.start();

        // 1,500 tokens take 750 ms, and the first request of a server always has the same answer.
        var answer = CompletableFuture.supplyAsync(() -> server.post("/v1/completions", body));
        server.awaitMetric("vllm:generation_tokens_total", "engine=\"0\"", count -> count > 100);
        server.post("/admin/replicas/0/crash", "");

        assertThat(answer.join().isDone()).isTrue();
        assertThat(text(answer.join())).isEqualTo(undisturbed);
        server.awaitMetric("vllm:generation_tokens_total", "engine=\"1\"", count -> count > 0 && count < 1400);
        assertThat(server.metric("vllm:time_to_first_token_seconds_count", "engine=\"1\""))
                .as("its first token was on the other one")
                .isZero();
    }

    private static String text(ServerFixture.Reply reply) {
        return reply.events().stream()
                .map(event -> event.at("/choices/0/text").asText())
                .collect(Collectors.joining());
    }

    @Test
    void malformedStream_hasOneBrokenEventAndGoesOn() {
        for (String path : new String[] {"/v1/completions", "/v1/chat/completions"}) {
            String chat = STREAM.replace(
                    "\"prompt\": \"Hello\"", "\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]");
            String body = path.contains("chat") ? chat : STREAM;
            var broken = events(server.post(path, body, FaultHeaders.MALFORMED_AT_TOKEN, "5"));

            // 20 tokens, and the event that opens a chat.
            assertThat(broken).hasSize(path.contains("chat") ? 22 : 21).last().isEqualTo("[DONE]");
            int fifth = path.contains("chat") ? 5 : 4;
            for (int i = 0; i < broken.size() - 1; i++) {
                assertThat(isJson(broken.get(i)))
                        .as("event %d: %s", i, broken.get(i))
                        .isEqualTo(i != fifth);
            }
        }
    }

    @Test
    void malformedStreams_hitTheSameRequestsAgain() {
        var hits = new ArrayList<List<Boolean>>();
        for (int run = 0; run < 2; run++) {
            server.close();
            server.start();
            String fault = "{\"do\": \"malform-streams\", \"rate\": 0.5, \"at-token\": 1}";
            assertThat(server.post("/admin/faults", fault).status()).isEqualTo(200);
            hits.add(IntStream.range(0, 20)
                    .mapToObj(i -> isJson(
                            events(server.post("/v1/completions", STREAM)).get(0)))
                    .toList());
        }

        assertThat(hits.get(0)).isEqualTo(hits.get(1)).contains(true).contains(false);
    }

    private static List<String> events(ServerFixture.Reply reply) {
        assertThat(reply.status()).isEqualTo(200);
        return reply.text()
                .lines()
                .filter(line -> line.startsWith("data: "))
                .map(line -> line.substring("data: ".length()))
                .toList();
    }

    private static boolean isJson(String text) {
        try {
            new ObjectMapper().readTree(text);
            return true;
        } catch (JsonProcessingException e) {
            return false;
        }
    }

    @Test
    void headerThatMakesNoSense_isNamed() {
        var refused = server.post("/v1/completions", WHOLE, FaultHeaders.DELAY, "soon");

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.json().at("/error/message").asText()).contains(FaultHeaders.DELAY, "soon");
        var unknown = server.post("/v1/completions", WHOLE, "X-Understudy-Dalay", "1s");
        assertThat(unknown.status()).isEqualTo(400);
        assertThat(unknown.json().at("/error/message").asText()).startsWith("unknown header");
    }

    @Test
    void replicaThatJoins_hasMetricsOfItsOwn() {
        server.post("/admin/replicas", "");
        server.awaitMetric("understudy_router_decisions_total", "engine=\"2\"", served -> {
            server.post("/v1/completions", WHOLE);
            return served > 0;
        });
    }
}

package understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static understudy.bench.ScriptedServer.chunk;
import static understudy.bench.ScriptedServer.refuse;
import static understudy.bench.ScriptedServer.stream;
import static understudy.bench.ScriptedServer.usage;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import understudy.Waiting;
import understudy.api.ServerFixture;
import understudy.bench.result.BenchRequest;
import understudy.bench.result.BenchRequest.End;
import understudy.scenario.Scenario;
import understudy.workload.RandomStreams;

/** The load client against live servers; nothing here depends on how fast the machine is. */
final class BenchTest {
    private static final Bench.Options PLAIN = new Bench.Options(false, 0, 0, 1);
    private static final double MILLIS = 1e6;

    /**
     * A step takes 5 ms of the server's time, which is what its metrics have; what the client measures depends on the
     * machine.
     */
    @Test
    void ownServer_takesAsLongAsItsDevice_andAllTokensCome() {
        try (var server = new ServerFixture()) {
            server.speed = 1;
            server.start();

            var requests = BenchFixture.run(
                    BenchFixture.target(server.url(), "/v1/completions", true),
                    PLAIN,
                    BenchFixture.scenario(Map.of("requests", 12, "arrivals.request-rate", 40)));

            assertThat(requests).hasSize(12).allMatch(BenchRequest::isCompleted);
            assertThat(requests).allMatch(request -> request.inputTokens() == 20 && request.outputTokens() == 6);
            assertThat(requests).allMatch(request -> request.chunkNanos().size() == 6);
            server.awaitMetric("vllm:generation_tokens_total", "", tokens -> tokens == 72);
            server.awaitMetric("vllm:request_time_per_output_token_seconds_count", "", count -> count == 12);
            // 12 requests, each of which has its tokens 5 ms apart.
            server.awaitMetric(
                    "vllm:request_time_per_output_token_seconds_sum", "", sum -> Math.abs(sum - 12 * 0.005) < 1e-6);
            // None has its first token before the first step is over; one that comes during a step waits for its end.
            server.awaitMetric("vllm:time_to_first_token_seconds_sum", "", sum -> sum >= 12 * 0.005);
        }
    }

    /** Each turn has 20 tokens of its own, and each answer 6; blocks have 16 tokens, of which full ones are found again. */
    @Test
    void sessions_repeatLiveAnswers_soThatTheServerFindsItsBlocks() {
        try (var server = new ServerFixture()) {
            server.start();
            var scenario = BenchFixture.scenario(Map.of(
                    "requests",
                    3,
                    "sessions.turns.mean",
                    3,
                    "sessions.think-time",
                    Map.of("kind", "fixed", "mean", "1ms")));

            var requests =
                    BenchFixture.run(BenchFixture.target(server.url(), "/v1/completions", true), PLAIN, scenario);

            // 20; 20 + 6 + 20; 46 + 6 + 20.
            assertThat(requests).extracting(BenchRequest::inputTokens).containsExactly(20, 46, 72);
            // 26 tokens have one full block, and 52, of which 51 are computed, have three.
            server.awaitMetric("vllm:prefix_cache_hits_total", "", tokens -> tokens == 16 + 48);
        }
    }

    @Test
    void chat_sendsMessagesInTurn() {
        var answer = "{\"choices\": [{\"delta\": {\"content\": \" so\"}, \"finish_reason\": \"stop\"}]}";
        Set<String> sessions = ConcurrentHashMap.newKeySet();
        try (var server = new ScriptedServer((number, call) -> {
            sessions.add(String.valueOf(call.getRequestHeaders().getFirst("X-Session-Id")));
            stream(call, answer, usage(30, 1), "[DONE]");
        })) {
            var scenario = BenchFixture.scenario(Map.of(
                    "requests",
                    2,
                    "sessions.turns.mean",
                    2,
                    "sessions.think-time",
                    Map.of("kind", "fixed", "mean", "1ms")));

            BenchFixture.run(BenchFixture.target(server.url(), "/v1/chat/completions", false), PLAIN, scenario);

            assertThat(server.bodies().get(0)).contains("\"max_completion_tokens\":6", "\"role\":\"user\"");
            assertThat(server.bodies().get(1))
                    .contains("{\"role\":\"assistant\",\"content\":\" so\"},{\"role\":\"user\"");
            assertThat(sessions).singleElement().asString().startsWith("session-");
        }
    }

    /** One at a time, due every 20 ms, and the first answer takes 500 ms. */
    @Test
    void stall_showsFromTheIntendedSendTime_andNotFromTheSend() {
        try (var server = new ScriptedServer((number, call) -> {
            Waiting.millis(number == 0 ? 500 : 0);
            stream(call, chunk("a"), usage(20, 1), "[DONE]");
        })) {
            var requests = BenchFixture.run(
                    BenchFixture.target(server.url(), "/v1/completions", true),
                    PLAIN,
                    BenchFixture.scenario(Map.of(
                            "requests",
                            10,
                            "max-concurrency",
                            1,
                            "arrivals.request-rate",
                            50,
                            "arrivals.kind",
                            "constant")));

            // Those due at 40, 60 … 200 ms are sent at 520 ms or later: 320 ms is what each of them has waited at
            // least.
            var others = requests.subList(1, 10);
            assertThat(others).allMatch(request -> request.beforeSendNanos() >= 320 * MILLIS);
            assertThat(others).allMatch(request -> request.queueNanos() >= 320 * MILLIS);
            assertThat(requests.get(0).e2elNanos()).isGreaterThanOrEqualTo((long) (500 * MILLIS));
            // The server was as fast as ever with the others, and that is all that the time from the send shows.
            assertThat(median(others, BenchRequest::e2elNanos))
                    .isLessThan(
                            median(others, request -> request.e2elNanos() + request.beforeSendNanos()) - 300 * MILLIS);
        }
    }

    @Test
    void closedLoop_wantsRequestsWhenOthersHaveEnded() {
        try (var server = new ScriptedServer((number, call) -> {
            Waiting.millis(50);
            stream(call, chunk("a"), "[DONE]");
        })) {
            var requests = BenchFixture.run(
                    BenchFixture.target(server.url(), "/v1/completions", true),
                    new Bench.Options(true, 0, 0, 1),
                    BenchFixture.scenario(Map.of("requests", 3, "max-concurrency", 1, "arrivals.request-rate", "inf")));

            assertThat(requests).allMatch(request -> request.queueNanos() == 0);
            assertThat(requests.get(2).times().intendedNanos()).isGreaterThanOrEqualTo((long) (100 * MILLIS));
        }
    }

    @Test
    void withoutUsage_chunksAreCounted() {
        try (var server = new ScriptedServer((number, call) -> stream(call, chunk("a"), chunk(" b"), "[DONE]"))) {
            var request = runOne(server, PLAIN);

            assertThat(request.outputTokens()).isEqualTo(2);
            assertThat(request.inputTokens()).isEqualTo(20);
            assertThat(request.text()).isEqualTo("a b");
        }
    }

    @Test
    void reasonToFinish_endsAnAnswerAsWellAsTheLastEvent() {
        var last = "{\"choices\": [{\"text\": \"a\", \"finish_reason\": \"length\"}]}";
        try (var server = new ScriptedServer((number, call) -> stream(call, last))) {
            assertThat(runOne(server, PLAIN).end()).isEqualTo(End.COMPLETED);
        }
    }

    @Test
    void refusal_isTriedAgainWhenTheServerSays() {
        try (var server = new ScriptedServer((number, call) -> {
            if (number == 0) {
                call.getResponseHeaders().set("Retry-After", "1");
                refuse(call, 429, "too many");
            } else {
                stream(call, chunk("a"), "[DONE]");
            }
        })) {
            var request = runOne(server, new Bench.Options(false, 2, 0, 1));

            assertThat(request.end()).isEqualTo(End.COMPLETED);
            assertThat(request.numRetries()).isEqualTo(1);
            assertThat(request.times().sentNanos() - request.times().firstSentNanos())
                    .isGreaterThanOrEqualTo((long) (1000 * MILLIS));
            // The pause before it is no time of the server.
            long sentNanos = request.times().sentNanos();
            assertThat(request.ttftNanos()).isEqualTo(request.chunkNanos().getLong(0) - sentNanos);
            assertThat(request.e2elNanos()).isEqualTo(request.lastChunkNanos() - sentNanos);
        }
    }

    @Test
    void errors_haveTheServersWords() {
        try (var server = new ScriptedServer((number, call) -> {
            switch (number) {
                case 0 -> refuse(call, 429, "too many");
                case 1 -> stream(call, chunk("a"));
                case 2 -> stream(call, "[DONE]");
                case 3 -> stream(call, chunk("a"), "{\"error\": {\"message\": \"out of luck\"}}", "[DONE]");
                default -> stream(call, "{", "[DONE]");
            }
        })) {
            var requests = BenchFixture.run(
                    BenchFixture.target(server.url(), "/v1/completions", true),
                    PLAIN,
                    BenchFixture.scenario(Map.of("requests", 5, "max-concurrency", 1, "arrivals.request-rate", "inf")));

            assertThat(requests).extracting(BenchRequest::end).containsOnly(End.FAILED);
            assertThat(requests)
                    .extracting(BenchRequest::error)
                    .containsExactly(
                            "HTTP 429: too many",
                            "the stream ended before the answer",
                            "the stream had no chunk with a choice",
                            "out of luck",
                            "a chunk is not JSON: {");
        }
    }

    @Test
    void streamsThatAreGivenUp_countAsAborted_withWhatHasCome() {
        try (var server = new ScriptedServer((number, call) -> {
            stream(call, chunk("a"), chunk("b"), chunk("c"));
            Waiting.millis(200);
        })) {
            var request = runOne(server, new Bench.Options(false, 0, 1, 2));

            assertThat(request.end()).isEqualTo(End.ABORTED);
            assertThat(request.text()).isEqualTo("ab");
            assertThat(request.chunkNanos().size()).isEqualTo(2);
        }
    }

    @Test
    void stop_endsAtOnce_andKeepsWhatHasCome() throws InterruptedException {
        var isOver = new CompletableFuture<Void>();
        try (var server = new ScriptedServer((number, call) -> {
                    stream(call, chunk("a"));
                    isOver.join();
                });
                var workload = BenchFixture.scenario(Map.of("requests", 2))
                        .workloadSource()
                        .open()) {
            var bench =
                    new Bench(BenchFixture.target(server.url(), "/v1/completions", true), PLAIN, new RandomStreams(1));
            var stopping = CompletableFuture.runAsync(() -> {
                Waiting.until(() -> !server.bodies().isEmpty());
                Waiting.millis(100);
                bench.stop();
            });

            var requests = bench.run(workload, (numEnded, seconds) -> {});

            stopping.join();
            isOver.complete(null);
            assertThat(bench.isStopped()).isTrue();
            assertThat(requests).isNotEmpty();
            assertThat(requests).extracting(BenchRequest::end).containsOnly(End.UNFINISHED);
        }
    }

    @Test
    void serverThatIsNotThere_isNamed() {
        assertThatThrownBy(() -> ServerLink.firstModel(URI.create("http://127.0.0.1:1"), Map.of(), true))
                .isInstanceOf(BenchUnreachableException.class)
                .hasMessage("http://127.0.0.1:1/v1/models: cannot be reached: connection refused");
    }

    @Test
    void serverWhoseNameIsNotKnown_isNotCalledRefusing() {
        assertThatThrownBy(() -> ServerLink.firstModel(URI.create("http://nowhere.invalid:1"), Map.of(), true))
                .isInstanceOf(BenchUnreachableException.class)
                .hasMessage("http://nowhere.invalid:1/v1/models: cannot be reached: the name of the host is not known");
    }

    private static BenchRequest runOne(ScriptedServer server, Bench.Options options) {
        Scenario one = BenchFixture.scenario(Map.of("requests", 1, "arrivals.request-rate", "inf"));
        return BenchFixture.run(BenchFixture.target(server.url(), "/v1/completions", true), options, one)
                .get(0);
    }

    private static double median(List<BenchRequest> requests, ToDoubleFunction<BenchRequest> value) {
        var sorted = requests.stream().mapToDouble(value).sorted().toArray();
        return sorted[sorted.length / 2];
    }
}

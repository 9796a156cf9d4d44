package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import understudy.Waiting;
import understudy.workload.RandomStreams;

/** Requests that nobody should send: each is answered, none by an error of the server, and nothing is left behind. */
final class HostileRequestsTest {
    private static final int NUM_REQUESTS = Integer.getInteger("understudy.hostile-requests", 1500);
    private static final List<String> INSIDES = List.of("at understudy.", "java.", "scala.", "/src/", ".java:");

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private final Logger log = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    private final Level levelBefore = log.getLevel();

    private final UniformRandomProvider random = new RandomStreams(11).stream("hostile-requests");
    private final HostileBodies bodies = new HostileBodies(random);
    private final HostileWire wire = new HostileWire(random);
    private final HostileAdmin admin = new HostileAdmin(random);

    /** Durations beyond virtual time. */
    private final List<Supplier<HostileRequest>> overflows = List.of(wire::overflow, admin::overflow);

    private final List<Supplier<HostileRequest>> others = List.of(bodies::next, bodies::next, wire::next, admin::next);

    private final HostileBodies ofSglang = new HostileBodies(random, HostileBodies.SGLANG_PATHS);

    /** The server warns of each request that is not HTTP; here that is thousands of lines. */
    @BeforeEach
    void beQuiet() {
        log.setLevel(Level.OFF);
    }

    @AfterEach
    void logAgain() {
        log.setLevel(levelBefore);
    }

    @Test
    void noneIsAnsweredByAnErrorOfTheServer() throws IOException {
        server.numReplicas = 2;
        server.speed = 1000;
        server.start();
        // The mix reaches the model now and then, or it would show little.
        assertThat(answersTo(this::next)).contains(200, 400, 404, 405, 409, 413, 415, 500);
        assertThat(server.server().whenFailed()).isNotDone();
        assertThat(server.get("/admin/status").json().findValuesAsText("state")).containsExactly("ready", "ready");
        assertThat(server.post("/v1/completions", "{\"prompt\": \"x\"}").status())
                .isEqualTo(200);
        server.awaitMetric("understudy_calls_in_flight", "", count -> count == 0);
        server.awaitMetric("vllm:num_requests_running", "", count -> count == 0);
        server.awaitMetric("vllm:kv_cache_usage_perc", "", usage -> usage == 0);
        awaitNoBlockedThread();
    }

    /** The same over SGLang's dialect, by replicas whose engine it is. */
    @Test
    void noneOfSglangs_isAnsweredByAnErrorOfTheServer() throws IOException {
        server.numReplicas = 2;
        server.speed = 1000;
        server.moreSettings = """
            engine.kind = sglang
            engine.sglang.max-total-tokens = 16000
            kv-cache.num-gpu-blocks = auto
            engine.sglang.enable-lora = true
            server.sglang.enable-metrics = true
            """;
        server.start();

        assertThat(answersTo(this::nextOfSglang)).contains(200, 400, 404);
        assertThat(server.server().whenFailed()).isNotDone();
        assertThat(server.post("/generate", "{\"text\": \"x\"}").status()).isEqualTo(200);
        server.awaitMetric("understudy_calls_in_flight", "", count -> count == 0);
        server.awaitMetric("sglang:num_running_reqs", "", count -> count == 0);
        server.awaitMetric("sglang:token_usage", "", usage -> usage == 0);
        awaitNoBlockedThread();
    }

    /** A thread that waits for a lock for good would never leave that state. */
    private static void awaitNoBlockedThread() {
        Waiting.until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getState() == Thread.State.BLOCKED));
    }

    /** Sends requests; returns the statuses of the answers, none of which is amiss. */
    private Set<Integer> answersTo(Supplier<HostileRequest> requests) throws IOException {
        var byStatus = new TreeMap<Integer, Integer>();
        var mistakes = new ArrayList<String>();
        for (int i = 0; i < NUM_REQUESTS; i++) {
            mistakes.addAll(mistakes(requests.get(), byStatus));
        }
        assertThat(mistakes).isEmpty();
        return byStatus.keySet();
    }

    private HostileRequest nextOfSglang() {
        return random.nextInt(16) == 0 ? vanishing(ofSglang.next()) : ofSglang.next();
    }

    private HostileRequest next() {
        return switch (random.nextInt(16)) {
            case 0 -> vanishing(one());
            case 1 ->
                HostileRequest.pipelined(IntStream.range(0, 2 + random.nextInt(6))
                        .mapToObj(i -> bodies.read())
                        .toList());
            default -> one();
        };
    }

    private HostileRequest one() {
        var generators = random.nextInt(20) == 0 ? overflows : others;
        return generators.get(random.nextInt(generators.size())).get();
    }

    private HostileRequest vanishing(HostileRequest request) {
        int length = request.bytes().length();
        return request.vanishingAfter(random.nextBoolean() ? length : random.nextInt(length));
    }

    /** Returns what is wrong with the answers to a request, and counts them. */
    private List<String> mistakes(HostileRequest request, Map<Integer, Integer> byStatus) throws IOException {
        List<RawHttp.Answer> answers;
        try {
            answers = RawHttp.exchange(server.server().address(), request);
        } catch (SocketTimeoutException e) {
            return List.of("no end to the answer: " + request);
        }
        answers.forEach(answer -> byStatus.merge(answer.status(), 1, Integer::sum));
        var mistakes =
                answers.stream().filter(answer -> !isFit(answer, request)).map(answer -> answer + "\nto " + request);
        boolean isOdd = request.numAnswers() != HostileRequest.ANY && answers.size() != request.numAnswers();
        return isOdd
                ? List.of(answers.size() + " answers, not " + request.numAnswers() + ": " + request)
                : mistakes.toList();
    }

    private static boolean isFit(RawHttp.Answer answer, HostileRequest request) {
        boolean isAllowed = answer.status() < 500
                || request.serverErrors().contains(answer.status())
                || (answer.status() == 503 && answer.head().contains("\r\nretry-after: "));
        return isAllowed && answer.isWhole() && INSIDES.stream().noneMatch((answer.head() + answer.body())::contains);
    }

    @Test
    void deepNesting_isRefused() {
        server.start();

        var reply = server.post("/v1/completions", "{\"prompt\": " + "[".repeat(50_000) + "]".repeat(50_000) + "}");

        assertThat(reply.status()).isEqualTo(400);
    }

    @Test
    void slowBody_isNotWaitedForForever() throws IOException {
        server.start();
        try (var socket = connect()) {
            write(
                    socket,
                    "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                            + "Content-Length: 100\r\n\r\n{");

            // The fixture's server waits for five seconds.
            String answer = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            assertThat(answer).isEqualTo("HTTP/1.1 408");
        }
    }

    private Socket connect() throws IOException {
        return new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort());
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }
}

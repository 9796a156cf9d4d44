package understudy.api.kvevents;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import understudy.Waiting;
import understudy.api.ServerFixture;
import understudy.runtime.Stopwatch;

/**
 * Loads a server with faults and KV events for a while, and says what has become of each call: {@code FaultLoad
 * SECONDS}. Clients send whole and streamed calls and leave some of them; meanwhile replicas crash, restart, drain, slow
 * down, refuse calls, cut streams, come and go. Ends with code 1 if a call has no end within 60 s, or if something is left
 * when all have ended: a call in flight, a block in use, or more descriptors and threads than before the load. By hand,
 * after {@code mvn test-compile}.
 */
public final class FaultLoad {
    private static final int NUM_REPLICAS = 3;
    private static final int NUM_CLIENTS = 12;
    private static final int MAX_DESCRIPTORS_MORE = 20;
    private static final int MAX_THREADS_MORE = 40;
    private static final double WARM_UP_SECONDS = 5;

    /** What becomes of a call. */
    private enum End {
        COMPLETE,
        REFUSED,
        BROKEN,
        LEFT,
        LOST
    }

    private static final List<String> FAULTS = List.of(
            "{\"do\": \"crash\", \"replica\": %d}",
            "{\"do\": \"slow-gpu\", \"replica\": %d, \"factor\": 5, \"for\": \"20s\"}",
            "{\"do\": \"error-rate\", \"replica\": %d, \"rate\": 0.3, \"for\": \"20s\"}",
            "{\"do\": \"cut-streams\", \"replica\": %d, \"rate\": 0.3, \"after-tokens\": 5, \"for\": \"20s\"}",
            "{\"do\": \"latency-spike\", \"replica\": %d, \"delay\": \"2s\", \"for\": \"10s\"}",
            "{\"do\": \"drain\", \"replica\": %d}");

    private final ServerFixture server = new ServerFixture();
    private final Map<End, LongAdder> ends = new EnumMap<>(End.class);
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private volatile boolean isOver;
    private int numReplicas = NUM_REPLICAS;

    private FaultLoad() {
        for (var end : End.values()) {
            ends.put(end, new LongAdder());
        }
        server.numReplicas = NUM_REPLICAS;
        server.speed = 20;
        server.numBlocks = 400;
        server.moreSettings = """
                kv-cache.kv-events {
                  enable-kv-cache-events = true
                  endpoint = "tcp://127.0.0.1:*"
                  replay-endpoint = "tcp://127.0.0.1:*"
                  topic = "kv@replica-{replica}@m"
                }
                """;
    }

    /** Takes the length of the load in seconds. */
    public static void main(String[] args) throws Exception {
        boolean isWell = new FaultLoad().run(Double.parseDouble(args[0]));
        System.exit(isWell ? 0 : 1);
    }

    private boolean run(double seconds) throws Exception {
        server.startAlone();
        load(WARM_UP_SECONDS);
        settle();
        long descriptors = numDescriptors();
        int threads = numThreads();
        ends.values().forEach(LongAdder::reset);
        int numFaults = load(seconds);
        settle();
        System.out.printf("%d faults;", numFaults);
        for (var end : End.values()) {
            System.out.printf(
                    " %s %d", end.name().toLowerCase(Locale.ROOT), ends.get(end).sum());
        }
        System.out.printf(
                "; descriptors %d, then %d; threads %d, then %d; calls in flight %.0f; blocks in use %.4f%n",
                descriptors,
                numDescriptors(),
                threads,
                numThreads(),
                server.metric("understudy_calls_in_flight", ""),
                server.metric("vllm:kv_cache_usage_perc", ""));
        boolean isWell = ends.get(End.LOST).sum() == 0
                && server.metric("understudy_calls_in_flight", "") == 0
                && server.metric("vllm:kv_cache_usage_perc", "") == 0
                && numDescriptors() <= descriptors + MAX_DESCRIPTORS_MORE
                && numThreads() <= threads + MAX_THREADS_MORE;
        server.close();
        return isWell;
    }

    private int load(double seconds) throws InterruptedException {
        isOver = false;
        var clients = new ArrayList<Thread>();
        for (int i = 0; i < NUM_CLIENTS; i++) {
            var random = new SplittableRandom(i);
            var thread = new Thread(() -> callUntilOver(random), "client-" + i);
            clients.add(thread);
            thread.start();
        }
        int numFaults = strike(seconds);
        isOver = true;
        for (var each : clients) {
            each.join();
        }
        return numFaults;
    }

    private int strike(double seconds) {
        var time = Stopwatch.start();
        var random = new SplittableRandom(17);
        int count = 0;
        while (time.seconds() < seconds) {
            int replica = random.nextInt(NUM_REPLICAS);
            if (random.nextInt(8) == 0) {
                comeAndGo();
            } else {
                post("/admin/faults", FAULTS.get(random.nextInt(FAULTS.size())).formatted(replica));
            }
            count++;
            Waiting.millis(1500);
            post("/admin/replicas/" + replica + "/resume", "");
            post("/admin/replicas/" + replica + "/restart", "");
        }
        return count;
    }

    private void comeAndGo() {
        post("/admin/replicas", "");
        Waiting.millis(1000);
        post("/admin/replicas/" + numReplicas + "/remove", "");
        numReplicas++;
    }

    /** What an operation answers is of no interest: a replica may be down, or gone. */
    private void post(String path, String body) {
        server.post(path, body);
    }

    private void callUntilOver(SplittableRandom random) {
        while (!isOver) {
            boolean isStream = random.nextInt(3) > 0;
            int leavesAfter = random.nextInt(5) == 0 ? random.nextInt(8) : Integer.MAX_VALUE;
            String body = "{\"prompt\": \"" + "word ".repeat(20 + random.nextInt(200)) + "\", \"max_tokens\": "
                    + (10 + random.nextInt(90)) + ", \"ignore_eos\": true, \"stream\": " + isStream + "}";
            ends.get(call(body, isStream, leavesAfter)).increment();
        }
    }

    private End call(String body, boolean isStream, int leavesAfter) {
        var request = HttpRequest.newBuilder(URI.create(server.url() + "/v1/completions"))
                .header("Content-Type", "application/json")
                .timeout(Duration.ofSeconds(60))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        var time = Stopwatch.start();
        try {
            var answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            if (answer.statusCode() != 200) {
                answer.body().readAllBytes();
                return End.REFUSED;
            }
            try (var lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                String last = "";
                int numEvents = 0;
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    last = line.isEmpty() ? last : line;
                    numEvents += line.isEmpty() ? 0 : 1;
                    if (isStream && numEvents > leavesAfter) {
                        return End.LEFT;
                    }
                }
                boolean isWhole = isStream ? last.equals("data: [DONE]") : last.endsWith("}");
                return isWhole ? End.COMPLETE : End.BROKEN;
            }
        } catch (IOException e) {
            return time.seconds() >= 60 ? End.LOST : End.BROKEN;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return End.LOST;
        }
    }

    /** Waits until no call is left, and all replicas are there again. */
    private void settle() {
        for (int replica = 0; replica < NUM_REPLICAS; replica++) {
            post("/admin/replicas/" + replica + "/resume", "");
            post("/admin/replicas/" + replica + "/restart", "");
        }
        Waiting.until(() -> server.metric("understudy_calls_in_flight", "") == 0);
        Waiting.until(() -> server.metric("vllm:kv_cache_usage_perc", "") == 0);
        // Connections that the client keeps are closed by then.
        Waiting.millis(3000);
        System.gc();
    }

    private static long numDescriptors() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }

    private static int numThreads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }
}

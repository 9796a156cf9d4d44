package understudy.evidence;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import understudy.api.EmulationServer;
import understudy.api.StreamClient;
import understudy.engine.Request;
import understudy.host.Emulation;
import understudy.report.RequestRecord;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;

/**
 * Sends the workload of a scenario through HTTP, and runs the same scenario in virtual time: {@code ParityReport SCENARIO
 * [KEY=VALUE...]} prints both. By hand, after {@code mvn test-compile}.
 */
public final class ParityReport {
    private static final long LIMIT_NANOS = 600_000_000_000L;

    private static final String WARM_UP_SPEED = "4";

    private ParityReport() {}

    /** What came of one request: when its tokens came, counted from when it was sent. */
    record Served(long id, long arrivalNanos, LongList tokenNanos) {}

    /** Takes a scenario and settings. */
    public static void main(String[] args) throws Exception {
        Map<String, String> settings = new LinkedHashMap<>();
        for (int i = 1; i < args.length; i++) {
            String[] keyAndValue = args[i].split("=", 2);
            settings.put(keyAndValue[0], keyAndValue[1]);
        }
        var virtual = run(args[0], settings);
        // The first hundreds of requests of a process are slow for reasons that are not the emulation's.
        var hurried = new LinkedHashMap<>(settings);
        hurried.put("clock.speed", WARM_UP_SPEED);
        serve(args[0], hurried);
        var http = serve(args[0], settings);
        if (http.size() != virtual.size()) {
            System.err.println(args[0] + ": has follow-up turns, which only its own load generator sends; allowed are"
                    + " scenarios without sessions");
            System.exit(2);
        }
        System.out.printf("%-12s %14s %14s %10s%n", "", "run", "http", "difference");
        print("mean TTFT ms", meanTtft(virtual), meanTtft(http));
        print("mean ITL ms", meanItl(virtual), meanItl(http));
    }

    private static void print(String name, double virtualMillis, double httpMillis) {
        System.out.printf(
                "%-12s %14.3f %14.3f %8.3f ms, %.2f %%%n",
                name,
                virtualMillis,
                httpMillis,
                httpMillis - virtualMillis,
                100 * (httpMillis - virtualMillis) / virtualMillis);
    }

    /** Runs a scenario in virtual time. */
    static List<Served> run(String file, Map<String, String> settings) throws Exception {
        var scenario = scenario(file, settings, "max");
        var byId = new TreeMap<Long, Served>();
        try (var workload = scenario.workloadSource().open();
                var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(() -> workload, true), scenario.speed());
            var requests = emulation.await(600_000).run().requests();
            for (int i = 0; i < requests.size(); i++) {
                byId.put(requests.get(i).requestId(), served(requests.get(i)));
            }
        }
        return List.copyOf(byId.values());
    }

    private static Served served(RequestRecord request) {
        var tokens = new LongArrayList();
        request.tokenNanos().forEach((long nanos) -> tokens.add(nanos - request.arrivalNanos()));
        return new Served(request.requestId(), request.arrivalNanos(), tokens);
    }

    /** Sends the arrivals of a scenario through HTTP; times are virtual. */
    static List<Served> serve(String file, Map<String, String> settings) throws IOException {
        var scenario = scenario(file, settings, settings.getOrDefault("clock.speed", "1"));
        var requests = new ArrayList<Request>();
        try (var workload = scenario.workloadSource().open()) {
            for (var request = workload.next(); request != null; request = workload.next()) {
                requests.add(request);
            }
        }
        double speed = scenario.speed();
        try (var server = EmulationServer.start(
                scenario.clusterSpec(null, false), speed, scenario.server().read())) {
            var client = new StreamClient(server.address());
            client.run(warmUp(), LIMIT_NANOS);
            var streams = requests.stream()
                    .map(request -> new StreamClient.Stream(body(request), (long) (request.arrivalNanos() / speed)))
                    .toList();
            client.run(streams, LIMIT_NANOS);
            var served = new ArrayList<Served>();
            for (int i = 0; i < requests.size(); i++) {
                served.add(served(requests.get(i), streams.get(i), speed));
            }
            return served;
        }
    }

    private static List<StreamClient.Stream> warmUp() {
        var streams = new ArrayList<StreamClient.Stream>();
        for (int i = 0; i < 50; i++) {
            streams.add(new StreamClient.Stream(
                    "{\"prompt\": \"warm up " + i + "\", \"max_tokens\": 20, \"ignore_eos\": true, \"stream\": true}",
                    i * 10_000_000L));
        }
        return streams;
    }

    private static Served served(Request request, StreamClient.Stream stream, double speed) {
        var tokens = new LongArrayList();
        stream.eventNanos.forEach((long nanos) -> tokens.add((long) ((nanos - stream.sentNanos) * speed)));
        return new Served(request.id(), request.arrivalNanos(), tokens);
    }

    private static String body(Request request) {
        var prompt = new StringBuilder("[");
        for (int i = 0; i < request.prompt().length(); i++) {
            prompt.append(i == 0 ? "" : ",").append(request.prompt().tokens().tokenAt(i));
        }
        return "{\"prompt\": " + prompt + "], \"max_tokens\": " + request.maxTokens()
                + ", \"ignore_eos\": true, \"stream\": true}";
    }

    private static Scenario scenario(String file, Map<String, String> settings, String speed) {
        var flags = new LinkedHashMap<>(settings);
        flags.put("clock.speed", speed);
        flags.put("server.port", "0");
        flags.put("report.save-detailed", "true");
        return Scenario.read(new ScenarioFile(Map.of()).load(file, flags));
    }

    private static double meanTtft(List<Served> all) {
        return all.stream()
                .mapToDouble(served -> served.tokenNanos.getLong(0) / 1e6)
                .average()
                .orElseThrow();
    }

    private static double meanItl(List<Served> all) {
        double sum = 0;
        long count = 0;
        for (var served : all) {
            int numGaps = served.tokenNanos.size() - 1;
            sum += (served.tokenNanos.getLong(numGaps) - served.tokenNanos.getLong(0)) / 1e6;
            count += numGaps;
        }
        return sum / count;
    }
}

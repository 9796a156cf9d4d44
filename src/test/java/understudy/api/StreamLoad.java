package understudy.api;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Loads a server in this process with streams of 20 ms per token, and prints how evenly tokens come: {@code StreamLoad
 * STREAMS TOKENS}. By hand, after {@code mvn test-compile}; figures hold for the machine they were taken on, whose cores
 * the client shares.
 */
public final class StreamLoad {
    private static final Duration STEP = Duration.ofMillis(20);
    private static final long RAMP_NANOS = 2_000_000_000;
    private static final int WARM_UP_ROUNDS = 4;
    private static final int WARM_UP_TOKENS = 100;

    private StreamLoad() {}

    /** Takes the number of streams and of tokens of each; the streams begin within two seconds. */
    public static void main(String[] args) throws Exception {
        int numStreams = Integer.parseInt(args[0]);
        int numTokens = Integer.parseInt(args[1]);
        try (var server = new ServerFixture()) {
            server.speed = 1;
            server.numReplicas = (numStreams + 63) / 64;
            server.step = STEP;
            server.startAlone();
            var client = new StreamClient(server.server().address());
            // Until compiled, the code takes several times as long, and the compiler takes what is left.
            for (int i = 0; i < WARM_UP_ROUNDS; i++) {
                client.run(streams(numStreams, WARM_UP_TOKENS, RAMP_NANOS), 60_000_000_000L);
            }
            var streams = streams(numStreams, numTokens, RAMP_NANOS);
            double cpuBefore = cpuSeconds();
            double ttftBefore = server.metric("vllm:time_to_first_token_seconds_sum", "");
            client.run(streams, 300_000_000_000L);
            double ttftSeconds = server.metric("vllm:time_to_first_token_seconds_sum", "") - ttftBefore;
            double cpuMicros = (cpuSeconds() - cpuBefore) * 1e6 / ((double) numStreams * numTokens);
            System.out.printf("%.1f us of CPU per token, client included%n", cpuMicros);
            print(streams, numTokens, ttftSeconds / numStreams, server);
        }
    }

    private static List<StreamClient.Stream> streams(int count, int numTokens, long rampNanos) {
        var streams = new ArrayList<StreamClient.Stream>();
        for (int i = 0; i < count; i++) {
            String body = "{\"prompt\": \"Stream " + i + "\", \"max_tokens\": " + numTokens
                    + ", \"ignore_eos\": true, \"stream\": true}";
            streams.add(new StreamClient.Stream(body, rampNanos * i / count));
        }
        return streams;
    }

    private static void print(
            List<StreamClient.Stream> streams, int numTokens, double meanTtftSeconds, ServerFixture server) {
        var gaps = new DoubleArrayList();
        var overheads = new DoubleArrayList();
        long numLost = 0;
        for (var stream : streams) {
            numLost += numTokens - stream.eventNanos.size() + (stream.isDone ? 0 : 1);
            if (!stream.eventNanos.isEmpty()) {
                overheads.add((stream.eventNanos.getLong(0) - stream.sentNanos) / 1e6 - meanTtftSeconds * 1e3);
            }
            for (int i = 1; i < stream.eventNanos.size(); i++) {
                gaps.add((stream.eventNanos.getLong(i) - stream.eventNanos.getLong(i - 1)) / 1e6);
            }
        }
        System.out.printf(
                "%d streams: lost %d; gap p50 %.2f ms, p99 %.2f ms; TTFT above the engine's mean: p50 %.1f ms, p99 %.1f ms;"
                        + " cut %.0f; lateness p99 %.2f ms%n",
                streams.size(),
                numLost,
                percentile(gaps, 50),
                percentile(gaps, 99),
                percentile(overheads, 50),
                percentile(overheads, 99),
                server.metric("understudy_streams_cut_total", ""),
                server.metric("understudy_lateness_p99_seconds", "") * 1e3);
    }

    private static double cpuSeconds() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / 1e9;
    }

    private static double percentile(DoubleArrayList values, double percent) {
        var sorted = values.toDoubleArray();
        Arrays.sort(sorted);
        return sorted.length == 0 ? Double.NaN : sorted[(int) Math.round((sorted.length - 1) * percent / 100)];
    }
}

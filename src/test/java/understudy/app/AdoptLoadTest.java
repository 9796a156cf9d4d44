package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.testkit.EmulatedCluster;

/** Workloads that {@code adopt --metrics} makes. */
final class AdoptLoadTest {
    private static final int NUM_REQUESTS = 400;

    @TempDir
    private Path directory;

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    private static String histogram(String name, int upTo100, int upTo200, int count, double sum) {
        return """
                %1$s_bucket{le="100"} %2$d
                %1$s_bucket{le="200"} %3$d
                %1$s_bucket{le="+Inf"} %4$d
                %1$s_sum %5$f
                %1$s_count %4$d
                """.formatted("vllm:" + name, upTo100, upTo200, count, sum);
    }

    /** Requests of 150 tokens and answers of 50, so many since the start. */
    private String page(String name, int count, int running) throws IOException {
        return write(
                name,
                histogram("request_prompt_tokens", 0, count, count, count * 150.0)
                        + histogram("request_generation_tokens", count, count, count, count * 50.0)
                        + "vllm:request_success_total{finished_reason=\"length\"} " + count + "\n"
                        + "vllm:num_requests_running " + running + "\n");
    }

    private String error(String... words) {
        var called = call(words);
        assertThat(called.exitCode).isEqualTo(2);
        assertThat(called.err.lines()).hasSize(1);
        return called.err;
    }

    /** 300 have ended and 20 more run than before: 320 in 40 s are 8 per second. */
    @Test
    void twoPages_giveRateAndLengths() throws IOException {
        var called = call(
                "adopt", "--metrics", page("a.txt", 100, 0), "--metrics", page("b.txt", 400, 20), "--interval", "40s");

        assertThat(called.err).isEmpty();
        assertThat(called.out)
                .contains("workload.requests = 320 ")
                .contains("workload.arrivals.request-rate = 8.0000 ")
                .contains("workload.lengths.prompt = { kind = fixed, mean = 150 }")
                .contains("workload.lengths.output = { kind = fixed, mean = 50 }");
    }

    /** Half of the tokens are found, 75 of 150; all prompts have 100, of which 96 are six blocks. */
    @Test
    void hitsOfThePrefixCache_areABeginningThatAllShare() throws IOException {
        String before = page("a.txt", 0, 0);
        String after = write(
                "b.txt",
                Files.readString(Path.of(page("c.txt", 100, 0)))
                        + "vllm:prefix_cache_queries_total 15000\nvllm:prefix_cache_hits_total 7500\n");

        var called = call("adopt", "--metrics", before, "--metrics", after, "--interval", "10s");

        // 75 tokens are four full blocks, 64; the other 86 of 150 are each prompt's own.
        assertThat(called.out)
                .contains("workload.prefix-groups.length = { kind = fixed, mean = 64 }")
                .contains("workload.lengths.prompt = { kind = fixed, mean = 86 }")
                .contains("50.0 % were found");
    }

    /** Three minutes with 60, 600 and 60 requests; between the second and the third the server begins anew. */
    @Test
    void rangeOfPrometheus_givesRatesOverTime() throws IOException {
        int[] counts = {1000, 1060, 1660, 60};
        var series = new StringBuilder();
        for (String name : List.of("request_prompt_tokens", "request_generation_tokens")) {
            for (String suffix : List.of("_bucket\", \"le\": \"100", "_bucket\", \"le\": \"+Inf", "_count", "_sum")) {
                int each = suffix.equals("_sum") ? 50 : 1;
                series.append(series.length() == 0 ? "" : ",")
                        .append("{\"metric\": {\"__name__\": \"vllm:")
                        .append(name)
                        .append(suffix)
                        .append("\"}, \"values\": [");
                for (int i = 0; i < counts.length; i++) {
                    series.append(i == 0 ? "" : ",")
                            .append("[")
                            .append(1000 + 60 * i)
                            .append(",\"")
                            .append(counts[i] * each)
                            .append("\"]");
                }
                series.append("]}");
            }
        }
        String file = write(
                "range.json",
                "{\"status\": \"success\", \"data\": {\"resultType\": \"matrix\", \"result\": [" + series + "]}}");

        var called = call("adopt", "--metrics", file);

        assertThat(called.err).isEmpty();
        assertThat(called.out)
                .contains("workload.requests = 720 ")
                .contains("workload.arrivals.request-rate = 1.0000 ")
                .contains("{ at = 60s, request-rate = 10.0000 }, { at = 120s, request-rate = 1.0000 }");
        assertThat(call("adopt", "--metrics", file, "--since", "60s").out).contains("workload.requests = 60 ");
    }

    @Test
    void badLoads_areOneLine() throws IOException {
        String one = page("a.txt", 100, 0);
        String two = page("b.txt", 400, 0);
        String html = write("page.html", "<!doctype html><html></html>");
        String wrongCount =
                write("c.txt", Files.readString(Path.of(two)).replace("} 400\nvllm:num", "} 4000\nvllm:num"));
        String wrongSum = write("d.txt", Files.readString(Path.of(two)).replace("_sum 60000", "_sum 6000000"));
        String other = write("e.txt", "tgi_request_count 5\n");

        assertThat(error("adopt", "--metrics", two, "--metrics", one, "--interval", "1s"))
                .contains("wrong order");
        assertThat(error("adopt", "--metrics", one, "--metrics", one, "--interval", "1s"))
                .contains("no request has ended");
        assertThat(error("adopt", "--metrics", one, "--metrics", wrongCount, "--interval", "1s"))
                .contains("vllm:request_success_total 3900")
                .contains("contradict");
        assertThat(error("adopt", "--metrics", one, "--metrics", wrongSum, "--interval", "1s"))
                .contains("vllm:request_prompt_tokens_sum is 5985000")
                .contains("contradict");
        assertThat(error("adopt", "--metrics", html)).contains("a web page (HTML)");
        assertThat(error("adopt", "--metrics", one)).contains("one page of metrics tells no rate");
        assertThat(error("adopt", "--metrics", one, "--metrics", other, "--interval", "1s"))
                .contains("tgi_request_count");
        assertThat(error("adopt", "--metrics", "http://127.0.0.1:1")).contains("connection refused");
        assertThat(error("adopt")).contains("needs a SOURCE, or --metrics");
    }

    /** Lengths that no named distribution has, and such that a named one has; the emulation has the same shares. */
    @ParameterizedTest
    @ValueSource(strings = {"vllm", "sglang"})
    void emulationOfAServersMetrics_hasTheirHistograms(String engine) throws Exception {
        String settings = """
                clock.speed = 100
                engine.kind = %s
                server.sglang.enable-metrics = true
                """.formatted(engine);
        var random = new SplittableRandom(1);
        int[] prompts = draw(() -> random.nextInt(2) == 0 ? random.nextInt(150, 250) : random.nextInt(1200, 1900));
        int[] outputs = draw(() -> random.nextInt(20, 400));
        String before;
        String after;
        try (var cluster = EmulatedCluster.serve(settings)) {
            String address = cluster.uri() + "/metrics";
            before = write("a.txt", get(address));
            askAll(cluster.uri(), prompts, outputs);
            after = write("b.txt", get(address));
        }
        var twin = directory.resolve("twin.conf");
        var adopted =
                call("adopt", "--metrics", before, "--metrics", after, "--interval", "40s", "--out", twin.toString());
        assertThat(adopted.err).isEmpty();
        var run = call(
                "run",
                twin.toString(),
                "--out",
                directory.resolve("run").toString(),
                "--set",
                "workload.requests=2000");
        assertThat(run.exitCode).as(run.err).isZero();

        // 400 and 2,000 draws: their shares differ by 1.36 sqrt(1/400 + 1/2000) = 7.4 % once in twenty times at most.
        assertThat(shares("prompt_tokens")).isCloseTo(share(prompts, 500), within(0.08));
        assertThat(sharesAt("output_tokens", 200)).isCloseTo(share(outputs, 200), within(0.08));
        // The metrics have the sums, so the means are nearer than that: 5 %.
        assertThat(mean("prompt_tokens") / Arrays.stream(prompts).average().orElseThrow())
                .isCloseTo(1, within(0.08));
        assertThat(mean("output_tokens") / Arrays.stream(outputs).average().orElseThrow())
                .isCloseTo(1, within(0.08));
    }

    /** Prompts begin with their number, so that they share nothing. */
    private static void askAll(URI server, int[] prompts, int[] outputs) {
        var client = HttpClient.newHttpClient();
        var answers = IntStream.range(0, NUM_REQUESTS)
                .mapToObj(i -> {
                    String prompt = IntStream.range(0, prompts[i])
                            .mapToObj(token -> String.valueOf(i + token))
                            .collect(Collectors.joining(",", "[", "]"));
                    String body = "{\"prompt\": " + prompt + ", \"max_tokens\": " + outputs[i]
                            + ", \"ignore_eos\": true, \"model\": \"llama-3.1-8b\"}";
                    var request = HttpRequest.newBuilder(server.resolve("/v1/completions"))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString(body))
                            .build();
                    return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
                })
                .toList();
        assertThat(answers)
                .allSatisfy(answer -> assertThat(answer.join().statusCode()).isEqualTo(200));
    }

    private static int[] draw(IntSupplier length) {
        int[] lengths = new int[NUM_REQUESTS];
        Arrays.setAll(lengths, i -> length.getAsInt());
        return lengths;
    }

    private static double share(int[] lengths, int most) {
        return Arrays.stream(lengths).filter(length -> length <= most).count() / (double) lengths.length;
    }

    private double shares(String column) throws IOException {
        return sharesAt(column, 500);
    }

    private double sharesAt(String column, int most) throws IOException {
        return share(column(column), most);
    }

    private double mean(String column) throws IOException {
        return Arrays.stream(column(column)).average().orElseThrow();
    }

    private int[] column(String name) throws IOException {
        var lines = Files.readAllLines(directory.resolve("run/requests.csv"));
        int index = List.of(lines.get(0).split(",", -1)).indexOf(name);
        assertThat(index).as(lines.get(0)).isNotNegative();
        return lines.stream()
                .skip(1)
                .mapToInt(line -> Integer.parseInt(line.split(",", -1)[index]))
                .toArray();
    }

    private static String get(String address) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }
}

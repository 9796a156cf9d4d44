package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A "real" server that differs from its twin in one known thing. */
final class CompareCausesTest {
    private static final String TWIN = """
        latency {
          model = profile
          profile {
            weights = 9ms, per-token = 30us, per-kv-token = 60ns, per-attention-pair = 1.5ns
            per-mixed-kv-token = 20ns
          }
        }
        engine.max-num-seqs = 64
        kv-cache { enable-prefix-caching = false, num-gpu-blocks = 60000 }
        workload {
          kind = generated
          requests = 300
          arrivals.request-rate = 6
          lengths {
            prompt { kind = uniform, min = 20, max = 3000 }
            output { kind = uniform, min = 20, max = 200 }
          }
        }
        """;

    @TempDir
    private Path directory;

    private String twin = "";

    @BeforeEach
    void write() throws IOException {
        twin = Files.writeString(directory.resolve("twin.conf"), TWIN).toString();
    }

    /**
     * Weights that take 12 instead of 9 ms are step time; prompts of up to 6,000 tokens are load; 700 blocks of 16 tokens,
     * 11,200, for some ten requests of 1,600 tokens are capacity; and a server that runs eight at a time is another
     * scheduler.
     */
    @ParameterizedTest
    @CsvSource({
        "latency.profile.weights=12ms, step time, step_time, mean_tpot_ms",
        "workload.lengths.prompt.max=6000, load, load, mean_ttft_ms",
        "kv-cache.num-gpu-blocks=700, capacity, capacity, mean_ttft_ms",
        "engine.max-num-seqs=8, scheduler, scheduler, mean_ttft_ms"
    })
    void differenceComesFromWhatDiffers(String setting, String cause, String key, String figure) throws IOException {
        String kvTokens = setting.startsWith("kv-cache") ? "11200" : "960000";

        var run = compare(result("real", "--set", setting), "--kv-tokens", kvTokens, "--json", "-");

        assertThat(run.exitCode).as(run.err).isZero();
        var row = row(run.json(), figure);
        assertThat(row.get("mostly").asText()).isEqualTo(cause);
        double difference = row.get("difference_percent").asDouble();
        assertThat(Math.abs(difference)).isGreaterThan(3);
        assertThat(row.at("/parts_percent/" + key).asDouble() / difference).isBetween(0.8, 1.2);
        // Each part is the difference of two runs, and the last one that to the real server.
        double sum = 0;
        for (var part : row.get("parts_percent")) {
            sum += part.asDouble();
        }
        assertThat(sum).isCloseTo((row.get("twin").asDouble() / row.get("real").asDouble() - 1) * 100, within(1e-9));
    }

    @Test
    void withoutTheRealCapacity_thatOfTheTwinIsTaken_andSaid() throws IOException {
        var run = compare(result("real", "--set", "latency.profile.weights=12ms"));

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out)
                .contains("The twin run again, with one thing after another as the real server had it:\n")
                .containsPattern("mean_tpot_ms .* \\| step time +\\|")
                .contains("--kv-tokens takes that of the real server's log.");
    }

    @Test
    void badInput_isOneClearLine() throws IOException {
        String real = result("real");
        String bare = Files.writeString(
                        directory.resolve("bare.json"),
                        "{\"duration\": 1, \"completed\": 1, \"request_throughput\": 1}")
                .toString();

        assertThat(call("compare", real, real, "--kv-tokens", "7").err)
                .isEqualTo("--kv-tokens and --set need --scenario\n");
        assertThat(compare(real, "--kv-tokens", "0").err).isEqualTo("--kv-tokens is 0, must be at least 1\n");
        assertThat(call("compare", bare, real, "--scenario", twin).err)
                .isEqualTo(bare + ": has no requests to run again; save it with --save-detailed\n");
        assertThat(call("compare", real, real, "--scenario", "nowhere.conf").err)
                .startsWith("nowhere.conf")
                .hasLineCount(1);
    }

    private static JsonNode row(JsonNode json, String figure) {
        for (var row : json.at("/causes/metrics")) {
            if (row.get("name").asText().equals(figure)) {
                return row;
            }
        }
        throw new AssertionError(figure + " is missing");
    }

    private CommandLineFixture compare(String real, String... options) throws IOException {
        var args = new ArrayList<>(List.of("compare", real, result("twin"), "--scenario", twin));
        args.addAll(List.of(options));
        return call(args.toArray(String[]::new));
    }

    private String result(String name, String... options) throws IOException {
        String file = directory.resolve(name + ".json").toString();
        var args = new ArrayList<>(List.of("run", twin, "--save-detailed", "--json", file));
        args.addAll(List.of(options));
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        return file;
    }
}

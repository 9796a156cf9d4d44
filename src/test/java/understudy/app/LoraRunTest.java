package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** {@code conf/lora.conf}: adapters in eight slots, and sixteen places in the host's memory. */
final class LoraRunTest {
    private static final String SCENARIO = "conf/lora.conf";

    @Test
    void adaptersThatFit_areLoadedOnce() throws IOException {
        var lora = run("workload.loras.count=8").get("lora");

        assertThat(lora.get("num_loads").asInt()).isEqualTo(8);
        assertThat(lora.get("num_activations").asInt()).isEqualTo(8);
        assertThat(lora.get("mean_adapters_per_step").asDouble()).isBetween(1.0, 8.0);
    }

    /** Sixteen all stay in the host's memory; of 32 half are elsewhere, and steps wait 0.1 s for each. */
    @Test
    void adaptersBeyondTheSlots_areACliff() throws IOException {
        var eight = run("workload.loras.count=8");
        var sixteen = run("workload.loras.count=16");
        var thirtyTwo = run("workload.loras.count=32");

        assertThat(sixteen.get("lora").get("num_loads").asInt()).isEqualTo(16);
        assertThat(sixteen.get("lora").get("num_activations").asInt()).isGreaterThan(160);
        assertThat(thirtyTwo.get("lora").get("num_loads").asInt()).isGreaterThan(320);
        assertThat(thirtyTwo.get("mean_ttft_ms").asDouble())
                .isGreaterThan(20 * eight.get("mean_ttft_ms").asDouble());
    }

    /**
     * An adapter of 83.886 MB: 20 ms and 83.886 ms from disk, 5 ms and 83.886 MB / 25 GB/s = 3.355 ms to the GPU, 256
     * kernels of 5 us: 113.521 ms. Reading it once takes less than 0.05 ms at more than half of 3.35 TB/s, and so does
     * computing 100 tokens x 83.886 MFLOP at more than a quarter of 989 TFLOP/s.
     */
    @Test
    void firstRequest_waitsForItsAdapter() throws IOException {
        var with = single("workload.loras.count=1");
        var without = single("workload.loras.base-share=1");

        double waitMillis = with.get("mean_ttft_ms").asDouble()
                - without.get("mean_ttft_ms").asDouble();
        assertThat(waitMillis).isCloseTo(113.571, within(0.05));
        assertThat(without.has("lora")).isFalse();
    }

    private static JsonNode single(String setting) throws IOException {
        return call(
                        "run",
                        SCENARIO,
                        "--set",
                        "workload.requests=1",
                        "--set",
                        "workload.lengths.prompt.kind=fixed",
                        "--set",
                        "workload.lengths.prompt.mean=100",
                        "--set",
                        setting,
                        "--json",
                        "-")
                .json();
    }

    private static JsonNode run(String setting) throws IOException {
        return call("run", SCENARIO, "--set", setting, "--json", "-").json();
    }
}

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

    /** Sixteen all stay in the host's memory; of 32 half are elsewhere, and steps wait 0.09 s for each. */
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
     * An adapter of 83.886 MB: 44 ms and 83.886 MB at 2 GB/s from disk, 85.943; 6.6 ms to the GPU; 256 kernels of 5.6 us,
     * 1.4336. 100 tokens are 4 and 2 blocks: 64 x 4 x 224 + 2 x 12,288 = 81,920 thread blocks in 9 slots of 0.72 ns, 0.5308;
     * 4 x 4864 x 31.7 ns and 2 x 10,752 x 20.5 ns of work, 0.6168 and 0.4408.
     */
    @Test
    void firstRequest_waitsForItsAdapter() throws IOException {
        var with = single("workload.loras.count=1");
        var without = single("workload.loras.base-share=1");

        double waitMillis = with.get("mean_ttft_ms").asDouble()
                - without.get("mean_ttft_ms").asDouble();
        assertThat(waitMillis).isCloseTo(95.565, within(0.001));
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

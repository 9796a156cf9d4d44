package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.latency.BatchShape;
import understudy.testkit.VirtualTimeTestKit;

final class VirtualGpuTest {
    private static final long MILLI = 1_000_000;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final VirtualTimeTestKit.Inbox<VirtualGpu.StepDone> done = kit.createInbox(VirtualGpu.StepDone.class);

    @Test
    void step_takesAsLongAsTheModelSays() {
        var gpu = kit.spawn(VirtualGpu.create(kit.clock(), batch -> 7 * MILLI), "gpu");
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));

        kit.advance(Duration.ofMillis(7).minusNanos(1));
        assertThat(done.messages()).isEmpty();
        kit.advance(Duration.ofNanos(1));

        assertThat(done.messages()).containsExactly(new VirtualGpu.StepDone(0, 7 * MILLI));
    }

    @Test
    void secondStep_waitsForTheFirstAndStartsWithoutAGap() {
        var gpu = kit.spawn(VirtualGpu.create(kit.clock(), batch -> batch.numTokens() * MILLI), "gpu");
        gpu.tell(new VirtualGpu.ExecuteStep(batch(3), done.ref()));
        gpu.tell(new VirtualGpu.ExecuteStep(batch(2), done.ref()));

        kit.advance(Duration.ofMillis(10));

        assertThat(done.messages())
                .containsExactly(new VirtualGpu.StepDone(0, 3 * MILLI), new VirtualGpu.StepDone(3 * MILLI, 5 * MILLI));
    }

    @Test
    void thirdStep_isADefect() {
        var gpu = kit.spawn(VirtualGpu.create(kit.clock(), batch -> MILLI), "gpu");
        for (int i = 0; i < 3; i++) {
            gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        }

        kit.advance(Duration.ofMillis(10));

        assertThat(done.messages()).as("the device has failed").isEmpty();
    }

    private static BatchShape batch(int numDecodes) {
        var builder = new BatchShape.Builder();
        for (int i = 0; i < numDecodes; i++) {
            builder.add(1, 10, true);
        }
        return builder.build();
    }
}

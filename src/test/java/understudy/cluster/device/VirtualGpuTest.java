package understudy.cluster.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.VirtualGpu;
import understudy.cluster.lockstep.EarlierStages;
import understudy.latency.BatchShape;
import understudy.testkit.VirtualTimeTestKit;
import understudy.workload.RandomStreams;

final class VirtualGpuTest {
    private static final long MILLI = 1_000_000;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final VirtualTimeTestKit.Inbox<VirtualGpu.StepDone> done = kit.createInbox(VirtualGpu.StepDone.class);

    @Test
    void step_takesAsLongAsTheModelSays() {
        var gpu = kit.spawn(ModelledGpu.create(kit.clock(), batch -> 7 * MILLI), "gpu");
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));

        kit.advance(Duration.ofMillis(7).minusNanos(1));
        assertThat(done.messages()).isEmpty();
        kit.advance(Duration.ofNanos(1));

        assertThat(done.messages()).containsExactly(new VirtualGpu.StepDone(0, 7 * MILLI));
    }

    @Test
    void secondStep_waitsForTheFirstAndStartsWithoutAGap() {
        var gpu = kit.spawn(ModelledGpu.create(kit.clock(), batch -> batch.numTokens() * MILLI), "gpu");
        gpu.tell(new VirtualGpu.ExecuteStep(batch(3), done.ref()));
        gpu.tell(new VirtualGpu.ExecuteStep(batch(2), done.ref()));

        kit.advance(Duration.ofMillis(10));

        assertThat(done.messages())
                .containsExactly(new VirtualGpu.StepDone(0, 3 * MILLI), new VirtualGpu.StepDone(3 * MILLI, 5 * MILLI));
    }

    @Test
    void thirdStep_isADefect() {
        var gpu = kit.spawn(ModelledGpu.create(kit.clock(), batch -> MILLI), "gpu");
        for (int i = 0; i < 3; i++) {
            gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        }

        kit.advance(Duration.ofMillis(10));

        assertThat(done.messages()).as("the device has failed").isEmpty();
    }

    /**
     * Two stages of 3 ms and a last one of 1 ms. The second step enters the first stage when the first has left it, at 3 ms,
     * and counts from 7 ms on, when the first has left the last.
     */
    @Test
    void pipeline_hasAStepInEachStage() {
        var gpu = pipeline();
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        kit.advance(Duration.ofMillis(1));
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        kit.advance(Duration.ofMillis(3));
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        kit.advance(Duration.ofMillis(20));

        assertThat(done.messages())
                .containsExactly(
                        new VirtualGpu.StepDone(0, 7 * MILLI),
                        new VirtualGpu.StepDone(7 * MILLI, 10 * MILLI),
                        new VirtualGpu.StepDone(10 * MILLI, 13 * MILLI));
    }

    /** The first step has begun; the second, which waits, takes 6, 6 and 2 ms. */
    @Test
    void slowdown_countsForWhatHasNotBegun() {
        var gpu = pipeline();
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        gpu.tell(new VirtualGpu.SetSlowdown(2));
        kit.advance(Duration.ofMillis(30));

        assertThat(done.messages())
                .containsExactly(new VirtualGpu.StepDone(0, 7 * MILLI), new VirtualGpu.StepDone(7 * MILLI, 17 * MILLI));
    }

    /** The second step, which waits, takes 6, 6 and 2 ms, and 5 ms more in all. */
    @Test
    void delay_isAddedOnceToWhatHasNotBegun() {
        var gpu = pipeline();
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        gpu.tell(new VirtualGpu.ExecuteStep(batch(1), done.ref()));
        gpu.tell(new VirtualGpu.SetSlowdown(2));
        gpu.tell(new VirtualGpu.SetDelay(5 * MILLI));
        kit.advance(Duration.ofMillis(30));

        assertThat(done.messages())
                .containsExactly(new VirtualGpu.StepDone(0, 7 * MILLI), new VirtualGpu.StepDone(7 * MILLI, 22 * MILLI));
    }

    private ActorRef<VirtualGpu.Command> pipeline() {
        var earlier = new EarlierStages(2, batch -> 3 * MILLI);
        var device = new GpuModel(batch -> MILLI, 0, null, new RandomStreams(1), 1, earlier);
        return kit.spawn(device.create(kit.clock(), 0, null), "gpu");
    }

    private static BatchShape batch(int numDecodes) {
        var builder = new BatchShape.Builder();
        for (int i = 0; i < numDecodes; i++) {
            builder.add(1, 10, true);
        }
        return builder.build();
    }
}

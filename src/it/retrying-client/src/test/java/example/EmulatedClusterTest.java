package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import understudy.cluster.VirtualGpu;
import understudy.cluster.device.ModelledGpu;
import understudy.faults.Fault;
import understudy.faults.ReplicaState;
import understudy.latency.BatchShape;
import understudy.testkit.EmulatedCluster;
import understudy.testkit.VirtualTimeTestKit;

/** A whole cluster, and one of its actors, without HTTP. */
final class EmulatedClusterTest {
    @Test
    void requests_goAroundACrashedReplica() {
        try (var cluster = EmulatedCluster.startPaused("cluster.replicas = 2, router.policy = round-robin")) {
            cluster.inject(new Fault.Crash(0));
            var first = cluster.submit(1000, 20);
            var second = cluster.submit(1000, 20);
            cluster.advance(Duration.ofMinutes(1));

            assertEquals(1, first.replicaIndex());
            assertEquals(20, second.finished().numOutputTokens());
            cluster.check().hasServed(1, 2).hasCompleted(2).hasState(0, ReplicaState.DOWN);
        }
    }

    @Test
    void slowGpu_takesTwiceAsLong() {
        try (var kit = VirtualTimeTestKit.create()) {
            var done = kit.createInbox(VirtualGpu.StepDone.class);
            var gpu = kit.spawn(ModelledGpu.create(kit.clock(), batch -> 7_000_000), "gpu");

            gpu.tell(new VirtualGpu.SetSlowdown(2));
            gpu.tell(new VirtualGpu.ExecuteStep(new BatchShape.Builder().build(), done.ref()));

            // 2 x 7 ms.
            assertEquals(14_000_000, kit.step());
            assertEquals(1, done.messages().size());
        }
    }
}

package understudy.chaos.autoscaler.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Replicas that follow a wanted number. */
final class DeploymentTest {
    private static final long STARTUP_MILLIS = 600_000;

    /** Whatever an autoscaler asks for must not exhaust the machine: 1 that is ready, and 63 that start. */
    @Test
    void moreThanTheNodesTakeNeverStart() {
        try (var deployment = new Deployment(1, STARTUP_MILLIS, List.of(new LoadStep(0, 0, 0)), 1)) {
            deployment.look(0, Integer.MAX_VALUE);
            deployment.look(1, Integer.MAX_VALUE);

            assertThat(deployment.ready()).hasSize(1);
            assertThat(deployment.starting()).hasSize(63);
        }
    }
}

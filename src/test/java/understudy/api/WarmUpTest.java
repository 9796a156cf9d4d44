package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.ClusterSpec;
import understudy.cluster.device.GpuModel;
import understudy.host.Actors;
import understudy.scenario.EmbeddedScenario;

/** What happens before a server starts. */
final class WarmUpTest {
    private final EmbeddedScenario scenario = EmbeddedScenario.of("server { api-key = secret, max-in-flight = 1 }");
    private final AtomicInteger numSteps = new AtomicInteger();

    @Test
    void requests_reachAReplicaLikeTheRealOnes() {
        WarmUp.run(spec(), scenario.server(), 4);

        // Each of the four takes one step at least.
        assertThat(numSteps).hasValueGreaterThanOrEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"embed", "classify", "score"})
    void poolingModels_areWarmedByTheirOwnRoute(String task) {
        var pooling = EmbeddedScenario.of("server.task = " + task);

        WarmUp.run(spec(), pooling.server(), 2);

        assertThat(numSteps).hasValueGreaterThanOrEqualTo(2);
    }

    @Test
    void noRequests_startNothing() {
        WarmUp.run(spec(), scenario.server(), 0);

        assertThat(numSteps).hasValue(0);
    }

    private ClusterSpec spec() {
        var like = scenario.clusterSpecWithoutRecords().replica(0);
        var counting = like.withDevice(GpuModel.of(batch -> {
            numSteps.incrementAndGet();
            return 1;
        }));
        return ClusterSpec.ofOne(Actors.STANDARD, counting);
    }
}

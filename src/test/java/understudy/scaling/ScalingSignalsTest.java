package understudy.scaling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.faults.ReplicaState;
import understudy.scaling.ScalingMetrics.ReplicaLoad;

final class ScalingSignalsTest {
    private static final List<ReplicaState> STATES = List.of(
            ReplicaState.READY,
            ReplicaState.STARTING,
            ReplicaState.DRAINING,
            ReplicaState.READY,
            ReplicaState.DOWN,
            ReplicaState.REMOVED,
            ReplicaState.STARTING);

    private final ScalingSignals signals = new ScalingSignals(STATES, 100);

    @Test
    void readyReplicasCountWithTheirLatestLoad() {
        signals.onLoad(3, 5, 7);
        signals.onKvUsage(3, 0.5);
        signals.onLoad(3, 4, 8);
        signals.onLoad(2, 90, 90);

        var metrics = signals.metrics(0);

        assertThat(metrics.ready()).containsExactly(ReplicaLoad.NONE, new ReplicaLoad(4, 8, 0.5));
        assertThat(metrics.numStarting()).isEqualTo(2);
        assertThat(metrics.numReplicas()).isEqualTo(4);
    }

    @Test
    void promptTokensAreUnderWayUntilTheFirstTokenOrTheEnd() {
        signals.onRouted(1, 100);
        signals.onRouted(2, 50);
        signals.onRouted(3, 7);
        signals.onRouted(2, 60);
        assertThat(signals.metrics(0).inflightTokens())
                .as("100 + 60 + 7, as 2 was sent again")
                .isEqualTo(167);

        signals.onFirstToken(1, 0, 10);
        assertThat(signals.metrics(0).inflightTokens()).isEqualTo(67);

        signals.onEnded(3);
        signals.onEnded(1);
        assertThat(signals.metrics(0).inflightTokens()).isEqualTo(60);
    }

    @Test
    void ttftsCountForAWhile() {
        signals.onFirstToken(1, 100, 30);
        signals.onFirstToken(2, 150, 40);

        assertThat(signals.metrics(199).ttft().count()).isEqualTo(2);
        assertThat(signals.metrics(200).ttft().maxNanos()).isEqualTo(40);
        assertThat(signals.metrics(200).ttft().count()).as("100 ns later").isEqualTo(1);
    }

    @Test
    void replicasThatStart_goFirst_andTheYoungestOnes() {
        assertThat(signals.leaving(3)).containsExactly(6, 1, 3);
        assertThat(signals.leaving(0)).isEmpty();
    }
}

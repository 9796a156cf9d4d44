package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ListWorkload.request;
import static understudy.cluster.OffloadingFixture.MILLI;

import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.faults.Fault;
import understudy.faults.FaultPlan;
import understudy.faults.FleetChange;
import understudy.prompt.SegmentedTokens;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.workload.RandomStreams;

/** Runs to the end in which replicas die that use the store; its audits fail the run if anything is left in use. */
final class StoreFaultsInVirtualTimeTest {
    @AutoClose
    private final OffloadingFixture cluster = new OffloadingFixture();

    /**
     * The first prompt is written to the store from 4 to 12 ms, by replica 0; the third one asks for it again at 20 ms,
     * there, too: its GPU and its host have lost it with the crash at 14 ms, or it does not come to that.
     */
    @ParameterizedTest
    @CsvSource({"2, false", "8, false", "8, true", "14, false", "14, true", "21, true", "25, true"})
    void crashOfAReplica_leavesNothingInUse(long atMillis, boolean isRestarted) {
        cluster.replicas.numReplicas = 2;
        var crash = new FaultPlan.TimedChange(atMillis * MILLI, new Fault.Crash(0));
        var restart = new FaultPlan.TimedChange(atMillis * MILLI, new FleetChange.Restart(0));
        cluster.replicas.faults = new FaultPlan(
                isRestarted ? List.of(crash, restart) : List.of(crash), ClusterFixture.RESUME, 0, new RandomStreams(0));
        var workload = ClusterFixture.workload(
                request(1, 0, 64, 1),
                request(2, 0, 64, 1),
                request(3, 20 * MILLI, SegmentedTokens.EMPTY.append(1, 64).append(3, 1), 2),
                request(4, 40 * MILLI, 64, 9));

        var run = ClusterFixture.run(cluster.spec(workload), Double.POSITIVE_INFINITY);

        assertThat(Invariants.check(run)).isEmpty();
        assertThat(ClusterFixture.requests(run))
                .extracting(RequestRecord::outcome)
                .containsOnly(Outcome.COMPLETED);
    }
}

package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ClusterFixture.requests;
import static understudy.cluster.ClusterFixture.workload;
import static understudy.cluster.ListWorkload.request;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.device.GpuModel;
import understudy.cluster.lockstep.EarlierStages;
import understudy.engine.Request;
import understudy.faults.CrashRetries;
import understudy.faults.Fault;
import understudy.faults.FaultPlan;
import understudy.faults.FaultPlan.TimedChange;
import understudy.faults.FleetChange;
import understudy.latency.LatencyModel;
import understudy.report.Invariants;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.workload.RandomStreams;

/** Two replicas that step together; requests go to them in turn, and a token takes 0.1 ms. */
final class DataParallelInVirtualTimeTest {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;
    private static final LatencyModel OWN_TOKENS = batch -> 100 * MICRO * batch.numTokens();
    private static final LatencyModel TOKENS_OF_ALL = batch -> 100 * MICRO * batch.numGroupTokens(2);

    private final ClusterFixture cluster = new ClusterFixture();

    /** The prompts of 100 and 300 tokens take 10 and 30 ms, and then each has one token, of 0.1 ms. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void step_lastsAsLongAsTheSlowestRanks(boolean isAsync) {
        cluster.isAsync = isAsync;

        var run = run(OWN_TOKENS, request(0, 0, 100, 2), request(1, 0, 300, 2));

        assertThat(tokenMicros(run, 0)).containsExactly(30_000L, 30_100L);
        assertThat(tokenMicros(run, 1)).containsExactly(30_000L, 30_100L);
    }

    /** The second prompt waits for the end of the first one's step, and then the first one's next token for it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void batch_waitsForTheStepThatRuns(boolean isAsync) {
        cluster.isAsync = isAsync;

        var run = run(OWN_TOKENS, request(0, 0, 100, 2), request(1, 3 * MILLI, 300, 2));

        assertThat(tokenMicros(run, 0)).containsExactly(10_000L, 40_000L);
        assertThat(tokenMicros(run, 1)).containsExactly(40_000L, 40_100L);
    }

    /** 100 tokens and one of the idle rank; then one of each. */
    @Test
    void idleRank_stepsAlongWithOneToken() {
        var run = run(TOKENS_OF_ALL, request(0, 0, 100, 2));

        assertThat(tokenMicros(run, 0)).containsExactly(10_100L, 10_300L);
    }

    @Test
    void tokensOfAllRanks_count() {
        var run = run(TOKENS_OF_ALL, request(0, 0, 100, 1), request(1, 0, 300, 1));

        assertThat(tokenMicros(run, 0)).containsExactly(40_000L);
    }

    /** Nothing runs between the end of the first request and the second. */
    @Test
    void groupWithoutWork_rests() {
        var run = run(OWN_TOKENS, request(0, 0, 100, 1), request(1, 50 * MILLI, 100, 1));

        assertThat(tokenMicros(run, 0)).containsExactly(10_000L);
        assertThat(tokenMicros(run, 1)).containsExactly(60_000L);
    }

    /**
     * One step in four computes prompts beside decodes. Step 0 lasts 10 ms, step 1 until 10.1 ms; the idle rank begins with
     * step 2, of 10 ms. What has come to both by then waits for step 4, from 20.2 ms on, of 100 tokens and a decode.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void prefillScheduleInterval_countsTheStepsOfTheGroup(boolean isAsync) {
        cluster.isAsync = isAsync;
        cluster.prefillScheduleInterval = 4;

        var run = run(
                OWN_TOKENS,
                request(0, 0, 100, 9),
                request(1, 10_050 * MICRO, 100, 9),
                request(2, 15 * MILLI, 50, 1),
                request(3, 15 * MILLI, 100, 1));

        assertThat(tokenMicros(run, 1)).startsWith(20_100L, 20_200L, 30_300L);
        assertThat(tokenMicros(run, 2)).containsExactly(30_300L);
        assertThat(tokenMicros(run, 3)).containsExactly(30_300L);
    }

    /** From 5 ms on a token takes the idle rank 20 ms; what runs is not changed. */
    @Test
    void slowGpu_slowsTheOthers() {
        cluster.faults = plan(new TimedChange(5 * MILLI, new Fault.SlowGpu(1, 200)));

        var run = run(OWN_TOKENS, request(0, 0, 100, 2));

        assertThat(tokenMicros(run, 0)).containsExactly(10_000L, 30_000L);
    }

    /**
     * The prompt of the rank that dies would have taken 30 ms, which the step goes on for; the other rank is alone then. The
     * third request goes to the rank that came back.
     */
    @Test
    void rankThatCrashes_isMissingUntilItComesBack() {
        cluster.faults = plan(
                new TimedChange(5 * MILLI, new Fault.Crash(1)),
                new TimedChange(100 * MILLI, new FleetChange.Restart(1)));

        var run = run(
                TOKENS_OF_ALL,
                request(0, 0, 99, 2),
                request(1, 0, 201, 2),
                request(2, 200 * MILLI, 99, 1),
                request(3, 300 * MILLI, 99, 1));

        assertThat(tokenMicros(run, 0)).containsExactly(30_000L, 30_100L);
        // 99 tokens and one of the idle rank.
        assertThat(tokenMicros(run, 2)).containsExactly(210_000L);
        assertThat(tokenMicros(run, 3)).containsExactly(310_000L);
    }

    @Test
    void replicasBeyondTheGroup_stepByThemselves() {
        cluster.numReplicas = 4;

        var run = run(
                OWN_TOKENS, request(0, 0, 100, 1), request(1, 0, 300, 1), request(2, 0, 100, 1), request(3, 0, 200, 1));

        assertThat(tokenMicros(run, 1)).containsExactly(30_000L);
        assertThat(tokenMicros(run, 2)).containsExactly(20_000L);
    }

    private static FaultPlan plan(TimedChange... changes) {
        return new FaultPlan(List.of(changes), CrashRetries.NONE, 0, new RandomStreams(1));
    }

    private RunRecord run(LatencyModel latency, Request... requests) {
        cluster.numReplicas = Math.max(2, cluster.numReplicas);
        var device = new GpuModel(latency, 0, null, new RandomStreams(1), 2, EarlierStages.NONE);
        var run = cluster.run(workload(requests), cluster.replicaSpec().withDevice(device));
        assertThat(Invariants.check(run)).isEmpty();
        return run;
    }

    private static List<Long> tokenMicros(RunRecord run, long requestId) {
        return requests(run).stream()
                .filter(request -> request.requestId() == requestId)
                .map(RequestRecord::tokenNanos)
                .flatMap(nanos -> nanos.longStream().boxed())
                .map(nanos -> nanos / MICRO)
                .toList();
    }
}

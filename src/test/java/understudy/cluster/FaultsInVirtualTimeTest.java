package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ClusterFixture.REROUTE;
import static understudy.cluster.ClusterFixture.RESUME;
import static understudy.cluster.ClusterFixture.requests;
import static understudy.cluster.ClusterFixture.workload;
import static understudy.cluster.ListWorkload.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.engine.Request;
import understudy.faults.ClusterChange;
import understudy.faults.CrashRetries;
import understudy.faults.Fault;
import understudy.faults.FaultPlan;
import understudy.faults.FaultPlan.TimedChange;
import understudy.faults.FleetChange;
import understudy.latency.ApiDelay;
import understudy.prompt.SegmentedTokens;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.routing.policy.LeastOutstanding;
import understudy.routing.policy.LoadBalance;
import understudy.routing.policy.PrefixAware;
import understudy.routing.policy.RoundRobin;
import understudy.workload.RandomStreams;

/** What goes wrong by plan; a step takes 5 ms. */
final class FaultsInVirtualTimeTest {
    private static final long MILLI = 1_000_000;

    private final ClusterFixture cluster = new ClusterFixture();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_failsWhatIsThereAndTheOtherReplicaGoesOn(boolean isAsync) {
        cluster.isAsync = isAsync;
        cluster.numReplicas = 2;
        plan(CrashRetries.NONE, at(12, new Fault.Crash(0)));

        var run = cluster.run(workload(request(0, 0, 10, 10), request(1, 0, 10, 10), request(2, 20 * MILLI, 10, 1)));

        // Round robin sends 0 to replica 0 and 1 to replica 1. At 12 ms two steps of replica 0 have ended: two tokens.
        var crashed = byId(run, 0);
        assertThat(crashed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(crashed.numOutputTokens()).isEqualTo(2);
        assertThat(crashed.lastTokenNanos()).isEqualTo(10 * MILLI);
        assertThat(crashed.endNanos()).isEqualTo(12 * MILLI);
        assertThat(byId(run, 1).lastTokenNanos()).isEqualTo(50 * MILLI);
        assertThat(byId(run, 2).replicaIndex())
                .as("it would have been the turn of 0")
                .isEqualTo(1);
        assertThat(RunReport.of(run).numFailed()).isEqualTo(1);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void crashOfTheOnlyReplica_failsWhatComesUntilItIsBack() {
        plan(CrashRetries.NONE, 5, at(12, new Fault.Crash(0)), at(20, new FleetChange.Restart(0)));

        var run = cluster.run(workload(
                request(0, 0, 10, 1),
                request(1, 15 * MILLI, 10, 1),
                request(2, 24 * MILLI, 10, 1),
                request(3, 26 * MILLI, 10, 2)));

        // Down at 12 ms, starting from 20 ms on, ready at 25 ms.
        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(byId(run, 1).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 1).replicaIndex()).isEqualTo(RequestRecord.NO_REPLICA);
        assertThat(byId(run, 2).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 3).lastTokenNanos()).isEqualTo(36 * MILLI);
        assertThat(run.replicas()).singleElement().satisfies(replica -> {
            assertThat(replica.stats().numRequests())
                    .as("before and after the crash")
                    .isEqualTo(2);
            assertThat(replica.stats().numSteps()).as("1 + 2 steps").isEqualTo(3);
            assertThat(replica.stats().prefixCache().queries())
                    .as("two prompts of 10")
                    .isEqualTo(20);
        });
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void reroute_movesWhatHasNoTokenYet() {
        cluster.numReplicas = 2;
        cluster.apiDelay = new ApiDelay(4 * MILLI, 0);
        plan(REROUTE, at(12, new Fault.Crash(0)));

        var run = cluster.run(workload(
                request(0, 0, 10, 10),
                request(1, 0, 10, 10),
                request(2, 10 * MILLI, 10, 2),
                request(3, 11 * MILLI, 10, 2)));

        // Replica 0 has given request 0 a token at 4 + 5 = 9 ms; request 2 is still on its way to the queue.
        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 2).outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(byId(run, 2).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 2).queuedNanos()).as("sent on at 12 ms").isEqualTo(16 * MILLI);
        assertThat(byId(run, 2).arrivalNanos()).isEqualTo(10 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void restartedReplica_hasAnEmptyCacheAndTheRouterKnows() {
        cluster.numReplicas = 2;
        cluster.routing = PrefixAware.factory(new PrefixAware.Options(0, new LoadBalance(64, 1.5)));
        cluster.wire = ClusterFixture.late(Duration.ofMillis(8));
        var prompt = SegmentedTokens.EMPTY.append(7, 200);
        plan(CrashRetries.NONE, at(10, new Fault.Crash(0)), at(11, new FleetChange.Restart(0)));

        var run = cluster.run(workload(
                request(0, 0, prompt, 1), request(1, 50 * MILLI, prompt, 1), request(2, 100 * MILLI, prompt, 1)));

        // What replica 0 has stored by 5 ms is under way until 13 ms, and of no use after its crash. So the least used
        // replica
        // gets request 1, and its cache request 2.
        assertThat(byId(run, 0).replicaIndex()).isEqualTo(0);
        assertThat(byId(run, 1).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 1).numCachedTokens()).isZero();
        assertThat(byId(run, 2).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 2).numCachedTokens()).isEqualTo(192);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void drain_finishesWhatIsThereAndTakesNothingNew() {
        cluster.numReplicas = 2;
        plan(CrashRetries.NONE, at(1, new FleetChange.Drain(0)), at(30, new FleetChange.Resume(0)));

        var run = cluster.run(workload(
                request(0, 0, 10, 4),
                request(1, 10 * MILLI, 10, 1),
                request(2, 20 * MILLI, 10, 1),
                request(3, 40 * MILLI, 10, 1)));

        assertThat(byId(run, 0).lastTokenNanos()).isEqualTo(20 * MILLI);
        assertThat(byId(run, 1).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 2).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 3).replicaIndex()).as("resumed").isEqualTo(0);
        assertThat(RunReport.of(run).numCompleted()).isEqualTo(4);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void fleet_growsAndShrinks() {
        plan(CrashRetries.NONE, 10, at(5, new FleetChange.Add()), at(30, new FleetChange.Remove(0)));
        cluster.routing = LeastOutstanding.FACTORY;

        var run = cluster.run(workload(
                request(0, 0, 10, 10),
                request(1, 14 * MILLI, 10, 1),
                request(2, 16 * MILLI, 10, 1),
                request(3, 40 * MILLI, 10, 1)));

        // The second replica is ready at 15 ms. The first one leaves after its last request, at 50 ms.
        assertThat(byId(run, 1).replicaIndex()).isEqualTo(0);
        assertThat(byId(run, 2).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 3).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(run.replicas()).hasSize(2);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void slowGpu_stretchesTheStepsThatBeginAfterIt() {
        plan(CrashRetries.NONE, at(7, new Fault.SlowGpu(0, 3)), at(21, new Fault.SlowGpu(0, 1)));

        var run = cluster.run(workload(request(0, 0, 10, 5)));

        // Steps begin at 0, 5, 10 (15 ms long) and 25, 30.
        assertThat(byId(run, 0).tokenNanos().toLongArray())
                .containsExactly(5 * MILLI, 10 * MILLI, 25 * MILLI, 30 * MILLI, 35 * MILLI);
    }

    @Test
    void shrunkKvCache_failsWhatCannotFitAndPreemptsTheRest() {
        cluster.numBlocks = 101;
        plan(CrashRetries.NONE, at(7, new Fault.ShrinkKv(0, 21)), at(1_000, new Fault.ShrinkKv(0, Integer.MAX_VALUE)));
        var many = new ArrayList<Request>();
        for (int id = 0; id < 4; id++) {
            many.add(request(id, 0, 100, 100));
        }
        many.add(request(4, 0, 300, 30));
        many.add(request(5, 8 * MILLI, 300, 30));
        many.add(request(6, 1_001 * MILLI, 300, 30));

        var run = cluster.run(new ListWorkload(many));

        // 20 blocks of 16 hold 320 tokens: 200 fit, 330 do not; four times 200 do not fit together.
        assertThat(byId(run, 4).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 5).outcome()).isEqualTo(Outcome.REJECTED);
        assertThat(byId(run, 6).outcome()).as("all blocks are back").isEqualTo(Outcome.COMPLETED);
        assertThat(IntStream.range(0, 4)).allMatch(id -> byId(run, id).outcome() == Outcome.COMPLETED);
        assertThat(RunReport.of(run).numPreemptions()).isPositive();
        assertThat(run.replicas().get(0).kvCache().numFree()).isEqualTo(100);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void errorSequence_failsSoManyAndThenNoMore() {
        cluster.numReplicas = 2;
        plan(CrashRetries.NONE, at(1, new Fault.ErrorSequence(Fault.ALL_REPLICAS, 2)));

        var run = cluster.run(
                workload(request(0, 2 * MILLI, 10, 1), request(1, 3 * MILLI, 10, 1), request(2, 4 * MILLI, 10, 1)));

        assertThat(requests(run).stream().map(RequestRecord::outcome))
                .containsExactly(Outcome.FAILED, Outcome.FAILED, Outcome.COMPLETED);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void errorRate_failsAboutThatShare() {
        plan(CrashRetries.NONE, at(0, new Fault.ErrorRate(Fault.ALL_REPLICAS, 0.25)));

        var run = cluster.run(new ListWorkload(IntStream.range(0, 1_000)
                .mapToObj(id -> request(id, id * MILLI, 10, 1))
                .toList()));

        // Binomial with n = 1000 and p = 0.25: mean 250, standard deviation 13.7; five of them are 69.
        assertThat(RunReport.of(run).numFailed()).isBetween(181L, 319L);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cutStreams_breakOffAfterThatToken(boolean isAsync) {
        cluster.isAsync = isAsync;
        plan(CrashRetries.NONE, at(0, new Fault.CutStreams(OptionalInt.of(0), 1, 3)));

        // Prompts end at block borders, so that blocks become full while the answers break off.
        var run = cluster.run(workload(request(0, MILLI, 30, 10), request(1, MILLI, 30, 3), request(2, MILLI, 30, 2)));

        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 0).tokenNanos().size()).isEqualTo(3);
        assertThat(byId(run, 1).outcome()).as("complete with its third token").isEqualTo(Outcome.COMPLETED);
        assertThat(byId(run, 2).outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void latencySpike_delaysTheWayToTheQueue() {
        cluster.apiDelay = new ApiDelay(4 * MILLI, 0);
        plan(
                CrashRetries.NONE,
                at(10, new Fault.LatencySpike(Fault.ALL_REPLICAS, 100 * MILLI)),
                at(30, new Fault.LatencySpike(Fault.ALL_REPLICAS, 0)));

        var run = cluster.run(
                workload(request(0, 0, 10, 1), request(1, 20 * MILLI, 10, 1), request(2, 40 * MILLI, 10, 1)));

        assertThat(byId(run, 0).queuedNanos()).isEqualTo(4 * MILLI);
        assertThat(byId(run, 1).queuedNanos()).isEqualTo(124 * MILLI);
        assertThat(byId(run, 2).queuedNanos()).isEqualTo(44 * MILLI);
    }

    @ParameterizedTest
    @EnumSource(CrashRetries.OnCrash.class)
    void everythingAtOnce_losesNoRequestAndRepeats(CrashRetries.OnCrash onCrash) {
        planEverything(new CrashRetries(onCrash, 1));
        var first = cluster.run(busy());
        cluster.routing = RoundRobin.FACTORY;
        var second = cluster.run(busy());

        assertThat(first.requests().size()).isEqualTo(600);
        assertThat(RunReport.of(first).numFailed()).isPositive();
        assertThat(RunReport.of(first).numCompleted()).isGreaterThan(300);
        assertThat(Invariants.check(first)).isEmpty();
        assertThat(describe(second).equals(describe(first))).isTrue();
    }

    @Test
    void pacedRun_breaksAsAJumpingOne() {
        planEverything(RESUME);
        var jumping = cluster.run(busy());
        cluster.routing = RoundRobin.FACTORY;
        var paced = cluster.run(busy(), 20);

        assertThat(describe(paced).equals(describe(jumping))).isTrue();
    }

    private void planEverything(CrashRetries retries) {
        cluster.numReplicas = 3;
        cluster.isAsync = true;
        cluster.numBlocks = 200;
        cluster.apiDelay = new ApiDelay(MILLI, 0);
        plan(
                retries,
                20,
                at(50, new Fault.CutStreams(OptionalInt.of(1), 0.3, 5)),
                at(60, new Fault.ErrorRate(Fault.ALL_REPLICAS, 0.05)),
                at(100, new Fault.Crash(0)),
                at(100, new FleetChange.Restart(0)),
                at(150, new FleetChange.Add()),
                at(200, new Fault.ShrinkKv(2, 60)),
                at(250, new Fault.Crash(1)),
                at(251, new Fault.Crash(2)),
                at(260, new Fault.SlowGpu(3, 2.5)),
                at(400, new FleetChange.Restart(1)),
                at(500, new FleetChange.Remove(0)),
                at(600, new FleetChange.Restart(2)));
    }

    /** 600 requests in 900 ms. */
    private static ListWorkload busy() {
        return new ListWorkload(IntStream.range(0, 600)
                .mapToObj(id -> request(id, id * 3L * MILLI / 2, 20 + id % 100, 1 + id % 50))
                .toList());
    }

    private void plan(CrashRetries retries, TimedChange... faults) {
        plan(retries, 0, faults);
    }

    private void plan(CrashRetries retries, long startupMillis, TimedChange... faults) {
        cluster.faults = new FaultPlan(List.of(faults), retries, startupMillis * MILLI, new RandomStreams(1));
        assertThat(cluster.faults.refusal(cluster.numReplicas)).isEmpty();
    }

    private static TimedChange at(long millis, ClusterChange fault) {
        return new TimedChange(millis * MILLI, fault);
    }

    private static RequestRecord byId(RunRecord run, long id) {
        return requests(run).stream()
                .filter(r -> r.requestId() == id)
                .findFirst()
                .orElseThrow();
    }

    private static String describe(RunRecord run) {
        return run.log().stepDigest() + " " + requests(run);
    }
}

package understudy.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.cluster.ClusterFixture.workload;
import static understudy.cluster.ListWorkload.request;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.ClusterFixture;
import understudy.cluster.ClusterSpec;
import understudy.engine.Request;
import understudy.faults.CrashRetries;
import understudy.faults.Fault;
import understudy.faults.FaultPlan;
import understudy.host.Actors;
import understudy.report.FleetStats;
import understudy.report.FleetStats.Point;
import understudy.report.Invariants;
import understudy.report.RunRecord;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.admission.EjectionSpec;
import understudy.routing.admission.QueueSpec;
import understudy.routing.admission.RateLimit;
import understudy.routing.admission.Saturation;
import understudy.scaling.Hpa;
import understudy.scaling.Keda;
import understudy.scaling.ScalingBehavior;
import understudy.scaling.ScalingBehavior.Pace;
import understudy.scaling.ScalingMetric;
import understudy.scaling.ScalingMetrics;
import understudy.scaling.ScalingRule;
import understudy.scaling.ScalingSpec;
import understudy.workload.RandomStreams;

/** Steps of 5 ms, an evaluation every 100 ms; a replica that joins needs 30 ms unless a test says otherwise. */
final class AutoscalerTest {
    private static final long MILLI = 1_000_000;
    private static final double MILLIS_PER_HOUR = 3.6e6;
    private static final Pace AT_ONCE = new Pace(0, 1e6, 0, MILLI);

    private final ClusterFixture cluster = new ClusterFixture();
    private long startupMillis = 30;

    @Test
    void replicasJoinAfterTheirStart_andTheYoungestLeaves() {
        // Three are wanted at 100 ms, two from 200 ms on. Round robin: 0, then 0 to 2 in turn, then 0 and 1.
        var run = planned(at -> at == 100 ? 3 : 2, at(0, 1), at(150, 1), at(160, 1), at(170, 1), at(400, 1));

        assertThat(fleet(run).history())
                .containsExactly(point(0, 1, 0), point(100, 1, 2), point(130, 3, 0), point(200, 2, 0));
        // All end at 405 ms; one costs from 0 on, one from 100, one from 100 to 200.
        assertThat(fleet(run).replicaHours()).isCloseTo((405 + 305 + 100) / MILLIS_PER_HOUR, within(1e-12));
        assertThat(run.replicas()).hasSize(3);
        assertThat(run.replicas().get(2).stats().numRequests()).isEqualTo(1);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void replicaThatLeaves_finishesItsRequests_andIsPaidForUntilThen() {
        cluster.numReplicas = 2;

        // Each has a request of 50 steps from 0 on. Replica 1 is to go at 100 ms, and is gone at 250 ms.
        var run = planned(at -> 1, at(0, 50), at(0, 50), at(300, 1));

        assertThat(fleet(run).history()).containsExactly(point(0, 2, 0), point(100, 1, 0));
        assertThat(fleet(run).replicaHours()).isCloseTo((305 + 250) / MILLIS_PER_HOUR, within(1e-12));
        assertThat(Invariants.check(run)).isEmpty();
    }

    /** One request has blocks from 0 to 250 ms, and the rule is asked at 100 and at 200 ms. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void usageOfKvIsMeasuredForARuleThatReadsIt(boolean readsKvUsage) {
        var usages = new ArrayList<Double>();
        var rule = new ScalingRule() {
            @Override
            public int desired(ScalingMetrics metrics) {
                usages.add(metrics.ready().get(0).kvUsage());
                return 1;
            }

            @Override
            public boolean readsKvUsage() {
                return readsKvUsage;
            }
        };

        run(rule, at(0, 50));

        assertThat(usages.subList(0, 2)).allMatch(usage -> usage > 0 == readsKvUsage);
    }

    /**
     * Nothing waits at the evaluations until 1,000 ms, the cooldown, and so the only replica goes. The request of 5,050 ms
     * waits in the router; at 5,100 ms a replica is started, which takes 200 ms, and then a step of 5 ms.
     */
    @Test
    void lastReplicaGoes_andComesBackForARequestThatWaits() {
        startupMillis = 200;
        cluster.admission = new AdmissionSpec(
                RateLimit.NONE,
                Saturation.NEVER,
                new QueueSpec(QueueSpec.Order.FCFS, 9, 1_000 * MILLI),
                AdmissionSpec.TtftLimits.NONE,
                EjectionSpec.NONE);
        var keda = new Keda.Options(ScalingMetric.NUM_REQUESTS_WAITING, 10, 0, 1_000 * MILLI, true);

        var run = run(new Keda(keda), 0, at(0, 1), at(5_050, 1));

        assertThat(fleet(run).history())
                .containsExactly(point(0, 1, 0), point(1_000, 0, 0), point(5_100, 0, 1), point(5_300, 1, 0));
        assertThat(run.requests().get(1).firstTokenNanos()).isEqualTo(5_305 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void replicaThatStarts_leavesWithoutARequest() {
        startupMillis = 150;

        // It would be ready at 250 ms, had it not to go at 200 ms.
        var run = planned(at -> at == 100 ? 2 : 1, at(0, 1), at(260, 1), at(300, 1));

        assertThat(fleet(run).history()).containsExactly(point(0, 1, 0), point(100, 1, 1), point(200, 1, 0));
        assertThat(fleet(run).replicaHours()).isCloseTo((305 + 100) / MILLIS_PER_HOUR, within(1e-12));
        assertThat(run.replicas().get(1).stats().numRequests()).isZero();
    }

    @Test
    void crashedReplica_costsNothingAndIsReplaced() {
        cluster.numReplicas = 2;
        var crash = new FaultPlan.TimedChange(50 * MILLI, new Fault.Crash(0));
        cluster.faults = new FaultPlan(List.of(crash), CrashRetries.NONE, 7 * MILLI, new RandomStreams(1));

        var run = planned(at -> 2, at(0, 1), at(300, 1));

        assertThat(fleet(run).history())
                .containsExactly(point(0, 2, 0), point(50, 1, 0), point(100, 1, 1), point(130, 2, 0));
        // One for 50 ms, one for 305, and one from 100 ms on.
        assertThat(fleet(run).replicaHours()).isCloseTo((50 + 305 + 205) / MILLIS_PER_HOUR, within(1e-12));
    }

    /**
     * Both replicas have a request of 60 tokens. The crash of one at 7 ms, after its first token at 5 ms, sends that one's
     * request on, whose longer prompt is computed before the first evaluation at 100 ms.
     */
    @Test
    void promptOfAResumedRequest_isUnderWayUntilItIsComputed() {
        cluster.numReplicas = 2;
        var crash = new FaultPlan.TimedChange(7 * MILLI, new Fault.Crash(0));
        var resume = new CrashRetries(CrashRetries.OnCrash.RESUME, 3);
        cluster.faults = new FaultPlan(List.of(crash), resume, 7 * MILLI, new RandomStreams(1));
        var seen = new ArrayList<Long>();

        run(
                metrics -> {
                    seen.add(metrics.inflightTokens());
                    return 2;
                },
                request(0, 0, 10, 60),
                request(1, 0, 10, 60));

        assertThat(seen).isNotEmpty().containsOnly(0L);
    }

    @Test
    void ruleSeesQueuesTokensAndMemory() {
        cluster.maxNumSeqs = 2;
        cluster.maxNumBatchedTokens = 100;
        var seen = new TreeMap<Long, ScalingMetrics>();
        ScalingRule watching = metrics -> {
            seen.put(metrics.atNanos() / MILLI, metrics);
            return 1;
        };

        // The second prompt has 750 tokens, 99 of them in each step beside the decode of the first: 8 steps from 95 ms
        // on.
        // The third finds both places taken.
        run(watching, at(90, 60), request(1, 92 * MILLI, 750, 1), request(2, 95 * MILLI, 300, 1));

        var early = seen.get(100L);
        assertThat(early.ready()).singleElement().satisfies(load -> {
            assertThat(load.numRunning()).isEqualTo(2);
            assertThat(load.numWaiting()).isEqualTo(1);
            assertThat(load.kvUsage()).isPositive();
        });
        assertThat(early.inflightTokens()).as("750 + 300").isEqualTo(1050);
        assertThat(early.ttft().maxNanos()).isEqualTo(5 * MILLI);
        assertThat(seen.get(300L).inflightTokens()).isZero();
        assertThat(seen.get(300L).ttft().count()).isEqualTo(3);
    }

    @Test
    void sameRun_givesTheSameHistoryAgain() {
        var first = scaledByQueue();
        var second = scaledByQueue();

        assertThat(fleet(first).maxReplicas()).isGreaterThan(2);
        assertThat(second.fleet()).isEqualTo(first.fleet());
        assertThat(second.log().stepDigest()).isEqualTo(first.log().stepDigest());
        assertThat(Invariants.check(first)).isEmpty();
    }

    /** Each replica answers 2 requests in 50 ms, and 10 come. */
    private RunRecord scaledByQueue() {
        cluster.maxNumSeqs = 2;
        var requests = LongStream.range(0, 200)
                .mapToObj(i -> request(i, i * 5 * MILLI, 10, 10))
                .toArray(Request[]::new);
        return run(new Hpa(ScalingMetric.NUM_REQUESTS_WAITING, 2, 0.1), requests);
    }

    /** Desires a number of replicas, given the virtual time in milliseconds. */
    @FunctionalInterface
    private interface Plan {
        int replicasAt(long millis);
    }

    private RunRecord planned(Plan plan, Request... requests) {
        var numbered = new Request[requests.length];
        for (int i = 0; i < requests.length; i++) {
            numbered[i] = request(i, requests[i].arrivalNanos(), 10, requests[i].maxTokens());
        }
        ScalingRule rule = metrics -> plan.replicasAt(metrics.atNanos() / MILLI);
        return run(rule, numbered);
    }

    private RunRecord run(ScalingRule rule, Request... requests) {
        return run(rule, 1, requests);
    }

    private RunRecord run(ScalingRule rule, int minReplicas, Request... requests) {
        var spec = cluster.spec(workload(requests));
        var behavior = new ScalingBehavior(minReplicas, 10, AT_ONCE, AT_ONCE);
        var scaling = new ScalingSpec(
                Optional.of(() -> rule), behavior, 100 * MILLI, 1000 * MILLI, startupMillis * MILLI, 1, 0);
        var scaled = new ClusterSpec(
                Actors.STANDARD,
                spec.replicas(),
                spec.kinds(),
                spec.router(),
                spec.admission(),
                spec.workload(),
                spec.faults(),
                true,
                Optional.of(scaling));
        return ClusterFixture.run(scaled, Double.POSITIVE_INFINITY);
    }

    private static Request at(long arrivalMillis, int numOutputTokens) {
        return request(0, arrivalMillis * MILLI, 10, numOutputTokens);
    }

    private static FleetStats fleet(RunRecord run) {
        return run.fleet().orElseThrow();
    }

    private static Point point(long atMillis, int numReady, int numStarting) {
        return new Point(atMillis * MILLI, numReady, numStarting);
    }
}

package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ClusterFixture.requests;
import static understudy.cluster.ClusterFixture.workload;
import static understudy.cluster.ListWorkload.request;

import it.unimi.dsi.fastutil.longs.LongLists;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.router.RouterActor;
import understudy.engine.FinishReason;
import understudy.engine.Request;
import understudy.faults.CrashRetries;
import understudy.faults.Fault;
import understudy.faults.FaultPlan;
import understudy.faults.FleetChange;
import understudy.faults.RequestFault;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunReport;
import understudy.routing.ReplicaTraits;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.admission.EjectionSpec;
import understudy.routing.admission.QueueSpec;
import understudy.routing.admission.RateLimit;
import understudy.routing.admission.Saturation;
import understudy.routing.policy.RoundRobin;
import understudy.testkit.VirtualTimeTestKit;
import understudy.workload.RandomStreams;

/** Requests that wait in the router, or are turned away there. A step takes 5 ms. */
final class AdmissionInVirtualTimeTest {
    private static final long MILLI = 1_000_000;
    private static final double NONE = Double.POSITIVE_INFINITY;

    private final ClusterFixture cluster = new ClusterFixture();

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    /**
     * One request at a time: each has two tokens, which take two steps of 5 ms, and the next one is sent when it has ended,
     * so first tokens come at 5, 15 and 25 ms.
     */
    @Test
    void saturatedCluster_makesRequestsWait() {
        cluster.admission = atMost(1, 9, 1_000);

        var run = cluster.run(workload(request(0, 0, 20, 2), request(1, 0, 20, 2), request(2, 0, 20, 2)));

        assertThat(requests(run))
                .extracting(RequestRecord::firstTokenNanos)
                .containsExactly(5 * MILLI, 15 * MILLI, 25 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    /** The first runs for 10 ms, the second waits; the third finds the queue full, and the second gives up after 7 ms. */
    @Test
    void rejections_areCountedByReason() {
        cluster.admission = atMost(1, 1, 7);

        var run = cluster.run(workload(request(0, 0, 20, 2), request(1, 0, 20, 2), request(2, 0, 20, 2)));

        var report = RunReport.of(run);
        assertThat(report.numCompleted()).isEqualTo(1);
        assertThat(report.numRejected()).isEqualTo(2);
        assertThat(report.loadShed())
                .containsExactlyInAnyOrderEntriesOf(Map.of(Outcome.QUEUE_FULL, 1, Outcome.QUEUE_TIMEOUT, 1));
        assertThat(requests(run))
                .filteredOn(each -> each.outcome() == Outcome.QUEUE_TIMEOUT)
                .extracting(RequestRecord::lastTokenNanos)
                .containsExactly(7 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    /**
     * The first request takes some of the memory, which is too much already, until its two steps are over at 10 ms; the
     * report after that must say so, or the second one waits for ever.
     */
    @Test
    void reportOfAnIdleReplica_letsTheNextOneGo() {
        cluster.admission = new AdmissionSpec(
                RateLimit.NONE,
                new Saturation(NONE, NONE, 1e-6),
                new QueueSpec(QueueSpec.Order.FCFS, 9, 1_000 * MILLI),
                AdmissionSpec.TtftLimits.NONE,
                EjectionSpec.NONE);

        var run = cluster.run(workload(request(0, 0, 20, 2), request(1, 6 * MILLI, 20, 2)));

        assertThat(requests(run)).extracting(RequestRecord::firstTokenNanos).containsExactly(5 * MILLI, 15 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    /** The only replica crashes at 2 ms with the first request, and one that joins at 50 ms serves the second. */
    @Test
    void requestWithoutReplica_waitsForOne() {
        cluster.admission = atMost(NONE, 9, 1_000);
        cluster.faults = new FaultPlan(
                List.of(
                        new FaultPlan.TimedChange(2 * MILLI, new Fault.Crash(0)),
                        new FaultPlan.TimedChange(50 * MILLI, new FleetChange.Add())),
                CrashRetries.NONE,
                0,
                new RandomStreams(0));

        var run = cluster.run(workload(request(0, 0, 20, 2), request(1, 10 * MILLI, 20, 2)));

        assertThat(requests(run)).extracting(RequestRecord::outcome).containsExactly(Outcome.FAILED, Outcome.COMPLETED);
        assertThat(requests(run).get(1).firstTokenNanos()).isEqualTo(55 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    /**
     * Requests of three tokens come every 20 ms, in turn to three replicas, of which the first takes 50 ms for a step. Its
     * first answer is complete at 150 ms, so that it is ejected at the next look, at 200 ms. Until then requests 0, 3, 6
     * and 9 of 10 have come to it.
     */
    @Test
    void slowReplica_isEjected() {
        cluster.numReplicas = 3;
        cluster.routing = RoundRobin.FACTORY;
        cluster.faults = new FaultPlan(
                List.of(new FaultPlan.TimedChange(0, new Fault.SlowGpu(0, 10))),
                CrashRetries.NONE,
                0,
                new RandomStreams(0));
        cluster.admission = new AdmissionSpec(
                RateLimit.NONE,
                Saturation.NEVER,
                QueueSpec.NONE,
                AdmissionSpec.TtftLimits.NONE,
                new EjectionSpec(2, 100 * MILLI, 1, 10_000 * MILLI, 0));
        var requests = IntStream.range(0, 60)
                .mapToObj(i -> request(i, 20 * MILLI * i, 20, 3))
                .toArray(Request[]::new);

        var run = cluster.run(workload(requests));

        assertThat(run.replicas())
                .extracting(replica -> replica.stats().numRequests())
                .containsExactly(4L, 28L, 28L);
        assertThat(Invariants.check(run)).isEmpty();
    }

    /** 10 and 100 ns per token: the median is 55, and 100 is more than 1.5 times that. */
    @Test
    void ejectedReplica_stillServesWhoAsksForIt() {
        cluster.admission = new AdmissionSpec(
                RateLimit.NONE,
                Saturation.NEVER,
                QueueSpec.NONE,
                AdmissionSpec.TtftLimits.NONE,
                new EjectionSpec(1.5, MILLI, 1, 10_000 * MILLI, 0));
        var slow = kit.createInbox(Replica.Command.class);
        var client = kit.createInbox(RequestEvent.class);
        var router = kit.spawn(
                RouterActor.create(
                        kit.clock(),
                        cluster.spec(null),
                        kit.createInbox(MetricsCollector.Command.class).ref(),
                        null),
                "router");
        router.tell(
                new Router.ReplicaUp(0, kit.createInbox(Replica.Command.class).ref(), ReplicaTraits.PLAIN));
        router.tell(new Router.ReplicaUp(1, slow.ref(), ReplicaTraits.PLAIN));
        router.tell(new Router.ReplicaProgress(0, 0, LongLists.EMPTY_LIST, LongLists.EMPTY_LIST, 100, 10));
        router.tell(new Router.ReplicaProgress(1, 0, LongLists.EMPTY_LIST, LongLists.EMPTY_LIST, 1_000, 10));
        kit.advance(Duration.ofMillis(1));

        for (int i = 0; i < 4; i++) {
            router.tell(new Router.Submit(request(i, 0, 20, 2), client.ref(), false));
        }
        kit.settle();
        assertThat(slow.messages()).isEmpty();
        router.tell(new Router.Submit(request(9, 0, 20, 2), client.ref(), false, OptionalInt.of(1), RequestFault.NONE));
        kit.settle();

        assertThat(slow.messages()).hasSize(1);
        assertThat(client.messages()).isEmpty();
    }

    @Test
    void requestThatWaits_canBeAborted() {
        cluster.admission = atMost(1, 9, 1_000);
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var replica = kit.createInbox(Replica.Command.class);
        var client = kit.createInbox(RequestEvent.class);
        var router = kit.spawn(RouterActor.create(kit.clock(), cluster.spec(null), metrics.ref(), null), "router");
        router.tell(new Router.ReplicaUp(0, replica.ref(), ReplicaTraits.PLAIN));
        router.tell(new Router.Submit(request(0, 0, 20, 2), client.ref(), false));
        router.tell(new Router.Submit(request(1, 0, 20, 2), client.ref(), false));
        kit.settle();

        router.tell(new Router.Abort(1));
        kit.advance(Duration.ofSeconds(5));

        assertThat(client.messages()).singleElement().isInstanceOfSatisfying(RequestEvent.Finished.class, finished -> {
            assertThat(finished.requestId()).isEqualTo(1);
            assertThat(finished.reason()).isEqualTo(FinishReason.ABORT);
        });
        assertThat(replica.messages()).hasSize(1);
    }

    /** Two of three requests run or wait when the run is broken off; all are accounted for. */
    @Test
    void brokenOffRun_countsThoseThatWait() {
        cluster.admission = atMost(1, 9, 60_000);
        var closed = kit.createInbox(Router.Closed.class);
        var nobody = kit.createInbox(Object.class);
        var router = kit.spawn(
                RouterActor.create(
                        kit.clock(),
                        cluster.spec(null),
                        kit.createInbox(MetricsCollector.Command.class).ref(),
                        null),
                "router");
        router.tell(
                new Router.ReplicaUp(0, kit.createInbox(Replica.Command.class).ref(), ReplicaTraits.PLAIN));
        for (int i = 0; i < 3; i++) {
            router.tell(new Router.Submit(request(i, 0, 20, 2), nobody.ref(), false));
        }

        router.tell(new Router.Close(closed.ref()));
        kit.settle();

        assertThat(closed.messages()).containsExactly(new Router.Closed(3, 2));
    }

    private static AdmissionSpec atMost(double outstanding, int waiting, long maxWaitMillis) {
        return new AdmissionSpec(
                RateLimit.NONE,
                outstanding == NONE ? Saturation.NEVER : new Saturation(outstanding, NONE, NONE),
                new QueueSpec(QueueSpec.Order.FCFS, waiting, maxWaitMillis * MILLI),
                AdmissionSpec.TtftLimits.NONE,
                EjectionSpec.NONE);
    }
}

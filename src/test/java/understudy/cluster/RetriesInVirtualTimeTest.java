package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ClusterFixture.REROUTE;
import static understudy.cluster.ClusterFixture.RESUME;
import static understudy.cluster.ClusterFixture.requests;
import static understudy.cluster.ClusterFixture.workload;
import static understudy.cluster.ListWorkload.request;

import it.unimi.dsi.fastutil.ints.IntSets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.replica.RunningReplica;
import understudy.cluster.router.RouterActor;
import understudy.engine.FinishReason;
import understudy.engine.OutputPlan;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;
import understudy.faults.ClusterChange;
import understudy.faults.CrashRetries;
import understudy.faults.Fault;
import understudy.faults.FaultPlan;
import understudy.faults.FaultPlan.TimedChange;
import understudy.faults.FleetChange;
import understudy.faults.RequestFault;
import understudy.latency.ApiDelay;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.routing.ReplicaTraits;
import understudy.testkit.VirtualTimeTestKit;
import understudy.workload.RandomStreams;

/** Requests that go on at another replica after a crash; a step takes 5 ms, whatever it computes. */
final class RetriesInVirtualTimeTest {
    private static final long MILLI = 1_000_000;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final ClusterFixture cluster = new ClusterFixture();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resume_goesOnBehindTheLastToken(boolean isAsync) {
        cluster.isAsync = isAsync;
        cluster.numReplicas = 2;
        plan(RESUME, at(12, new Fault.Crash(0)));

        var run = cluster.run(workload(request(0, 0, 10, 10)));

        // Two tokens on replica 0. Replica 1 gets a prompt of 12 tokens at 12 ms, and brings tokens 3 to 10.
        var resumed = byId(run, 0);
        assertThat(resumed.outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(resumed.replicaIndex()).isEqualTo(1);
        assertThat(resumed.tokenNanos().toLongArray()).containsExactly(millis(5, 10, 17, 22, 27, 32, 37, 42, 47, 52));
        assertThat(resumed.numPromptTokens()).isEqualTo(10);
        assertThat(resumed.numOutputTokens()).isEqualTo(10);
        assertThat(resumed.queuedNanos()).isZero();
        assertThat(resumed.scheduledNanos()).isZero();
        assertThat(resumed.firstTokenNanos()).isEqualTo(5 * MILLI);
        assertThat(resumed.lastTokenNanos()).isEqualTo(52 * MILLI);
        // Nine gaps: one before the crash, seven after it, and the one of 7 ms over it.
        assertThat(RunReport.of(run).itl().count()).isEqualTo(9);
        assertThat(RunReport.of(run).itl().maxNanos()).isEqualTo(7 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void resume_keepsWhatTheFirstReplicaHadCached() {
        cluster.numReplicas = 2;
        plan(RESUME, at(32, new Fault.Crash(0)));
        var prompt = SegmentedTokens.EMPTY.append(7, 40);
        var other = SegmentedTokens.EMPTY.append(8, 40);

        var run = cluster.run(
                workload(request(0, 0, prompt, 1), request(1, 0, other, 1), request(2, 20 * MILLI, prompt, 10)));

        // Replica 0 had the 32 tokens of two full blocks; replica 1 has nothing, which is not the first admission.
        assertThat(byId(run, 2).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 2).numCachedTokens()).isEqualTo(32);
        assertThat(byId(run, 2).numOutputTokens()).isEqualTo(10);
    }

    @Test
    void resume_hasTheBlockHashesThatItWouldHaveHad() {
        cluster.numReplicas = 2;
        plan(RESUME, at(142, new Fault.Crash(0)));
        var prompt = SegmentedTokens.EMPTY.append(0, 10);
        var withAnswer = prompt.append(-1, 40);

        var run = cluster.run(workload(
                request(0, 0, prompt, 60),
                request(1, 0, withAnswer.append(9, 14), 1),
                request(2, 500 * MILLI, prompt.append(-1, 60), 1)));

        // At 142 ms the answer to request 0 has 28 tokens, so its rest is prompted by 38: of those 32 fill blocks that
        // request 1 has left on replica 1. In the end 69 of its 70 tokens are computed, which fill 4 blocks.
        assertThat(byId(run, 0).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 2).numCachedTokens()).isEqualTo(64);
        var onReplica1 = run.replicas().get(1).stats().prefixCache();
        assertThat(onReplica1.queries()).isEqualTo(64 + 38 + 70);
        assertThat(onReplica1.hits()).isEqualTo(0 + 32 + 64);
    }

    @ParameterizedTest
    @CsvSource({"0, 2", "1, 5", "2, 20"})
    void maxRetries_areHowOftenARequestMayMove(int maxRetries, int numTokens) {
        cluster.numReplicas = 3;
        plan(
                new CrashRetries(CrashRetries.OnCrash.RESUME, maxRetries),
                at(12, new Fault.Crash(0)),
                at(28, new Fault.Crash(1)));

        var run = cluster.run(workload(request(0, 0, 10, 20)));

        // Tokens at 5 and 10 on replica 0; at 17, 22 and 27 on replica 1; 15 more on replica 2.
        assertThat(byId(run, 0).numOutputTokens()).isEqualTo(numTokens);
        assertThat(byId(run, 0).replicaIndex()).isEqualTo(maxRetries);
        assertThat(byId(run, 0).outcome()).isEqualTo(maxRetries < 2 ? Outcome.FAILED : Outcome.COMPLETED);
        assertThat(byId(run, 0).numPromptTokens()).isEqualTo(10);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void maxRetries_countMovesWithoutATokenToo() {
        cluster.numReplicas = 2;
        plan(new CrashRetries(CrashRetries.OnCrash.REROUTE, 1), at(2, new Fault.Crash(0)), at(4, new Fault.Crash(1)));

        var run = cluster.run(workload(request(0, 0, 10, 20)));

        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 0).replicaIndex()).isEqualTo(1);
    }

    @Test
    void resumeWithoutAnyReplica_failsWithTheTokensThatThereWere() {
        plan(RESUME, at(12, new Fault.Crash(0)));

        var run = cluster.run(workload(request(0, 0, 10, 20)));

        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 0).replicaIndex()).isEqualTo(RequestRecord.NO_REPLICA);
        assertThat(byId(run, 0).tokenNanos().toLongArray()).containsExactly(millis(5, 10));
        assertThat(byId(run, 0).numOutputTokens()).isEqualTo(2);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, 6", "8, 10"})
    void resumedAnswer_endsWhereItWouldHave(int minTokens, int numTokens) {
        cluster.numReplicas = 2;
        plan(RESUME, at(12, new Fault.Crash(0)));
        var sampling = new SamplingParams(10, minTokens, false, IntSets.EMPTY_SET, false);
        var output = new OutputPlan(new SyntheticTokens(-1), 6);
        var prompt = new Prompt(SegmentedTokens.EMPTY.append(0, 10));

        var run = cluster.run(workload(RequestBuilder.builder()
                .id(0)
                .name("")
                .arrivalNanos(0)
                .prompt(prompt)
                .sampling(sampling)
                .priority(0)
                .tenant("")
                .output(output)
                .build()));

        // The end-of-sequence token is the sixth; with 8 tokens at least it is passed over, and the limit is 10.
        assertThat(byId(run, 0).numOutputTokens()).isEqualTo(numTokens);
    }

    @Test
    void resumedAnswer_isCutWhereItWouldHaveBeen() {
        cluster.numReplicas = 2;
        plan(RESUME, at(0, new Fault.CutStreams(Fault.ALL_REPLICAS, 1, 5)), at(12, new Fault.Crash(0)));

        var run = cluster.run(workload(request(0, MILLI, 10, 20)));

        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(byId(run, 0).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 0).numOutputTokens()).isEqualTo(5);
    }

    @Test
    void resumedStream_hasEachTokenOnceAndOneEnd() {
        var client = kit.createInbox(RequestEvent.class);
        var router = router(2);
        router.tell(new Router.Submit(request(7, 0, 20, 6), client.ref(), true));
        kit.advance(Duration.ofMillis(12));
        router.tell(new Router.TakeDown(0, new Replica.Crash(RESUME)));
        kit.advance(Duration.ofSeconds(1));

        assertThat(client.messages())
                .containsExactly(
                        new RequestEvent.Admitted(7, 0),
                        new RequestEvent.Token(7, 1, 5 * MILLI),
                        new RequestEvent.Token(7, 2, 10 * MILLI),
                        new RequestEvent.Admitted(7, 1),
                        new RequestEvent.Token(7, 3, 17 * MILLI),
                        new RequestEvent.Token(7, 4, 22 * MILLI),
                        new RequestEvent.Token(7, 5, 27 * MILLI),
                        new RequestEvent.Token(7, 6, 32 * MILLI),
                        new RequestEvent.Finished(
                                7, FinishReason.LENGTH, 0, 6, 32 * MILLI, new RequestEvent.Timing(1, 0, 0, 5 * MILLI)));
    }

    @Test
    void resumedStreamWithoutAnyReplica_failsBehindItsLastToken() {
        var client = kit.createInbox(RequestEvent.class);
        var router = router(1);
        router.tell(new Router.Submit(request(7, 0, 20, 6), client.ref(), true));
        kit.advance(Duration.ofMillis(12));
        router.tell(new Router.TakeDown(0, new Replica.Crash(RESUME)));
        kit.advance(Duration.ofSeconds(1));

        assertThat(failure(client).cause()).isEqualTo(RequestEvent.FailureCause.NO_REPLICA);
        assertThat(failure(client).numOutputTokens()).isEqualTo(2);
        assertThat(failure(client).timing().firstTokenNanos()).isEqualTo(5 * MILLI);
    }

    @Test
    void requestForOneReplica_failsWithIt() {
        var client = kit.createInbox(RequestEvent.class);
        var router = router(2);
        router.tell(new Router.Submit(request(7, 0, 20, 6), client.ref(), true, OptionalInt.of(0), RequestFault.NONE));
        kit.advance(Duration.ofMillis(12));
        router.tell(new Router.TakeDown(0, new Replica.Crash(RESUME)));
        kit.advance(Duration.ofSeconds(1));

        assertThat(failure(client).cause()).isEqualTo(RequestEvent.FailureCause.CRASH);
        assertThat(failure(client).timing().replicaIndex()).isZero();
    }

    private static RequestEvent.Failed failure(VirtualTimeTestKit.Inbox<RequestEvent> client) {
        return (RequestEvent.Failed) client.messages().get(client.messages().size() - 1);
    }

    @Test
    void resumedRequestThatIsTooLongForItsReplica_failsForTheCrash() {
        var client = kit.createInbox(RequestEvent.class);
        var router = router(1);
        var small = new ClusterFixture();
        small.maxModelLen = 25;
        router.tell(new Router.ReplicaUp(1, replica(1, router, small), ReplicaTraits.PLAIN));
        router.tell(new Router.Submit(request(7, 0, 20, 6), client.ref(), true));
        kit.advance(Duration.ofMillis(12));
        router.tell(new Router.TakeDown(0, new Replica.Crash(RESUME)));
        kit.advance(Duration.ofSeconds(1));

        assertThat(failure(client).cause()).isEqualTo(RequestEvent.FailureCause.CRASH);
        assertThat(failure(client).numOutputTokens()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 7})
    void abort_reachesAResumedRequestOnItsWay(long millisAfterCrash) {
        cluster.apiDelay = new ApiDelay(4 * MILLI, 0);
        var client = kit.createInbox(RequestEvent.class);
        var router = router(2);
        router.tell(new Router.Submit(request(7, 0, 20, 100), client.ref(), true));
        kit.advance(Duration.ofMillis(16));
        router.tell(new Router.TakeDown(0, new Replica.Crash(RESUME)));
        if (millisAfterCrash > 0) {
            kit.advance(Duration.ofMillis(millisAfterCrash));
        }
        router.tell(new Router.Abort(7));
        kit.advance(Duration.ofSeconds(1));

        // Two tokens at 9 and 14 ms. Replica 1 has the request from 16 ms on, in its queue from 20 ms on, runs it then.
        var ends = client.messages().stream()
                .filter(RequestEvent.Ended.class::isInstance)
                .toList();
        assertThat(ends)
                .containsExactly(new RequestEvent.Finished(
                        7,
                        FinishReason.ABORT,
                        0,
                        2,
                        14 * MILLI,
                        new RequestEvent.Timing(1, 4 * MILLI, 4 * MILLI, 9 * MILLI)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crashOfOneInFour_losesNothingAndAnswersNothingTwice(boolean isAsync) {
        cluster.isAsync = isAsync;
        cluster.numReplicas = 16;
        cluster.apiDelay = new ApiDelay(MILLI, 0);
        int fewestFailed = Integer.MAX_VALUE;
        for (var retries : List.of(CrashRetries.NONE, REROUTE, RESUME)) {
            plan(
                    retries,
                    IntStream.range(0, 4)
                            .mapToObj(i ->
                                    List.of(at(500, new Fault.Crash(4 * i)), at(700, new FleetChange.Restart(4 * i))))
                            .flatMap(List::stream)
                            .toArray(TimedChange[]::new));

            var run = cluster.run(busy());

            // Each of 1,600 ids ends once, and an answer that is complete has as many tokens as were asked for, at
            // different times.
            assertThat(requests(run).stream()
                            .mapToLong(RequestRecord::requestId)
                            .sorted())
                    .containsExactlyElementsOf(
                            LongStream.range(0, 1_600).boxed().toList());
            assertThat(requests(run)).allSatisfy(record -> hasTokens(record, 1 + record.requestId() % 50));
            assertThat(Invariants.check(run)).isEmpty();
            assertThat((int) RunReport.of(run).numFailed()).isLessThan(fewestFailed);
            fewestFailed = (int) RunReport.of(run).numFailed();
        }
        assertThat(fewestFailed).as("with resume").isZero();
    }

    @Test
    void preemptedRequests_countTheirPreemptionsOnAllReplicas() {
        cluster.numReplicas = 2;
        cluster.numBlocks = 40;
        plan(RESUME, at(600, new Fault.Crash(0)));

        var run = cluster.run(new ListWorkload(
                IntStream.range(0, 40).mapToObj(id -> request(id, 0, 60, 100)).toList()));

        // Checked by the law that requests and replicas count the same preemptions.
        assertThat(requests(run)).allSatisfy(record -> hasTokens(record, 100));
        assertThat(requests(run)).anyMatch(record -> record.numPreemptions() > 0 && record.replicaIndex() == 1);
        assertThat(Invariants.check(run)).isEmpty();
    }

    private static void hasTokens(RequestRecord record, long wanted) {
        if (record.outcome() == Outcome.COMPLETED) {
            assertThat(record.numOutputTokens()).isEqualTo((int) wanted);
        }
        assertThat(record.tokenNanos().toLongArray())
                .hasSize(record.numOutputTokens())
                .isSorted()
                .doesNotHaveDuplicates();
    }

    /** 1,600 requests in 1,067 ms, with 1 to 50 tokens each. */
    private static ListWorkload busy() {
        return new ListWorkload(IntStream.range(0, 1_600)
                .mapToObj(id -> request(id, id * 2L * MILLI / 3, 20 + id % 100, 1 + id % 50))
                .toList());
    }

    private ActorRef<Router.Command> router(int numReplicas) {
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var router = kit.spawn(RouterActor.create(kit.clock(), cluster.spec(null), metrics.ref(), null), "router");
        for (int i = 0; i < numReplicas; i++) {
            router.tell(new Router.ReplicaUp(i, replica(i, router, cluster), ReplicaTraits.PLAIN));
        }
        kit.settle();
        return router;
    }

    private ActorRef<Replica.Command> replica(int index, ActorRef<Router.Command> router, ClusterFixture kind) {
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var peers = ReplicaPeers.of(router, metrics.ref(), ClusterFixture.router(false));
        return kit.spawn(RunningReplica.create(kit.clock(), index, kind.replicaSpec(), peers), "replica-" + index);
    }

    private void plan(CrashRetries retries, TimedChange... changes) {
        cluster.faults = new FaultPlan(List.of(changes), retries, 0, new RandomStreams(1));
        assertThat(cluster.faults.refusal(cluster.numReplicas)).isEmpty();
    }

    private static TimedChange at(long millis, ClusterChange change) {
        return new TimedChange(millis * MILLI, change);
    }

    private static long[] millis(long... times) {
        return Arrays.stream(times).map(time -> time * MILLI).toArray();
    }

    private static RequestRecord byId(RunRecord run, long id) {
        return requests(run).stream()
                .filter(record -> record.requestId() == id)
                .findFirst()
                .orElseThrow();
    }
}

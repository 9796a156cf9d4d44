package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static understudy.cluster.ClusterFixture.requests;
import static understudy.cluster.ClusterFixture.workload;
import static understudy.cluster.ListWorkload.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.engine.Request;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TransferJob;
import understudy.latency.ApiDelay;
import understudy.prompt.SegmentedTokens;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.policy.LoadBalance;
import understudy.routing.policy.PrefixAware;
import understudy.workload.Distribution;
import understudy.workload.Gaps;
import understudy.workload.GeneratedWorkload;
import understudy.workload.GeneratedWorkloadOptionsBuilder;
import understudy.workload.OutputLimit;
import understudy.workload.PrefixGroups;
import understudy.workload.RandomStreams;
import understudy.workload.RequestRate;
import understudy.workload.WholeNumbers;
import understudy.workload.Workload;
import understudy.workload.files.TraceException;

/** Whole clusters; a step takes 5 ms unless a test says otherwise. */
final class ClusterInVirtualTimeTest {
    private static final long MILLI = 1_000_000;

    private final ClusterFixture cluster = new ClusterFixture();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneRequest_takesOneStepPerToken(boolean isAsync) {
        cluster.isAsync = isAsync;
        cluster.apiDelay = new ApiDelay(3 * MILLI, 10_000);

        var run = cluster.run(workload(request(0, 10 * MILLI, 100, 4)));

        // Queued 3 ms and 100 tokens of 10 us after its arrival at 10 ms, admitted at once; tokens after 1, 2, 3 and 4
        // steps of 5 ms.
        var only = requests(run).get(0);
        assertThat(only.queuedNanos()).isEqualTo(14 * MILLI);
        assertThat(only.scheduledNanos()).isEqualTo(14 * MILLI);
        assertThat(only.tokenNanos().toLongArray()).containsExactly(19 * MILLI, 24 * MILLI, 29 * MILLI, 34 * MILLI);
        assertThat(only.firstTokenNanos()).isEqualTo(19 * MILLI);
        assertThat(only.lastTokenNanos()).isEqualTo(34 * MILLI);
        assertThat(run.endNanos()).isEqualTo(34 * MILLI);
        assertThat(Invariants.check(run)).isEmpty();
    }

    /**
     * 1,000 tokens of 10 us, from 0 to 10 ms; of those that come meanwhile one has 3 ms and one adds 0.1302 of its 2 ms. Behind
     * that come 3 ms for each.
     */
    @Test
    void promptsThatComeMeanwhile_areTokenizedTogether() {
        cluster.apiDelay = new ApiDelay(3 * MILLI, 10_000);

        var run = cluster.run(
                workload(request(0, 0, 1_000, 1), request(1, 4 * MILLI, 300, 1), request(2, 6 * MILLI, 200, 1)));

        assertThat(byId(run, 0).queuedNanos()).isEqualTo(13 * MILLI);
        assertThat(byId(run, 1).queuedNanos()).isEqualTo(16 * MILLI);
        assertThat(byId(run, 2).queuedNanos()).isEqualTo(16 * MILLI + 260_436);
    }

    @Test
    void sync_admitsAnArrivalWhenTheRunningStepEnds() {
        var run = cluster.run(workload(request(0, 0, 10, 10), request(1, 12 * MILLI, 10, 1)));

        // Steps begin at 0, 5, 10, 15 ms; the arrival at 12 ms is in the one from 15 to 20 ms.
        assertThat(byId(run, 1).scheduledNanos()).isEqualTo(15 * MILLI);
        assertThat(byId(run, 1).firstTokenNanos()).isEqualTo(20 * MILLI);
    }

    @Test
    void async_hasFixedTheNextStepAlready() {
        cluster.isAsync = true;

        var run = cluster.run(workload(request(0, 0, 10, 10), request(1, 12 * MILLI, 10, 1)));

        // At 12 ms the steps from 10 and from 15 ms are fixed. The one from 20 ms is planned at 15 ms.
        assertThat(byId(run, 1).scheduledNanos()).isEqualTo(15 * MILLI);
        assertThat(byId(run, 1).firstTokenNanos()).isEqualTo(25 * MILLI);
    }

    @Test
    void arrivalsOfOneInstant_areInOneStep() {
        var run = cluster.run(workload(request(0, 0, 10, 2), request(1, 0, 10, 2), request(2, 0, 10, 2)));

        assertThat(requests(run))
                .allSatisfy(r -> assertThat(r.firstTokenNanos()).isEqualTo(5 * MILLI));
        assertThat(run.replicas().get(0).stats().numSteps()).isEqualTo(2);
    }

    @Test
    void longPrompt_isComputedInChunks() {
        var run = cluster.run(workload(request(0, 0, 5_000, 1)));

        // 2048 + 2048 + 904 tokens: three steps.
        assertThat(byId(run, 0).firstTokenNanos()).isEqualTo(15 * MILLI);
        assertThat(run.replicas().get(0).stats().numPrefillTokens()).isEqualTo(5_000);
    }

    @Test
    void equalPromptsOfOneInstant_areComputedOnce() {
        var prompt = SegmentedTokens.EMPTY.append(7, 100);

        var run = cluster.run(workload(request(0, 0, prompt, 1), request(1, 0, prompt, 1)));

        // The second one hits the 6 full blocks of the first one's 100 tokens, and computes 4.
        assertThat(byId(run, 0).numCachedTokens()).isZero();
        assertThat(byId(run, 1).numCachedTokens()).isEqualTo(96);
        assertThat(run.replicas().get(0).stats().numPrefillTokens()).isEqualTo(104);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withoutSharingWithinAStep_equalPromptsAreComputedUntilAResultIsThere(boolean isAsync) {
        cluster.sharesWithinStep = false;
        cluster.isAsync = isAsync;
        var prompt = SegmentedTokens.EMPTY.append(7, 100);

        var run = cluster.run(
                workload(request(0, 0, prompt, 60), request(1, 0, prompt, 60), request(2, 11 * MILLI, prompt, 1)));

        // The first two compute all of their 100 tokens; the third one comes after the first results, and hits 6
        // blocks.
        assertThat(byId(run, 0).numCachedTokens()).isZero();
        assertThat(byId(run, 1).numCachedTokens()).isZero();
        assertThat(byId(run, 2).numCachedTokens()).isEqualTo(96);
        assertThat(run.replicas().get(0).stats().numPrefillTokens()).isEqualTo(204);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void withoutSharingWithinAStep_stepsInFlightDoNotCount() {
        cluster.sharesWithinStep = false;
        cluster.isAsync = true;
        var prompt = SegmentedTokens.EMPTY.append(7, 4_000);

        var run = cluster.run(workload(request(0, 0, prompt, 5), request(1, 4 * MILLI, prompt, 1)));

        // At 5 ms the first chunk of 2048 tokens has run, and the second one, planned at 0 ms, begins to.
        assertThat(byId(run, 1).scheduledNanos()).isEqualTo(5 * MILLI);
        assertThat(byId(run, 1).numCachedTokens()).isEqualTo(2_048);
    }

    @Test
    void withoutSharingWithinAStep_chunksAndAnswersAreFoundToo() {
        cluster.sharesWithinStep = false;
        var prompt = SegmentedTokens.EMPTY.append(7, 4_000);
        // The answer of 33 tokens, of which the last one is never computed: 4,032 tokens in the cache, 252 blocks.
        var followUp = prompt.append(-1, 33).append(8, 10);

        var run = cluster.run(workload(request(0, 0, prompt, 33), request(1, 1_000 * MILLI, followUp, 1)));

        assertThat(byId(run, 1).numCachedTokens()).isEqualTo(4_032);
    }

    @Test
    void fullCache_preemptsAndEverythingStillEnds() {
        cluster.numBlocks = 64;
        cluster.maxModelLen = 1_000;
        var many = new ArrayList<Request>();
        for (int id = 0; id < 40; id++) {
            many.add(request(id, id * MILLI, 100 + id, 120));
        }

        var run = cluster.run(new ListWorkload(many));

        var report = RunReport.of(run);
        assertThat(report.numCompleted()).isEqualTo(40);
        assertThat(report.totalOutputTokens()).isEqualTo(40 * 120);
        assertThat(report.numPreemptions()).isPositive();
        assertThat(requests(run).stream()
                        .mapToInt(RequestRecord::numPreemptions)
                        .sum())
                .isEqualTo((int) report.numPreemptions());
        assertThat(report.itl().count())
                .as("every token but the first of each request")
                .isEqualTo(40 * 119);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void requestThatNeverFits_isRejectedAndTheRunGoesOn() {
        var run = cluster.run(workload(request(0, 0, 19_999, 2), request(1, 0, 10, 1)));

        assertThat(byId(run, 0).outcome()).isEqualTo(Outcome.REJECTED);
        assertThat(byId(run, 1).outcome()).isEqualTo(Outcome.COMPLETED);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void workloadWithoutRequests_ends() {
        var run = cluster.run(workload());

        assertThat(run.requests().size()).isZero();
        assertThat(RunReport.of(run).requestThroughput()).isZero();
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void prefixAwareRouting_hitsMoreThanRoundRobin() {
        cluster.numReplicas = 4;
        var roundRobin = RunReport.of(cluster.run(chat(1)));

        cluster.routing = prefixAware();
        var run = cluster.run(chat(1));
        var prefixAware = RunReport.of(run);

        assertThat(prefixAware.prefixCache().queries())
                .isEqualTo(roundRobin.prefixCache().queries());
        assertThat(prefixAware.prefixCache().hits())
                .isGreaterThan(roundRobin.prefixCache().hits());
        assertThat(Invariants.check(run)).isEmpty();
    }

    /**
     * The first step ends at 5 ms, and its event is known later by the delay. Request 1 evens out how much the replicas have
     * been used, so that request 2 goes to replica 0 and keeps it busier until 520 ms. 200 tokens are 12 full blocks, or 192
     * tokens.
     */
    @ParameterizedTest
    @CsvSource({"50, 0, 192", "200, 1, 0"})
    void cachedPrefix_drawsARequestToABusierReplica_onceItsEventIsKnown(int delayMillis, int replica, int numCached) {
        cluster.numReplicas = 2;
        cluster.routing = prefixAware();
        cluster.wire = ClusterFixture.late(Duration.ofMillis(delayMillis));
        var prompt = SegmentedTokens.EMPTY.append(7, 200);

        var run = cluster.run(workload(
                request(0, 0, prompt, 1),
                request(1, 10 * MILLI, 20, 1),
                request(2, 20 * MILLI, 20, 100),
                request(3, 100 * MILLI, prompt, 1)));

        assertThat(byId(run, 0).replicaIndex()).isEqualTo(0);
        assertThat(byId(run, 1).replicaIndex()).isEqualTo(1);
        assertThat(byId(run, 2).replicaIndex()).isEqualTo(0);
        assertThat(byId(run, 3).replicaIndex()).isEqualTo(replica);
        assertThat(byId(run, 3).numCachedTokens()).isEqualTo(numCached);
    }

    /** 1,000 tokens are 62 full blocks of 16; two equal prompts of one step are computed twice if nothing is shared in it. */
    @ParameterizedTest
    @CsvSource({"false, 124", "true, 62"})
    void fullBlock_givesWayToAnEqualOne_ifItIsPromoted(boolean promotes, int numHashed) {
        cluster.sharesWithinStep = false;
        cluster.promotesFullBlocks = promotes;
        var prompt = SegmentedTokens.EMPTY.append(7, 1_000);

        var run = cluster.run(workload(request(0, 0, prompt, 1), request(1, 0, prompt, 1)));

        assertThat(run.replicas().get(0).kvCache().numHashed()).isEqualTo(numHashed);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void sameSeed_givesTheSameRun() {
        cluster.numReplicas = 3;
        cluster.isAsync = true;
        cluster.latency = batch -> 4 * MILLI + 20_000L * batch.numTokens() + 50 * batch.decodeKvTokens();

        assertThat(describe(cluster.run(chat(1)))).isEqualTo(describe(cluster.run(chat(1))));
        assertThat(describe(cluster.run(chat(1)))).isNotEqualTo(describe(cluster.run(chat(2))));
    }

    @Test
    void pacedRun_hasTheTokenTimesOfAJumpingOne() {
        cluster.numReplicas = 2;
        cluster.isAsync = true;
        cluster.latency = batch -> 4 * MILLI + 20_000L * batch.numTokens() + 50 * batch.decodeKvTokens();

        assertThat(describe(cluster.run(chat(1), 20))).isEqualTo(describe(cluster.run(chat(1))));
    }

    @Test
    void badTrace_endsTheRunWithItsMessage() {
        Workload broken = new ListWorkload(List.of(request(0, 0, 10, 1))) {
            private int numRead;

            @Override
            public Request next() {
                if (numRead++ == 1) {
                    throw new TraceException("trace.csv", 2, "is broken");
                }
                return super.next();
            }
        };

        assertThatThrownBy(() -> cluster.run(broken))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(TraceException.class)
                .hasMessageContaining("trace.csv:2: is broken");
    }

    @Test
    void failureDeepInside_endsTheRun() {
        cluster.latency = batch -> {
            throw new IllegalStateException("the device is on fire");
        };

        assertThatThrownBy(() -> cluster.run(workload(request(0, 0, 10, 1))))
                .hasRootCauseMessage("the device is on fire")
                .hasStackTraceContaining("replica 0 lost gpu");
    }

    /** A slower memory that does not recount to what it should. */
    @Test
    void memoryThatFailsItsAudit_endsTheRun() {
        var leaking = new ConnectorSpec() {
            @Override
            public KvConnector create(int blockSize, boolean enablePrefixCaching) {
                return new LeakingConnector();
            }

            @Override
            public boolean requiresKvDelivery() {
                return false;
            }

            @Override
            public boolean defersFrees() {
                return false;
            }

            @Override
            public Set<KvSource> sources() {
                return Set.of(KvSource.HOST);
            }

            @Override
            public boolean readsPlans() {
                return false;
            }
        };

        var plain = cluster.replicaSpec();
        var replica = ReplicaSpec.of(plain.engine().withConnector(leaking), KvBlockManagerActor::create, plain.device())
                .withTransfers(OffloadingFixture.transfers());

        assertThatThrownBy(() -> cluster.run(workload(request(0, 0, 10, 1)), replica))
                .hasRootCauseMessage("block conservation: a block is lost");
    }

    private static final class LeakingConnector implements KvConnector {
        @Override
        public ExternalMatch match(ConnectedRequest request, int numLocalTokens) {
            return ExternalMatch.NONE;
        }

        @Override
        public void onAllocated(ConnectedRequest request, int numLocalTokens, int numExternalTokens) {}

        @Override
        public boolean onEnded(ConnectedRequest request, boolean isComplete) {
            return false;
        }

        @Override
        public List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens) {
            return List.of();
        }

        @Override
        public List<TransferJob> onJobEnded(long job, boolean isFailed) {
            return List.of();
        }

        @Override
        public void audit() {
            throw new IllegalStateException("block conservation: a block is lost");
        }
    }

    private RoutingPolicyFactory prefixAware() {
        return PrefixAware.factory(new PrefixAware.Options(0, new LoadBalance(64, 1.5)));
    }

    /** 300 requests of sessions with two to four turns, in five groups. */
    private GeneratedWorkload chat(long seed) {
        var options = GeneratedWorkloadOptionsBuilder.builder()
                .numRequests(300)
                .rate(RequestRate.constant(40))
                .gaps(Gaps.POISSON)
                .promptLengths(new WholeNumbers(new Distribution.Normal(60, 30), 1, 500))
                .outputLengths(new WholeNumbers(new Distribution.Normal(40, 20), 1, 500))
                .groups(new PrefixGroups.Options(5, WholeNumbers.fixed(200), 0, false))
                .turns(new WholeNumbers(new Distribution.Uniform(2, 4), 2, 4))
                .thinkTimeSeconds(new Distribution.Exponential(0.5))
                .numPriorities(1)
                .numTenants(1)
                .outputLimit(OutputLimit.MAX_TOKENS)
                .maxModelLen(cluster.maxModelLen)
                .build();
        return new GeneratedWorkload(options, new RandomStreams(seed));
    }

    private static RequestRecord byId(RunRecord run, long id) {
        return requests(run).stream()
                .filter(r -> r.requestId() == id)
                .findFirst()
                .orElseThrow();
    }

    /** Everything that a report could show, token times included. */
    private static String describe(RunRecord run) {
        return run.log().stepDigest() + " " + requests(run);
    }
}

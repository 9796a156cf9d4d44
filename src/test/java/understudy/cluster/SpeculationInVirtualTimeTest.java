package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.cluster.ClusterFixture.requests;
import static understudy.cluster.ClusterFixture.workload;
import static understudy.cluster.ListWorkload.request;

import it.unimi.dsi.fastutil.doubles.DoubleList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.device.GpuModel;
import understudy.cluster.lockstep.EarlierStages;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.engine.Request;
import understudy.engine.speculation.AcceptanceRates;
import understudy.engine.speculation.DraftCounts;
import understudy.engine.speculation.SpeculationMethod;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.engine.vllm.VllmSpec;
import understudy.faults.CrashRetries;
import understudy.faults.Fault;
import understudy.faults.FaultPlan;
import understudy.faults.FaultPlan.TimedChange;
import understudy.kvcache.content.ContentConfig;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.workload.RandomStreams;

/** Replicas whose devices verify 3 drafts per request and step; a step takes 5 ms. */
final class SpeculationInVirtualTimeTest {
    private static final long MILLI = 1_000_000;

    private final ClusterFixture cluster = new ClusterFixture();
    private SpeculationMethod method = SpeculationMethod.EAGLE3;
    private AcceptanceRates rates = new AcceptanceRates(DoubleList.of(1, 1, 0));

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tokensComeInBursts(boolean isAsync) {
        cluster.isAsync = isAsync;

        var run = run(request(0, 0, 100, 9));

        // The prompt's step brings 1 token, each one after it 2 accepted drafts and the token behind them, and the last
        // one
        // only the ninth token.
        var only = requests(run).get(0);
        assertThat(only.tokenNanos().longStream().map(nanos -> nanos / MILLI))
                .containsExactly(5L, 10L, 10L, 10L, 15L, 15L, 15L, 20L, 20L);
        assertThat(stats(run)).isEqualTo(new DraftCounts(3, 9, LongList.of(3, 3, 0)));
        var report = RunReport.of(run);
        // Three gaps of 5 ms; 15 ms for the 8 tokens after the first.
        assertThat(report.itl().count()).isEqualTo(3);
        assertThat(report.itl().meanNanos()).isEqualTo(5.0 * MILLI);
        assertThat(report.tpot().meanNanos()).isEqualTo(15.0 * MILLI / 8);
        assertThat(report.totalOutputTokens()).isEqualTo(9);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void deviceComputesDraftsAsDecodes() {
        var run = run(request(0, 0, 100, 7));

        // 100 tokens of the prompt; two steps of one token and 3 drafts.
        var stats = run.replicas().get(0).stats();
        assertThat(stats.numPrefillTokens()).isEqualTo(100);
        assertThat(stats.numDecodeTokens()).isEqualTo(8);
        assertThat(stats.numSteps()).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource(value = SpeculationMethod.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void meanAcceptanceLength_isTheOneGiven(SpeculationMethod any) {
        method = any;
        rates = AcceptanceRates.ofLength(2.99, 3);
        cluster.isAsync = !any.isOnHost();

        var run = run(manyRequests());

        assertThat(stats(run).numDrafts()).isGreaterThan(2_000);
        assertThat(stats(run).meanAcceptanceLength()).isCloseTo(2.99, within(0.01 * 2.99));
        assertThat(RunReport.of(run).totalOutputTokens()).isEqualTo(50 * 200);
        assertThat(Invariants.check(run)).isEmpty();
    }

    /** 50 requests of up to 219 tokens on 60 blocks of 16: four or five of them at a time. */
    @Test
    void preemptedRequests_areAnsweredToo() {
        cluster.isAsync = true;
        cluster.numBlocks = 60;
        rates = AcceptanceRates.ofLength(2.5, 3);

        var run = run(manyRequests());

        assertThat(run.replicas().get(0).stats().numPreemptions()).isPositive();
        assertThat(RunReport.of(run).totalOutputTokens()).isEqualTo(50 * 200);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void cutAnswer_breaksOffBehindTheStepOfItsLastToken() {
        var cut = new TimedChange(0, new Fault.CutStreams(OptionalInt.of(0), 1, 3));
        cluster.faults = new FaultPlan(List.of(cut), CrashRetries.NONE, 0, new RandomStreams(1));

        var run = run(request(0, MILLI, 100, 9));

        // 1 and 3 tokens: the third one came with the fourth.
        var only = requests(run).get(0);
        assertThat(only.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(only.tokenNanos().size()).isEqualTo(4);
        assertThat(Invariants.check(run)).isEmpty();
    }

    @Test
    void equalRuns_areEqual() {
        rates = AcceptanceRates.ofLength(2.5, 3);

        long digest = RunReport.of(run(manyRequests())).stepDigest();

        assertThat(RunReport.of(run(manyRequests())).stepDigest()).isEqualTo(digest);
    }

    private static Request[] manyRequests() {
        return IntStream.range(0, 50)
                .mapToObj(i -> request(i, i * MILLI, 10 + i % 10, 200))
                .toArray(Request[]::new);
    }

    private RunRecord run(Request... requests) {
        var plain = cluster.replicaSpec();
        var engine = (VllmSpec) plain.engine();
        var config = method.config(3);
        var scheduler = engine.scheduler().withSpeculation(config);
        var kvCache = ((ContentConfig) engine.kvCache()).withDropsLastHit(config.usesEagle());
        var drafts = new SyntheticDrafts.Spec(3, 1, rates);
        var device = new GpuModel(cluster.latency, 0, drafts, new RandomStreams(1), 1, EarlierStages.NONE);
        return cluster.run(
                workload(requests),
                ReplicaSpec.of(new VllmSpec(scheduler, plain.limits(), kvCache), KvBlockManagerActor::create, device)
                        .withKeepsTokenTimes(true));
    }

    private static DraftCounts stats(RunRecord run) {
        return run.replicas().get(0).stats().drafts();
    }
}

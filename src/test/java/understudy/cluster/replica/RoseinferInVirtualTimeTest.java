package understudy.cluster.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ClusterFixture.requests;
import static understudy.cluster.ListWorkload.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterFixture;
import understudy.cluster.ListWorkload;
import understudy.cluster.MetricsCollector;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.cluster.device.GpuModel;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.engine.roseinfer.RoseinferConfig;
import understudy.engine.roseinfer.RoseinferConfig.PrefillMode;
import understudy.engine.roseinfer.RoseinferSpec;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.content.PromptConfig;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.latency.LinearLatency;
import understudy.prompt.SegmentedTokens;
import understudy.report.Invariants;
import understudy.report.ReplicaStats;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.routing.policy.RoundRobin;
import understudy.testkit.VirtualTimeTestKit;

/** roseinfer's engine through the actors. A forward takes 10 ms and 1 ms per token. */
final class RoseinferInVirtualTimeTest {
    private static final long MILLI = 1_000_000;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final ClusterFixture cluster = new ClusterFixture();
    private PrefillMode prefill = PrefillMode.BATCHED;
    private boolean dedups = true;

    @Test
    void equalPromptsOfOneInstant_areOnePrefillOnTheDevice() {
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var client = kit.createInbox(RequestEvent.class);
        var replica = replica(metrics);
        for (int id = 0; id < 3; id++) {
            replica.tell(new Replica.AddRequest(same(id, 1), client.ref(), true));
        }

        kit.advance(Duration.ofSeconds(1));

        // One forward of 3 tokens for three first tokens: 10 + 3 ms.
        var step = onlyStep(metrics);
        assertThat(step.numTokens()).isEqualTo(3);
        assertThat(step.numSampled()).isEqualTo(3);
        assertThat(step.endNanos()).isEqualTo(13 * MILLI);
        assertThat(client.messages())
                .filteredOn(RequestEvent.Token.class::isInstance)
                .extracting(RequestEvent::requestId)
                .containsExactly(0L, 1L, 2L);
    }

    @Test
    void differentPromptsOfOneInstant_areOnePrefillOnTheDevice() {
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var client = kit.createInbox(RequestEvent.class);
        var replica = replica(metrics);
        int[] lengths = {3, 4, 2};
        for (int id = 0; id < 3; id++) {
            replica.tell(new Replica.AddRequest(request(id, 0, lengths[id], 1), client.ref(), false));
        }

        kit.advance(Duration.ofSeconds(1));

        var step = onlyStep(metrics);
        assertThat(step.numTokens()).isEqualTo(9);
        assertThat(step.numSampled()).isEqualTo(3);
    }

    private static ClusterEvent.StepEnded onlyStep(VirtualTimeTestKit.Inbox<MetricsCollector.Command> metrics) {
        assertThat(metrics.messages()).singleElement().isInstanceOf(MetricsCollector.Happened.class);
        return (ClusterEvent.StepEnded)
                ((MetricsCollector.Happened) metrics.messages().get(0)).event();
    }

    @Test
    void burstOfEqualPrompts_isOneForwardPerBatchAtMostAndFasterThanWithoutDedup() {
        var deduplicated = run(burst());
        dedups = false;
        var computed = run(burst());

        // 16 equal prompts in two batches of 8, single tokens: the first batch computes 3 tokens, or 8 * 3 without
        // dedup;
        // the second one finds everything, in both cases, and needs no forward.
        assertThat(stats(deduplicated).numSteps()).isEqualTo(1);
        assertThat(stats(deduplicated).numPrefillTokens()).isEqualTo(3);
        assertThat(stats(deduplicated).prefixCache().hits()).isEqualTo(15 * 3);
        assertThat(stats(computed).numSteps()).isEqualTo(1);
        assertThat(stats(computed).numPrefillTokens()).isEqualTo(24);
        assertThat(RunReport.of(deduplicated).ttft().p99Nanos()).isEqualTo(13 * MILLI);
        assertThat(RunReport.of(computed).ttft().p99Nanos()).isEqualTo(34 * MILLI);
    }

    @Test
    void batchesOfDifferentPrompts_areOneForwardEach() {
        var many = new ArrayList<Request>();
        for (int id = 0; id < 32; id++) {
            many.add(request(id, 0, SegmentedTokens.EMPTY.append(100 + id / 8, 5), 1));
        }

        var run = run(many);

        // Four batches of eight equal prompts: four forwards of 5 tokens, 15 ms each.
        assertThat(stats(run).numSteps()).isEqualTo(4);
        assertThat(stats(run).numPrefillTokens()).isEqualTo(20);
        assertThat(run.endNanos()).isEqualTo(60 * MILLI);
    }

    @Test
    void serialPrefill_delaysEveryFirstTokenOfTheRound() {
        prefill = PrefillMode.SERIAL;

        var run = run(List.of(request(0, 0, 5, 2), request(1, 0, 5, 2)));

        // Two forwards of 15 ms, then one decode step of two tokens: 12 ms.
        assertThat(requests(run)).allSatisfy(r -> {
            assertThat(r.firstTokenNanos()).isEqualTo(30 * MILLI);
            assertThat(r.lastTokenNanos()).isEqualTo(42 * MILLI);
        });
        assertThat(stats(run).numSteps()).isEqualTo(3);
    }

    @Test
    void cachedPrompt_getsItsFirstTokenAtOnce() {
        var run = run(List.of(same(0, 1), same(1, 100 * MILLI, 2)));

        // The second one comes to an idle engine: first token at its arrival, then a decode step of one token.
        var second = requests(run).get(1);
        assertThat(second.numCachedTokens()).isEqualTo(3);
        assertThat(second.ttftNanos()).isZero();
        assertThat(second.lastTokenNanos()).isEqualTo(111 * MILLI);
    }

    @Test
    void mixedArrivals_allEndAndGiveTheSameRunAgain() {
        var many = new ArrayList<Request>();
        for (int id = 0; id < 200; id++) {
            many.add(request(id, id * 3L * MILLI, SegmentedTokens.EMPTY.append(id % 7, 3 + id % 7), 1 + id % 9));
        }
        cluster.numReplicas = 3;

        var run = run(many);

        assertThat(RunReport.of(run).numCompleted()).isEqualTo(200);
        cluster.routing = RoundRobin.FACTORY;
        assertThat(run(again(many)).log().stepDigest()).isEqualTo(run.log().stepDigest());
    }

    /** The same requests once more; an answer can be sampled once only. */
    private static List<Request> again(List<Request> requests) {
        return requests.stream()
                .map(r -> request(
                        r.id(), r.arrivalNanos(), (SegmentedTokens) r.prompt().tokens(), r.maxTokens()))
                .toList();
    }

    private static List<Request> burst() {
        var burst = new ArrayList<Request>();
        for (int id = 0; id < 16; id++) {
            burst.add(same(id, 1));
        }
        return burst;
    }

    private static Request same(long id, int outputTokens) {
        return same(id, 0, outputTokens);
    }

    private static Request same(long id, long arrivalNanos, int outputTokens) {
        return request(id, arrivalNanos, SegmentedTokens.EMPTY.append(7, 3), outputTokens);
    }

    private RunRecord run(List<Request> requests) {
        var run = cluster.run(new ListWorkload(requests), spec());
        assertThat(Invariants.check(run)).isEmpty();
        return run;
    }

    private static ReplicaStats stats(RunRecord run) {
        return run.replicas().get(0).stats();
    }

    private ActorRef<Replica.Command> replica(VirtualTimeTestKit.Inbox<MetricsCollector.Command> metrics) {
        var router = kit.createInbox(Router.Command.class);
        var peers = ReplicaPeers.of(router.ref(), metrics.ref(), ClusterFixture.router(false));
        return kit.spawn(RunningReplica.create(kit.clock(), 0, spec(), peers), "replica");
    }

    private ReplicaSpec spec() {
        var blocks = KvBlocks.of(cluster.hasher, 1_000).withMaxModelLen(1_000);
        var kvCache = new PromptConfig(blocks, FreeBlocks.VLLM, dedups);
        return ReplicaSpec.of(
                new RoseinferSpec(
                        new RoseinferConfig(8, prefill), new RequestLimits(1_000, kvCache.maxTokens()), kvCache),
                KvBlockManagerActor::create,
                GpuModel.of(new LinearLatency(10 * MILLI, MILLI, 0, 0)));
    }
}

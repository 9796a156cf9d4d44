package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.engine.EngineCore;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.engine.StepPlan;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.connector.TransferJob;
import understudy.kvcache.content.ConnectedKvCacheManager;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.kvcache.tier.OffloadingSpec;
import understudy.kvcache.tier.TierSpec;
import understudy.prompt.Xxh3BlockHasher;

/** What an engine owes to a memory with a connector; blocks have 16 tokens. */
final class ConnectedEngineTest {
    private static final ContentConfig PLAIN = ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(16), 100));

    @Test
    void lastRequestThatEnds_isFollowedByOnePlan_withWhichTheRestOfItIsStored() {
        var memory = new ConnectedKvCacheManager(offloading(false));
        var engine = engine(offloading(false));
        // 31 tokens fill one block, which is stored at once; with the answer of one token they fill two.
        engine.add(request(31), 0);
        plan(engine, memory);
        assertThat(sizes(memory.connected().takeJobs())).containsExactly(1);
        memory.settle(engine.update(1).toSettle());

        assertThat(engine.canPlan()).isTrue();
        assertThat(plan(engine, memory).isEmpty()).isTrue();
        assertThat(sizes(memory.connected().takeJobs())).containsExactly(1);
        engine.wake();
        assertThat(engine.canPlan()).as("the memory has heard of everything").isFalse();
    }

    /** A queue by longest prefix looks up requests whose admission nobody asks for; the connector knows nothing of them. */
    @Test
    void lookedUpRequest_thatIsAborted_isNotTakenForAnother() {
        var memory = new ConnectedKvCacheManager(offloading(false));
        var engine = engine(offloading(false));
        engine.add(EngineFixture.request(0, EngineFixture.filled(10, 1), 3, 0, OutputPlan.ENDLESS), 0);
        plan(engine, memory);
        var other = EngineFixture.request(1, EngineFixture.filled(31, 2), 1, 0, OutputPlan.ENDLESS);
        memory.match(List.of(new PrefixLookup(7, other.prompt(), other.output().tokens(), 31, true)));

        memory.abort(1, null, 7, 0);

        memory.settle(engine.update(1).toSettle());
        plan(engine, memory);
        memory.settle(engine.update(1).toSettle());
        assertThat(plan(engine, memory).isEmpty())
                .as("the connector still knows the request that runs")
                .isFalse();
    }

    @Test
    void endOfAStep_isToldToAMemoryWhoseBlocksWaitForIt() {
        var memory = new ConnectedKvCacheManager(offloading(true));
        var engine = engine(offloading(true));
        engine.add(request(20), 0);
        plan(engine, memory);
        var aborted = engine.engine().abort(0);
        memory.free(aborted.handle(), aborted.lastStep());
        // 20 tokens are in two blocks.
        assertThat(memory.connected().numDeferredBlocks()).isEqualTo(2);

        memory.settle(engine.update(1).toSettle());

        assertThat(memory.connected().numDeferredBlocks()).isZero();
    }

    /**
     * Of two steps in flight the second has nothing for the request, which has all its tokens with the first; its blocks
     * wait for the second, too, as vLLM's fence is the newest step that computes.
     */
    @Test
    void abortedRequest_keepsItsBlocks_untilTheNewestStepIsOver() {
        var memory = new ConnectedKvCacheManager(offloading(true));
        var engine = new EngineCore(
                new VllmSpec(SchedulerConfig.VLLM.withAsyncScheduling(true), RequestLimits.NONE, offloading(true)));
        engine.add(EngineFixture.request(0, EngineFixture.filled(20, 1), 1, 0, OutputPlan.ENDLESS), 0);
        engine.add(EngineFixture.request(1, EngineFixture.filled(20, 2), 3, 0, OutputPlan.ENDLESS), 0);
        assertThat(plan(engine, memory).size()).isEqualTo(2);
        assertThat(plan(engine, memory).size()).isEqualTo(1);
        var aborted = engine.engine().abort(0);
        memory.free(aborted.handle(), aborted.lastStep());
        assertThat(memory.connected().numDeferredBlocks()).isEqualTo(2);

        memory.settle(engine.update(1).toSettle());
        assertThat(memory.connected().numDeferredBlocks()).isEqualTo(2);

        memory.settle(engine.update(2).toSettle());
        assertThat(memory.connected().numDeferredBlocks()).isZero();
    }

    /** The first token ends the answer, when the step for the second one is in flight already. */
    @Test
    void blocksOfAnAnswerThatEndsAheadOfItsLastStep_waitForThat() {
        var memory = new ConnectedKvCacheManager(offloading(true));
        var engine = new EngineCore(
                new VllmSpec(SchedulerConfig.VLLM.withAsyncScheduling(true), RequestLimits.NONE, offloading(true)));
        engine.add(EngineFixture.request(0, EngineFixture.filled(20, 1), 5, 0, 1), 0);
        plan(engine, memory);
        plan(engine, memory);

        memory.settle(engine.update(1).toSettle());
        // 20 tokens are in two blocks.
        assertThat(memory.connected().numDeferredBlocks()).isEqualTo(2);

        memory.settle(engine.update(2).toSettle());
        assertThat(memory.connected().numDeferredBlocks()).isZero();
    }

    @Test
    void endOfAStep_isNothingToAMemoryWithoutAConnector() {
        var memory = new KvCacheManager(PLAIN);
        var engine = engine(PLAIN);
        engine.add(request(20), 0);
        plan(engine, memory);
        engine.engine().abort(0);

        assertThat(engine.update(1).toSettle()).isNull();
    }

    private static List<Integer> sizes(List<TransferJob> jobs) {
        return jobs.stream().map(job -> job.gpuBlocks().size()).toList();
    }

    private static ContentConfig offloading(boolean defersFrees) {
        return PLAIN.withConnector(new OffloadingSpec(TierSpec.of(10), 1, false, defersFrees, false, 0));
    }

    private static EngineCore engine(ContentConfig kvCache) {
        return new EngineCore(
                new VllmSpec(SchedulerConfig.VLLM.withAsyncScheduling(false), RequestLimits.NONE, kvCache));
    }

    private static Request request(int numTokens) {
        return EngineFixture.request(0, EngineFixture.filled(numTokens, 1), 1, 0, OutputPlan.ENDLESS);
    }

    private static StepPlan plan(EngineCore engine, KvCache memory) {
        assertThat(engine.beginPlan(0)).isTrue();
        for (var ask = engine.engine().next();
                ask != null;
                ask = engine.engine().next()) {
            engine.engine().answer(memory.answer(ask));
        }
        return engine.endPlan(0);
    }
}

package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.engine.EngineCore;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.engine.StepPlan;
import understudy.kvcache.Admission;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.NixlSpec;
import understudy.kvcache.content.ContentConfig;
import understudy.prompt.Xxh3BlockHasher;

/** Requests whose KV is on its way, before a memory that answers what the test says; blocks have 16 tokens. */
final class KvLoadsTest {
    private static final ExternalMatch FOUND = new ExternalMatch(32, true, KvSource.PEER);

    private final EngineCore engine = new EngineCore(new VllmSpec(
            SchedulerConfig.VLLM.withAsyncScheduling(false),
            RequestLimits.NONE,
            ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(16), 100)).withConnector(new NixlSpec(true, false))));

    /** Requests that the memory was asked to admit in the plan before. */
    private final List<Long> asked = new ArrayList<>();

    /** Reserved blocks that the memory was told of with the last question. */
    private int numReservedBlocks;

    /** The memory's answer, but for requests that have their own. */
    private Admission answer = loading();

    private final Map<Long, Admission> answers = new HashMap<>();

    private static Admission loading() {
        return new Admission.Loading(32, FOUND, PrefixCacheEvents.NONE);
    }

    private static Request request(long id, int numTokens) {
        return EngineFixture.request(id, EngineFixture.filled(numTokens, 1), 5, 0, OutputPlan.ENDLESS);
    }

    private StepPlan plan() {
        assertThat(engine.beginPlan(0)).isTrue();
        answerAll();
        return engine.endPlan(0);
    }

    private void answerAll() {
        asked.clear();
        for (var ask = engine.engine().next();
                ask != null;
                ask = engine.engine().next()) {
            engine.engine().answer(answered(ask));
        }
    }

    private KvAnswer answered(KvAsk ask) {
        if (ask instanceof KvAsk.Admit admit) {
            asked.add(admit.request().load().requestId());
            numReservedBlocks = admit.request().load().numReservedBlocks();
            return new KvAnswer.Admitted(
                    answers.getOrDefault(admit.request().load().requestId(), answer), 0);
        }
        return new KvAnswer.Reserved(
                ask instanceof KvAsk.Reserve reserve ? reserve.reservation().size() : 0, 0);
    }

    @Test
    void engineIsParked_untilKvArrives() {
        engine.add(request(0, 40), 0);
        assertThat(plan().isEmpty()).isTrue();
        assertThat(engine.canPlan()).as("nothing can be planned").isFalse();

        engine.onKvArrived(LongList.of(0));

        assertThat(engine.canPlan()).isTrue();
        answer = new Admission.Admitted(32, 8, PrefixCacheEvents.NONE);
        assertThat(EngineFixture.scheduled(plan())).containsEntry(0L, 8);
    }

    /** The KV comes between the question and the end of the plan, which finds nothing to do. */
    @Test
    void kvThatArrivesDuringAPlan_wakesTheEngine() {
        engine.add(request(0, 40), 0);
        plan();
        engine.wake();
        assertThat(engine.beginPlan(0)).isTrue();
        answerAll();

        engine.onKvArrived(LongList.of(0));

        assertThat(engine.endPlan(0).isEmpty()).isTrue();
        assertThat(engine.canPlan()).as("it has been woken meanwhile").isTrue();
    }

    /**
     * The loads of two requests of 100 tokens have failed while nothing runs: each would need 7 blocks, but neither
     * reserves any from the other.
     */
    @Test
    void failedLoads_reserveNothingWhileNothingRuns() {
        engine.add(request(0, 100), 0);
        engine.add(request(1, 100), 0);
        plan();
        // 5 more blocks for the first one, behind the 2 that it has.
        assertThat(numReservedBlocks).isEqualTo(5);
        failLoads(0, 1);

        answer = new Admission.Deferred();
        plan();

        assertThat(asked).containsExactly(0L, 1L);
        assertThat(numReservedBlocks).isZero();
    }

    /** With a third request that runs, they reserve what they did: 7 blocks each. */
    @Test
    void failedLoads_reserveTheirBlocksWhileOthersRun() {
        engine.add(request(0, 100), 0);
        engine.add(request(1, 100), 0);
        plan();
        answer = new Admission.Admitted(0, 10, PrefixCacheEvents.NONE);
        engine.add(request(2, 10), 0);
        var running = plan();
        failLoads(0, 1);
        engine.update(1);

        answer = new Admission.Deferred();
        plan();

        assertThat(running.size()).isEqualTo(1);
        assertThat(asked).containsExactly(0L, 1L);
        assertThat(numReservedBlocks).isEqualTo(14);
    }

    private void failLoads(long... requestIds) {
        for (long id : requestIds) {
            int block = 10 + (int) id;
            engine.onLoadFailed(id, IntList.of(block), IntList.of(block, 20 + block));
        }
        engine.onKvArrived(LongList.of(requestIds));
    }

    /**
     * The head is refused, since a request behind it, whose KV has come, holds the blocks: for 100 plans it blocks all others,
     * as in vLLM, then it is passed, and the loaded one is asked for.
     */
    @Test
    void loadedRequest_passesAHeadThatCannotBeAdmitted() {
        engine.add(request(0, 40), 0);
        engine.add(request(1, 40), 0);
        answers.put(0L, new Admission.Deferred());
        plan();
        engine.onKvArrived(LongList.of(1));
        answer = new Admission.Refused();
        answers.clear();

        for (int i = 0; i < 100; i++) {
            assertThat(plan().isEmpty()).isTrue();
            assertThat(asked).as("plan " + i).containsExactly(0L);
            assertThat(engine.canPlan()).as("it is worth while to plan again").isTrue();
        }
        plan();
        assertThat(asked).containsExactly(0L, 1L);
    }
}

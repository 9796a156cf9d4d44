package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.entry;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.engine.StepPlan;
import understudy.engine.vllm.queue.SchedulingPolicy;

/** Scenarios follow vLLM's own tests of its scheduler; blocks have 16 tokens. */
final class StepPlannerTest {
    private final EngineFixture engine = new EngineFixture();

    @Test
    void everythingThatFits_isScheduledInTheFirstStep() {
        for (int id = 0; id < 10; id++) {
            engine.add(id, 10);
        }

        assertThat(engine.step())
                .hasSize(10)
                .allSatisfy((id, tokens) -> assertThat(tokens).isEqualTo(10));
        assertThat(engine.planner().requests().numRunning()).isEqualTo(10);
        assertThat(engine.planner().requests().numWaiting()).isZero();
    }

    @Test
    void threshold_sharesTheBudgetAmongLongPrompts() {
        engine.maxNumBatchedTokens = 1024;
        engine.longPrefills = LongPrefillCap.of(400);
        for (int id = 0; id < 3; id++) {
            engine.add(id, 800);
        }

        // 400 + 400 leave 224 of 1024. After two steps 800, 800 and 448 tokens are computed; the first two decode.
        assertThat(engine.step()).containsExactly(entry(0L, 400), entry(1L, 400), entry(2L, 224));
        assertThat(engine.step()).containsExactly(entry(0L, 400), entry(1L, 400), entry(2L, 224));
        assertThat(engine.step()).containsExactly(entry(0L, 1), entry(1L, 1), entry(2L, 352));
    }

    @Test
    void withoutChunking_aPromptThatDoesNotFitBlocksThoseBehindIt() {
        engine.maxNumBatchedTokens = 1024;
        engine.chunks = false;
        engine.add(0, 800);
        engine.add(1, 800);
        engine.add(2, 10);

        assertThat(engine.step()).containsExactly(entry(0L, 800));
        assertThat(engine.planner().requests().numWaiting()).isEqualTo(2);
    }

    @Test
    void withChunking_thePromptIsCutToTheBudget() {
        engine.maxNumBatchedTokens = 1024;
        engine.maxNumSeqs = 3;
        engine.add(0, 800);
        engine.add(1, 800);
        engine.add(2, 10);

        assertThat(engine.step()).containsExactly(entry(0L, 800), entry(1L, 224));
        assertThat(engine.step()).containsExactly(entry(0L, 1), entry(1L, 576), entry(2L, 10));
    }

    @Test
    void maxNumSeqs_limitsTheRunningList() {
        engine.maxNumSeqs = 2;
        for (int id = 0; id < 5; id++) {
            engine.add(id, 10);
        }

        assertThat(engine.step()).containsOnlyKeys(0L, 1L);
        assertThat(engine.planner().requests().numWaiting()).isEqualTo(3);
    }

    /** The next request is admitted when one of the two has ended, with its first token. */
    @Test
    void maxNumActiveSeqs_limitsTheRunningListBelowThePlaces() {
        engine.maxNumActiveSeqs = 2;
        engine.add(0, 10, 1, 0);
        engine.add(1, 10);
        engine.add(2, 10);

        assertThat(engine.step()).containsOnlyKeys(0L, 1L);
        assertThat(engine.step()).containsExactly(entry(1L, 1), entry(2L, 10));
    }

    @Test
    void twoStepsInFlight_scheduleWhatIsKnown() {
        engine.maxNumBatchedTokens = 1024;
        engine.maxNumSeqs = 2;
        engine.add(0, 512);
        var first = engine.plan();
        engine.add(1, 512);
        var second = engine.plan();
        assertThat(EngineFixture.scheduled(first)).containsExactly(entry(0L, 512));
        assertThat(EngineFixture.scheduled(second)).containsExactly(entry(1L, 512));

        engine.update(first);
        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(0L, 1));
        engine.update(second);
        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(1L, 1));
    }

    @Test
    void fullCache_preemptsTheRequestAdmittedLast() {
        engine.maxNumBatchedTokens = 100;
        engine.numBlocks = 11;
        var first = engine.add(0, 79);
        engine.step();
        var second = engine.add(1, 80);
        // 80 tokens each fill all 10 usable blocks; with its 81st token request 0 needs one more.
        engine.step();

        var plan = engine.plan();

        assertThat(EngineFixture.ids(plan.preempted())).containsExactly(1L);
        assertThat(EngineFixture.scheduled(plan)).containsExactly(entry(0L, 1));
        assertThat(engine.runningIds()).containsExactly(0L);
        assertThat(first.numPreemptions()).isZero();
        assertThat(second.numPreemptions()).isEqualTo(1);
        assertThat(second.numComputedTokens()).isZero();
        assertThat(second.numOutputTokens()).as("output is kept").isEqualTo(1);
    }

    @Test
    void preemptedRequest_resumesWithAllItsTokens() {
        engine.maxNumBatchedTokens = 100;
        engine.numBlocks = 11;
        engine.add(0, 79, 3, 0);
        engine.step();
        engine.add(1, 80, 2, 0);
        engine.step();
        engine.step();

        // Request 0 has its third and last token; request 1 computes 80 prompt tokens and 1 output token again.
        assertThat(engine.step()).containsExactly(entry(1L, 81));
        assertThat(engine.planner().requests().numUnfinished()).isZero();
    }

    /** As above, with request 2 of 5 tokens behind the preempted one: 81 of 100 tokens leave room for it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resumedRequest_mayCountAsNew_behindThoseThatAre(boolean countsResumedAsNew) {
        engine.countsResumedAsNew = countsResumedAsNew;
        engine.maxNumBatchedTokens = 100;
        engine.numBlocks = 11;
        engine.add(0, 79, 3, 0);
        engine.step();
        engine.add(1, 80, 2, 0);
        engine.step();
        engine.step();
        engine.add(2, 5);

        var plan = engine.plan();

        assertThat(EngineFixture.scheduled(plan)).containsExactly(entry(1L, 81), entry(2L, 5));
        assertThat(EngineFixture.ids(plan.admitted())).isEqualTo(countsResumedAsNew ? List.of(2L, 1L) : List.of(2L));
        assertThat(EngineFixture.ids(plan.resumed())).isEqualTo(countsResumedAsNew ? List.of() : List.of(1L));
    }

    @Test
    void tokenInFlightAtPreemption_isDeliveredAndHoldsTheRequestBack() {
        engine.maxNumBatchedTokens = 100;
        engine.numBlocks = 11;
        engine.add(0, 80);
        var first = engine.plan();
        var victim = engine.add(1, 80);
        var second = engine.plan();
        engine.update(first);

        var third = engine.plan();
        assertThat(EngineFixture.ids(third.preempted())).containsExactly(1L);
        assertThat(EngineFixture.ids(engine.update(second).sampled())).containsExactly(1L);
        assertThat(victim.numOutputTokens()).isEqualTo(1);
    }

    @Test
    void priority_ordersByPriorityThenArrival() {
        engine.policy = SchedulingPolicy.PRIORITY;
        engine.add(0, 10, 16, 2);
        engine.add(1, 10, 16, 0);
        engine.add(2, 10, 16, 1);
        engine.add(3, 10, 16, 1);

        assertThat(engine.step().keySet()).containsExactly(1L, 2L, 3L, 0L);
    }

    @Test
    void priority_preemptsTheLeastUrgentAndTakesItsTokensBack() {
        engine.policy = SchedulingPolicy.PRIORITY;
        engine.maxNumBatchedTokens = 200;
        engine.numBlocks = 6;
        engine.add(1, 32, 16, 5);
        engine.step();
        engine.add(2, 32, 16, 0);
        // 32 + 1 tokens are 3 blocks, 32 are 2: all five are in use.
        assertThat(engine.step()).containsExactly(entry(1L, 1), entry(2L, 32));

        var plan = engine.plan();

        assertThat(EngineFixture.ids(plan.preempted())).containsExactly(1L);
        assertThat(EngineFixture.scheduled(plan)).containsExactly(entry(2L, 1));
    }

    @Test
    void equalPriorities_theLaterArrivalIsTheVictim() {
        engine.policy = SchedulingPolicy.PRIORITY;
        engine.numBlocks = 11;
        engine.add(7, 80, 16, 1);
        engine.add(5, 79, 16, 1);
        // Arrival is the id here. Each fills 5 of 10 blocks; request 7 is the first to need a 6th, and gives way
        // itself.
        engine.step();

        assertThat(EngineFixture.ids(engine.plan().preempted())).containsExactly(7L);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void async_schedulesExactlyPromptPlusOutputMinusOne(int maxTokens) {
        engine.isAsync = true;
        for (int id = 0; id < 3; id++) {
            engine.add(id, 10, maxTokens, 0);
        }
        Map<Long, Integer> total = new HashMap<>();
        var inFlight = new ArrayDeque<StepPlan>();

        while (engine.planner().requests().numUnfinished() > 0) {
            var plan = engine.plan();
            EngineFixture.scheduled(plan).forEach((id, tokens) -> total.merge(id, tokens, Integer::sum));
            inFlight.add(plan);
            if (inFlight.size() == 2) {
                engine.update(inFlight.remove());
            }
        }

        // The last token needs no computation of its own, and no step is wasted on it.
        assertThat(total)
                .hasSize(3)
                .allSatisfy((id, tokens) -> assertThat(tokens).isEqualTo(10 + maxTokens - 1));
    }

    @Test
    void preemptedLowPriority_resumesWithAllItKnows() {
        engine.policy = SchedulingPolicy.PRIORITY;
        engine.numBlocks = 5;
        engine.add(1, 30, 16, 5);
        engine.step();
        engine.add(2, 32, 2, 0);

        // 30 + 1 tokens are 2 blocks, 32 are 2: all 4 are in use. With its second token request 2 needs a third.
        assertThat(engine.step()).containsExactly(entry(1L, 1), entry(2L, 32));
        var plan = engine.plan();
        assertThat(EngineFixture.ids(plan.preempted())).containsExactly(1L);
        assertThat(EngineFixture.scheduled(plan)).containsExactly(entry(2L, 1));
        engine.update(plan);

        // Request 2 is done. Request 1 knows its 30 prompt tokens and 2 of the answer.
        assertThat(engine.step()).containsExactly(entry(1L, 32));
    }

    @Test
    void victimBeforeTheRefusedOne_makesNobodyBeSkipped() {
        engine.victim = PreemptionVictim.FIRST_ADMITTED;
        engine.numBlocks = 11;
        engine.add(0, 48);
        engine.add(1, 64);
        engine.add(2, 40);
        // 3 + 4 + 3 blocks are all 10. In the second step request 0 needs a 4th and is its own victim: 3 are free.
        engine.step();
        var second = engine.plan();
        assertThat(EngineFixture.ids(second.preempted())).containsExactly(0L);
        assertThat(second.isEmpty())
                .as("who gives way for itself ends the loop")
                .isTrue();
        engine.update(second);

        // Request 1 takes one of them, request 2 needs none.
        assertThat(engine.step()).containsExactly(entry(1L, 1), entry(2L, 1));
    }

    @Test
    void abort_removesARequestFromWhereverItIs() {
        engine.maxNumSeqs = 1;
        engine.add(0, 10);
        engine.add(1, 10);
        var plan = engine.plan();

        engine.planner().abort(0);
        engine.planner().abort(1);

        assertThat(engine.planner().requests().numUnfinished()).isZero();
        assertThat(engine.update(plan).sampled())
                .as("its result comes too late")
                .isEmpty();
        assertThat(engine.planner().abort(0)).as("a second time").isNull();
    }

    @Test
    void times_areThoseOfQueueingFirstAdmissionAndTokens() {
        var request = engine.add(0, 10, 2, 0);
        engine.step();
        engine.step();

        // The fixture's clock ticks at every plan and every result: 1, 2, 3, 4.
        assertThat(request.queuedNanos()).isEqualTo(0);
        assertThat(request.scheduledNanos()).isEqualTo(1);
        assertThat(request.firstTokenNanos()).isEqualTo(2);
        assertThat(request.lastTokenNanos()).isEqualTo(4);
    }

    @Test
    void sameIdTwice_isRefused() {
        engine.add(0, 10);

        assertThatIllegalArgumentException().isThrownBy(() -> engine.add(0, 10)).withMessageContaining("0");
    }
}

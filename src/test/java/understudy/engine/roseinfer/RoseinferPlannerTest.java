package understudy.engine.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import understudy.engine.roseinfer.RoseinferConfig.PrefillMode;
import understudy.engine.roseinfer.RoseinferFixture.Step;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;

/** The first two tests are those of roseinfer's own {@code test_online_scheduler_add_requests_prefix_cache.py}. */
final class RoseinferPlannerTest {
    private static final int[] SAME = {1, 2, 3};

    private final RoseinferFixture engine = new RoseinferFixture();

    @Test
    void threeDifferentPrompts_areOneForward() {
        engine.add(0, new int[] {1, 2, 3}, 1);
        engine.add(1, new int[] {1, 2, 3, 4}, 1);
        engine.add(2, new int[] {1, 2}, 1);

        // 3 + 4 + 2 tokens; a single token each, so nothing is left for a second forward.
        assertThat(engine.step()).isEqualTo(new Step(List.of(0L, 1L, 2L), 9, List.of(0L, 1L, 2L)));
        assertThat(engine.planner().load().numUnfinished()).isZero();
    }

    @Test
    void threeEqualPrompts_areOneForwardOfOne() {
        engine.add(0, SAME, 1);
        engine.add(1, SAME, 1);
        engine.add(2, SAME, 1);

        assertThat(engine.step()).isEqualTo(new Step(List.of(0L), 3, List.of(0L, 1L, 2L)));
        assertThat(engine.planner().load().numUnfinished()).isZero();
    }

    /**
     * Blocks of 4 tokens, 4 of them usable: two for the prompt of 8 that both share, and one for the answer of each. Nothing
     * of the prompt is computed again, so nobody has to copy its last block.
     */
    @Test
    void cachedPrompt_isComputedToTheEnd() {
        engine.numBlocks = 5;
        int[] prompt = {1, 2, 3, 4, 5, 6, 7, 8};
        var first = engine.add(0, prompt, 4);
        var second = engine.add(1, prompt, 4);

        engine.step();

        assertThat(first.numComputedTokens()).isEqualTo(8);
        assertThat(second.numComputedTokens()).isEqualTo(8);
        // The first tokens are here, and 3 decodes bring the others.
        engine.step();
        engine.step();
        assertThat(engine.step().sampled()).containsExactly(0L, 1L);
        assertThat(engine.planner().load().numUnfinished()).isZero();
    }

    @Test
    void withoutDedup_equalPromptsOfABatchAreAllComputed() {
        engine.dedups = false;
        engine.add(0, SAME, 1);
        engine.add(1, SAME, 1);
        assertThat(engine.step()).isEqualTo(new Step(List.of(0L, 1L), 6, List.of(0L, 1L)));

        // The next batch finds what this one has computed.
        engine.add(2, SAME, 1);
        assertThat(engine.step()).isEqualTo(new Step(List.of(), 0, List.of(2L)));
    }

    @Test
    void serial_isOneForwardPerPromptAndStampsAllAtTheEnd() {
        engine.prefill = PrefillMode.SERIAL;
        engine.add(0, 3, 2);
        engine.add(1, 4, 2);
        engine.add(2, 2, 2);

        assertThat(engine.step()).isEqualTo(new Step(List.of(0L), 3, List.of()));
        assertThat(engine.step()).isEqualTo(new Step(List.of(1L), 4, List.of()));
        assertThat(engine.step()).isEqualTo(new Step(List.of(2L), 2, List.of(0L, 1L, 2L)));
        assertThat(engine.step()).isEqualTo(new Step(List.of(0L, 1L, 2L), 3, List.of(0L, 1L, 2L)));
    }

    @Test
    void serial_findsWhatTheForwardBeforeHasComputed() {
        engine.prefill = PrefillMode.SERIAL;
        engine.dedups = false;
        engine.add(0, SAME, 1);
        engine.add(1, SAME, 1);

        assertThat(engine.step()).isEqualTo(new Step(List.of(0L), 3, List.of()));
        assertThat(engine.step()).isEqualTo(new Step(List.of(), 0, List.of(0L, 1L)));
    }

    @Test
    void arrivalsDuringASerialRound_waitForTheNext() {
        engine.prefill = PrefillMode.SERIAL;
        engine.add(0, 3, 2);
        engine.add(1, 3, 2);
        engine.step();
        engine.add(2, 3, 2);

        assertThat(engine.step().sampled()).containsExactly(0L, 1L);
        assertThat(engine.step())
                .as("the decode step that a round ends with")
                .isEqualTo(new Step(List.of(0L, 1L), 2, List.of(0L, 1L)));
        assertThat(engine.step()).isEqualTo(new Step(List.of(2L), 3, List.of(2L)));
    }

    @Test
    void hitsMissesAndDuplicates_getTheirFirstTokensInTheOrderOfTheRequests() {
        engine.add(9, SAME, 1);
        engine.step();
        engine.add(0, 5, 1);
        engine.add(1, SAME, 1);
        engine.add(2, 6, 1);
        engine.add(3, new int[] {7, 8}, 1);
        engine.add(4, new int[] {7, 8}, 1);

        // 5 + 6 + 2 tokens: request 1 is cached, request 4 is equal to request 3.
        assertThat(engine.step()).isEqualTo(new Step(List.of(0L, 2L, 3L), 13, List.of(0L, 1L, 2L, 3L, 4L)));
    }

    @Test
    void fullHit_samplesWithoutAForwardAndDecodesNext() {
        engine.add(0, SAME, 1);
        engine.step();
        var hit = engine.add(1, SAME, 2);

        assertThat(engine.plan().needsDevice()).isFalse();
        assertThat(engine.update(engine.planner().plan()).sampled()).containsExactly(hit);
        assertThat(hit.numCachedTokens()).isEqualTo(3);
        assertThat(engine.step()).isEqualTo(new Step(List.of(1L), 1, List.of(1L)));
        assertThat(engine.planner().load().numUnfinished()).isZero();
    }

    @Test
    void rounds_takeAtMostABatchAndDecodeOnceInBetween() {
        engine.maxBatchSize = 2;
        for (int id = 0; id < 3; id++) {
            engine.add(id, 4, 3);
        }

        // 0 and 1 have tokens 1, 2, then 3 after 2 was taken in behind them; 2 decodes its tokens 2 and 3 alone.
        assertThat(engine.step().computed()).containsExactly(0L, 1L);
        assertThat(engine.step().computed()).containsExactly(0L, 1L);
        assertThat(engine.step().computed()).containsExactly(2L);
        assertThat(engine.step().computed()).containsExactly(0L, 1L);
        assertThat(engine.step().computed()).containsExactly(2L);
        assertThat(engine.step().computed()).containsExactly(2L);
        assertThat(engine.planner().load().numUnfinished()).isZero();
    }

    @Test
    void decoding_servesSessionsInTurns() {
        engine.maxBatchSize = 2;
        for (int id = 0; id < 5; id++) {
            engine.add(id, 4, 9);
        }
        for (int round = 0; round < 3; round++) {
            engine.step(); // take in
            engine.step(); // decode
        }

        // Five sessions, two at a time: five steps serve everyone twice, in the same order both times.
        var served = LongStream.range(0, 5)
                .mapToObj(i -> engine.step().computed())
                .flatMap(List::stream)
                .toList();
        assertThat(served).hasSize(10);
        assertThat(served.subList(0, 5)).containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L);
        assertThat(served.subList(5, 10)).isEqualTo(served.subList(0, 5));
    }

    @Test
    void requestThatDoesNotFit_waitsUntilOthersHaveEnded() {
        // 8 usable blocks; 8 + 8 tokens are 4 blocks, so two requests fit and the third does not.
        engine.numBlocks = 9;
        engine.maxModelLen = 28;
        for (int id = 0; id < 3; id++) {
            engine.add(id, 8, 8);
        }

        assertThat(engine.step().computed()).containsExactly(0L, 1L);
        assertThat(engine.planner().load().numWaiting()).isEqualTo(1);
        for (int token = 2; token <= 8; token++) {
            assertThat(engine.step().sampled()).containsExactly(0L, 1L);
        }
        assertThat(engine.step().computed()).containsExactly(2L);
    }

    @Test
    void abort_isPossibleAnywhere() {
        engine.prefill = PrefillMode.SERIAL;
        engine.add(0, 3, 5);
        engine.add(1, 3, 5);
        engine.add(2, 3, 5);
        engine.step();

        // In the middle of a round: 0 is computed, 1 is running, 2 is pending.
        var plan = engine.plan();
        assertThat(engine.abort(1)).isTrue();
        assertThat(engine.abort(2)).isTrue();
        engine.update(plan);
        assertThat(engine.step()).isEqualTo(new Step(List.of(), 0, List.of(0L)));
        assertThat(engine.abort(0)).isTrue();
        assertThat(engine.abort(0)).isFalse();

        assertThat(engine.planner().load().numUnfinished()).isZero();
        assertThat(engine.memory().usage()).isZero();
    }

    @Test
    void refusedDecode_isADefect() {
        engine.add(0, 3, 5);
        engine.step();
        var planner = engine.planner();
        planner.begin(10);
        assertThat(planner.next()).isInstanceOf(KvAsk.Reserve.class);

        assertThatIllegalStateException()
                .isThrownBy(() -> planner.answer(new KvAnswer.Reserved(0, 0)))
                .withMessageContaining("0 of 1");
    }
}

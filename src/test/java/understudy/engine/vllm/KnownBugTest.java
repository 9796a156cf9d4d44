package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.engine.OutputPlan;
import understudy.engine.StepPlan;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

final class KnownBugTest {
    private final EngineFixture engine = new EngineFixture();

    /**
     * Request 1 waits for the one place for an adapter: with the running request 0 and one that was passed over, the 2 that
     * may run are reached. The bug is there from then on, although request 0 ends with its second token.
     */
    @Test
    void admission_stopsForEver() {
        engine.knownBugs = Set.of(KnownBug.ADMISSION_STOPS);
        stepWithOnePassedOver();

        assertThat(engine.step()).containsExactly(entry(0L, 1));
        engine.add(2, 10);
        assertThat(engine.step()).isEmpty();
        assertThat(engine.step()).isEmpty();
        assertThat(engine.planner().requests().numWaiting()).isEqualTo(2);
    }

    @Test
    void admission_goesOnOtherwise() {
        stepWithOnePassedOver();

        assertThat(engine.step()).containsExactly(entry(0L, 1));
        engine.add(2, 10);
        assertThat(engine.step()).containsOnlyKeys(1L, 2L);
    }

    private void stepWithOnePassedOver() {
        engine.maxLoras = 1;
        engine.maxNumSeqs = 2;
        add(0, "a");
        add(1, "b");
        assertThat(engine.step()).containsOnlyKeys(0L);
    }

    private void add(long id, String adapter) {
        int[] tokens = EngineFixture.filled(10, (int) id);
        var request = EngineFixture.request(id, tokens, 2, 0, OutputPlan.ENDLESS);
        var prompt = new Prompt(new TokenIds(tokens), adapter, "");
        engine.add(request.with().id(id).arrivalNanos(id).prompt(prompt).build());
    }

    /** The places are not full of requests that were passed over: those that run may be as many as may. */
    @Test
    void admission_goesOnWhileNoneIsPassedOver() {
        engine.knownBugs = Set.of(KnownBug.ADMISSION_STOPS);
        engine.maxNumSeqs = 1;
        engine.add(0, 10, 1, 0);
        engine.add(1, 10);
        engine.step();

        assertThat(engine.step()).containsExactly(entry(1L, 10));
    }

    @Test
    void requestBehindAVictimWithoutTokens_isSkippedForAStep() {
        engine.knownBugs = Set.of(KnownBug.SKIPPED_RUNNING_REQUEST);

        assertThat(EngineFixture.scheduled(planWithPreemption())).containsExactly(entry(1L, 1));
        assertThat(engine.step()).as("next step").containsExactly(entry(1L, 1), entry(2L, 1));
    }

    @Test
    void requestBehindAVictim_isScheduledOtherwise() {
        assertThat(EngineFixture.scheduled(planWithPreemption())).containsExactly(entry(1L, 1), entry(2L, 1));
    }

    /**
     * Five blocks of 16 tokens. Request 0, the least urgent one, has 40 of its 48 tokens in 3 blocks; 1 and 2 have a block
     * each. Step 2 of 3 computes no prompts, so that request 0 is passed over; request 1 needs a second block with token 17,
     * and gets it from request 0, in front of it.
     */
    private StepPlan planWithPreemption() {
        engine.policy = SchedulingPolicy.PRIORITY;
        engine.prefillScheduleInterval = 3;
        engine.longPrefills = LongPrefillCap.of(20);
        engine.numBlocks = 6;
        engine.add(0, 48, 16, 5);
        assertThat(engine.step()).containsExactly(entry(0L, 20));
        engine.add(1, 16, 16, 0);
        engine.add(2, 10, 16, 0);
        assertThat(engine.step()).containsExactly(entry(0L, 20), entry(1L, 16), entry(2L, 10));

        var plan = engine.plan();

        assertThat(EngineFixture.ids(plan.preempted())).containsExactly(0L);
        engine.update(plan);
        return plan;
    }

    @ParameterizedTest
    @EnumSource(KnownBug.class)
    void name_isThatOfTheConstant(KnownBug bug) {
        assertThat(KnownBug.read(Section.of("known-bugs = [" + Section.nameOf(bug) + "]")))
                .containsExactly(bug);
    }

    @Test
    void unknownName_isRefused() {
        var section = Section.of("known-bugs = [lost-preemption]");

        assertThatThrownBy(() -> KnownBug.read(section))
                .isInstanceOf(ScenarioException.class)
                .hasMessageEndingWith(
                        "known-bugs is [lost-preemption], which vLLM has under these names: admission-stops,"
                                + " skipped-running-request");
    }
}

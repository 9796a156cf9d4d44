package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import understudy.engine.EngineCore;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.kvcache.Admission;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.content.ContentConfig;
import understudy.prompt.Xxh3BlockHasher;

final class EngineCoreTest {

    @Test
    void arrivalDuringPlanning_takesEffectAfterIt() {
        var core = core(false);
        core.add(request(0), 5);
        core.beginPlan(5);
        core.add(request(1), 5);

        assertThat(core.engine().load().numUnfinished()).isEqualTo(1);
        admitAll(core);
        core.endPlan(5);
        assertThat(core.engine().load().numUnfinished()).isEqualTo(2);
        assertThat(core.engine().load().numWaiting()).isEqualTo(1);
    }

    @Test
    void sync_plansOneStepAtATime() {
        var core = core(false);
        assertThat(core.canPlan()).as("nothing to do").isFalse();
        core.add(request(0), 0);
        assertThat(core.canPlan()).isTrue();

        plan(core);

        assertThat(core.canPlan()).isFalse();
        core.update(1);
        assertThat(core.canPlan()).isTrue();
    }

    @Test
    void async_plansOneStepAhead() {
        var core = core(true);
        core.add(request(0), 0);
        plan(core);
        assertThat(core.canPlan()).isTrue();

        plan(core);

        assertThat(core.canPlan()).isFalse();
    }

    @Test
    void withNothingMoreToPlan_itWaitsForTheResult_asVllmsLoopDoes() {
        var core = core(true);
        core.add(EngineFixture.request(0, EngineFixture.filled(10, 1), 1, 0, OutputPlan.ENDLESS), 0);
        plan(core);

        // The step in flight brings the only token, so that there is nothing to plan, although there is room for a
        // step.
        assertThat(core.canPlan()).isTrue();
        plan(core);
        core.add(request(1), 0);
        assertThat(core.canPlan()).as("the loop waits for the result").isFalse();

        core.update(1);
        assertThat(core.canPlan()).isTrue();
    }

    @Test
    void withoutRequests_itWaitsForTheResultToo() {
        var core = core(true);
        core.add(request(0), 0);
        plan(core);
        core.engine().abort(0);

        assertThat(core.beginPlan(0)).as("nothing to plan").isFalse();
        core.add(request(1), 0);
        assertThat(core.canPlan()).isFalse();
        core.update(1);
        assertThat(core.beginPlan(1)).isTrue();
    }

    /** vLLM's {@code PAUSED_NEW}: those that run have two tokens to go; the one behind them waits until it may come in. */
    @Test
    void pausedNew_finishesWhatRuns_andAdmitsNothing() {
        var core = core(false);
        core.add(EngineFixture.request(0, EngineFixture.filled(10, 1), 2, 0, OutputPlan.ENDLESS), 0);
        plan(core);
        core.add(request(1), 0);

        core.setPauseState(EngineCore.PauseState.PAUSED_NEW);
        boolean isDrainedAtOnce = core.isDrained();
        core.update(1);
        plan(core);
        core.update(2);

        assertThat(isDrainedAtOnce).isFalse();
        assertThat(core.isDrained()).isTrue();
        assertThat(core.canPlan()).as("only what waits is left").isFalse();
        assertThat(core.engine().load().numWaiting()).isEqualTo(1);
        core.setPauseState(EngineCore.PauseState.UNPAUSED);
        assertThat(core.canPlan()).isTrue();
    }

    @Test
    void idleDeviceWithWork_isADefect() {
        var core = core(false);
        core.add(request(0), 0);
        core.beginPlan(0);
        core.engine().next();
        core.engine().answer(new KvAnswer.Admitted(new Admission.Refused(), 0));
        core.engine().next();

        assertThatIllegalStateException()
                .isThrownBy(() -> core.endPlan(0))
                .withMessageContaining("work conservation")
                .withMessageContaining("1 wait");
    }

    @Test
    void resultDuringPlanning_isADefect() {
        var core = core(true);
        core.add(request(0), 0);
        plan(core);
        core.beginPlan(1);

        assertThatIllegalStateException().isThrownBy(() -> core.update(1));
    }

    private static void plan(EngineCore core) {
        core.beginPlan(0);
        admitAll(core);
        core.endPlan(0);
    }

    /** Stands in for a KV cache with room for everything. */
    private static void admitAll(EngineCore core) {
        var planner = core.engine();
        for (var ask = planner.next(); ask != null; ask = planner.next()) {
            planner.answer(granted(ask));
        }
    }

    private static KvAnswer granted(KvAsk ask) {
        if (ask instanceof KvAsk.Admit admit) {
            int numTokens = admit.request().lookup().numTokens();
            return new KvAnswer.Admitted(new Admission.Admitted(0, numTokens, PrefixCacheEvents.NONE), 0);
        }
        return new KvAnswer.Reserved(((KvAsk.Reserve) ask).reservation().size(), 0);
    }

    private static EngineCore core(boolean isAsync) {
        return new EngineCore(new VllmSpec(
                SchedulerConfig.VLLM.withAsyncScheduling(isAsync),
                RequestLimits.NONE,
                ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(16), 100).withEnablePrefixCaching(false))));
    }

    private static Request request(long id) {
        return EngineFixture.request(id, EngineFixture.filled(10, 1), 5, 0, OutputPlan.ENDLESS);
    }
}

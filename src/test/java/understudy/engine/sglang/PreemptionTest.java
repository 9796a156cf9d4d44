package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.engine.sglang.SglangFixture.names;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import understudy.kvcache.radix.PrefixOrder;

/** Preemption by priority; no recording covers these cases. */
final class PreemptionTest {

    /**
     * 20 tokens, "stays" holds 6, "victim" 2. When "newcomer" is tried for the first time, it counts as 0 + 4 tokens, less
     * than 12 - (3 + 1) * 0.7 = 9.2: the victim goes. Its trial needs 10 + 4 + 1 = 15, more than 14 - 2.1 = 11.9.
     */
    private static SglangFixture afterRefusedPreemption(boolean requeues) {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 2, 20, false, requeues);
        fixture.add("stays", 100, 6, 4, 9, false);
        fixture.add("victim", 200, 2, 2, 0, false);
        assertThat(names(Objects.requireNonNull(fixture.turn().batch()).requests()))
                .containsExactly("stays", "victim");
        fixture.add("newcomer", 300, 10, 4, 5, false);
        return fixture;
    }

    @Test
    void preemptedRequest_isLostIfTheNewcomerIsRefused() {
        var fixture = afterRefusedPreemption(false);

        var plan = fixture.turn();

        assertThat(names(plan.preempted())).containsExactly("victim");
        assertThat(names(plan.lost())).containsExactly("victim");
        assertThat(names(fixture.engine.waiting())).containsExactly("newcomer");
    }

    @Test
    void preemptedRequest_waitsAgainIfThatIsMended() {
        var fixture = afterRefusedPreemption(true);

        var plan = fixture.turn();

        assertThat(names(plan.preempted())).containsExactly("victim");
        assertThat(plan.lost()).isEmpty();
        assertThat(names(fixture.engine.waiting())).containsExactly("newcomer", "victim");
    }

    /**
     * 20 tokens: 8 evictable, 8 held, 4 free; 12 - 4 = 8 remain. With what the order has found, the newcomer needs 9 - 8 + 5
     * - 8 = -2 more; by its trial before, when nothing was found, 9 + 5 - 8 - 4 = 2 would be missing.
     */
    @Test
    void newcomer_countsWhatTheOrderByPrefixesHasFound() {
        var fixture = new SglangFixture(SchedulePolicy.LPM, 1, 20, false, false);
        var cached = fixture.add("cached", 1, 8, 4, 0, false);
        var running = fixture.add("running", 100, 8, 4, 0, false);
        var newcomer = fixture.add("newcomer", 1, 9, 5, 5, false);
        for (var request : List.of(cached, running)) {
            var sequence = fixture.memory.open(request.lookup);
            fixture.memory.match(sequence, 7);
            fixture.memory.admit(sequence, 8);
            fixture.memory.extend(ObjectArrayList.of(sequence));
            fixture.memory.cacheUnfinished(request.handle(), false);
        }
        fixture.memory.release(cached.handle(), true);
        newcomer.numFillTokens = 9;
        var ask = PrefillAskBuilder.builder()
                .config(fixture.config)
                .order(PrefixOrder.Kind.LPM)
                .waiting(List.of(RequestView.of(newcomer)))
                .running(List.of(RequestView.of(running)))
                .numRunning(1)
                .runningOffset(4)
                .newTokenRatio(1)
                .isFull(true)
                .build();

        var outcome = (PrefillOutcome) fixture.memory.answer(ask);

        assertThat(outcome.preempted.toIntArray()).containsExactly(0);
    }

    /**
     * 20 tokens, 16 of them free, less 4 for each that runs: 8. The newcomer counts as 0 + 12 tokens; with the 4 of the one
     * that came last nothing is missing, so that the other stays.
     */
    @Test
    void preemption_endsOnceNothingIsMissing() {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 2, 20, false, false);
        var first = fixture.add("first", 100, 2, 4, 0, false);
        var second = fixture.add("second", 200, 2, 4, 0, false);
        var newcomer = fixture.add("newcomer", 1, 1, 12, 5, false);
        fixture.memory.allocate(first.lookup, 2);
        fixture.memory.allocate(second.lookup, 2);
        var ask = PrefillAskBuilder.builder()
                .config(fixture.config)
                .waiting(List.of(RequestView.of(newcomer)))
                .running(List.of(RequestView.of(first), RequestView.of(second)))
                .numRunning(2)
                .runningOffset(8)
                .newTokenRatio(1)
                .isFull(true)
                .build();

        var outcome = (PrefillOutcome) fixture.memory.answer(ask);

        assertThat(outcome.preempted.toIntArray()).containsExactly(1);
    }

    /**
     * 16 tokens without a cache. The newcomer takes 4 of them and goes on for 6: 12 - 6 = 6 remain. With the 10 of the one
     * that it has preempted, which no longer runs, 12 - 2 * 6 = 0 would.
     */
    @Test
    void preemptedRequest_doesNotCountForOneThatIgnoresEos() {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 1, 16, true, false);
        var running = fixture.add("running", 100, 4, 10, 0, true);
        var newcomer = fixture.add("newcomer", 1, 4, 6, 5, true);
        fixture.memory.allocate(running.lookup, 4);
        var ask = PrefillAskBuilder.builder()
                .config(fixture.config)
                .waiting(List.of(RequestView.of(newcomer)))
                .running(List.of(RequestView.of(running)))
                .numRunning(1)
                .runningOffset(10)
                .newTokenRatio(1)
                .isFull(true)
                .build();

        var outcome = (PrefillOutcome) fixture.memory.answer(ask);

        assertThat(outcome.preempted.toIntArray()).containsExactly(0);
        assertThat(outcome.added.toIntArray()).containsExactly(0);
    }
}

package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

/** Options that leave out prefills or requests; no recording covers them. */
final class PrefillOptionsTest {
    private static final int LONG = 10;

    /** Plans a turn, and returns its batch in words. */
    private static String turn(SglangFixture fixture) {
        var batch = fixture.turn().batch();
        return batch == null
                ? "none"
                : batch.mode().word() + " " + String.join(" ", SglangFixture.names(batch.requests()));
    }

    private static List<String> turns(SglangFixture fixture, int count) {
        var turns = new ArrayList<String>();
        for (int i = 0; i < count; i++) {
            turns.add(turn(fixture));
        }
        return turns;
    }

    @Test
    void interval_leavesTurnsToDecodesAfterEachPrefill() {
        var fixture = SglangFixture.of(4, 0, builder -> builder.prefillDecodeInterval(2));
        fixture.add("a", 10, LONG);
        assertThat(turn(fixture)).isEqualTo("extend a");
        fixture.add("b", 20, LONG);

        assertThat(turns(fixture, 4)).containsExactly("decode a", "decode a", "extend b", "decode a b");
    }

    /** A prompt of 4 in chunks of 2: the second goes by the same gate, though nothing decodes. */
    @Test
    void interval_isForChunks() {
        var fixture = SglangFixture.of(4, 2, builder -> builder.prefillDecodeInterval(2));
        fixture.add("a", 10, LONG);

        assertThat(turns(fixture, 5)).containsExactly("extend a", "none", "none", "extend a", "decode a");
    }

    private static SglangFixture delaying(int maxRunning, SglangConfig.Delay delay) {
        return SglangFixture.of(maxRunning, 0, builder -> builder.prefillDelay(delay));
    }

    /**
     * Two seats, and the largest batch had two requests. With one that runs, one seat is free, which is fewer: the first such
     * delay is left out, the second lasts until "runs" ends with its fourth token.
     */
    @Test
    void delayer_waitsForTheSeatsOfTheLargestBatch() {
        var fixture = delaying(2, new SglangConfig.Delay(0, 0, 0, 30));
        fixture.add("ends", 10, 1);
        fixture.add("runs", 20, 4);
        assertThat(turn(fixture)).isEqualTo("extend ends runs");
        fixture.add("first", 30, 1);
        assertThat(turn(fixture)).isEqualTo("extend first");
        fixture.add("second", 40, 1);

        assertThat(turns(fixture, 5))
                .containsExactly("decode runs", "decode runs", "decode runs", "none", "extend second");
    }

    /** "runs" holds 4 of 100 tokens before the third prefill; what is cached of others can be evicted, and counts as free. */
    @ParameterizedTest
    @CsvSource({"0.04,decode runs", "0.041,extend second"})
    void delayer_letsPassWhileFewTokensAreInUse(double lowWatermark, String batch) {
        var fixture = delaying(2, new SglangConfig.Delay(lowWatermark, 0, 0, 30));
        fixture.add("ends", 10, 1);
        fixture.add("runs", 20, 4);
        turn(fixture);
        fixture.add("first", 30, 1);
        turn(fixture);
        fixture.add("second", 40, 1);

        assertThat(turn(fixture)).isEqualTo(batch);
    }

    /**
     * Two run after "third", one waits: less than min(3 * 0.7, 2) = 2, the first delay being left out. It lasts 5 ns, or until
     * another one waits.
     */
    @Test
    void delayer_waitsForAQueueInRelationToThoseThatRun() {
        var fixture = delaying(8, new SglangConfig.Delay(0, 0.7, 5, 30));
        fixture.add("first", 10, LONG);
        fixture.add("second", 20, LONG);
        assertThat(turn(fixture)).isEqualTo("extend first second");
        fixture.add("third", 30, LONG);
        // min(2 * 0.7, 2) = 1, which is not more than the one that waits.
        assertThat(turn(fixture)).isEqualTo("extend third");
        fixture.add("fourth", 40, LONG);
        assertThat(turn(fixture)).isEqualTo("extend fourth");
        fixture.add("fifth", 50, LONG);
        fixture.engine.setNow(100);
        assertThat(turn(fixture)).isEqualTo("decode first second third fourth");
        fixture.engine.setNow(104);
        assertThat(turn(fixture)).isEqualTo("decode first second third fourth");
        fixture.engine.setNow(105);
        assertThat(turn(fixture)).isEqualTo("extend fifth");
        fixture.add("sixth", 60, LONG);
        assertThat(turn(fixture)).isEqualTo("decode first second third fourth fifth");
        fixture.add("seventh", 70, LONG);
        assertThat(turn(fixture)).isEqualTo("extend sixth seventh");
    }

    /** Two adapters at a time: that of "runs", and that of "first"; a third one, and the base model, lets others go first. */
    @Test
    void requestWithAnAdapterTooMany_isPassedOver() {
        var fixture = SglangFixture.of(8, 0, builder -> builder.maxLorasPerBatch(2));
        fixture.addWithAdapter("runs", "x", 10, 3);
        assertThat(turn(fixture)).isEqualTo("extend runs");
        fixture.addWithAdapter("first", "y", 20, 3);
        fixture.addWithAdapter("second", "z", 30, 3);
        fixture.addWithAdapter("third", "x", 40, 3);
        fixture.add("base", 50, 3);

        assertThat(turn(fixture)).isEqualTo("extend first third");
        assertThat(SglangFixture.names(fixture.engine.waiting())).containsExactly("second", "base");
        // "runs" ends with the second of these, and then x is in use by "third" still.
        assertThat(turns(fixture, 3))
                .containsExactly("decode runs first third", "decode runs first third", "extend second base");
    }

    @Test
    void prefix_isFoundWithTheSameAdapterOnly() {
        var fixture = SglangFixture.of(8, 0, builder -> builder.maxLorasPerBatch(8));
        fixture.addWithAdapter("first", "x", 10, 1);
        turn(fixture);
        fixture.addWithAdapter("same", "x", 10, 1);
        fixture.addWithAdapter("other", "y", 10, 1);
        fixture.add("base", 10, 1);

        // All but the last of four tokens, which is computed again.
        assertThat(fixture.turn().tried().stream().map(SglangPlan.Tried::numPrefixTokens))
                .containsExactly(3, 0, 0);
    }

    /**
     * 100 tokens: both hold 4 of a prompt, and 46 decodes take 2 tokens each. The last of equal ones is retracted, and comes
     * back to a queue in which "waits" has the only place.
     */
    private static SglangFixture beforeRetraction(int maxQueued, SglangConfig.Priorities priorities, long ofWaiting) {
        var fixture = SglangFixture.of(
                2,
                0,
                builder -> builder.scheduleConservativeness(0)
                        .queue(new SglangConfig.Queue(maxQueued, 0))
                        .priorities(priorities));
        fixture.add("stays", 10, 4, 60, 5, false);
        fixture.add("retracted", 20, 4, 60, 5, false);
        // The second prompt has no room beside the whole answer of the first, which counts in its own batch only.
        assertThat(turns(fixture, 2)).containsExactly("extend stays", "extend retracted");
        fixture.add("waits", 30, 4, 60, ofWaiting, false);
        for (int i = 0; i < 46; i++) {
            assertThat(turn(fixture)).isEqualTo("decode stays retracted");
        }
        return fixture;
    }

    @ParameterizedTest
    @CsvSource({
        "1,false,0,retracted,waits",
        "2,false,0,,waits retracted",
        "1,true,0,waits,retracted",
        "1,true,9,retracted,waits"
    })
    void retractedRequest_isTurnedAwayByAFullQueue(
            int maxQueued, boolean hasPriorities, long ofWaiting, @Nullable String turnedAway, String waiting) {
        var priorities = new SglangConfig.Priorities(hasPriorities, false, false, 10);
        var fixture = beforeRetraction(maxQueued, priorities, ofWaiting);

        var plan = fixture.turn();

        assertThat(SglangFixture.names(plan.retracted())).containsExactly("retracted");
        assertThat(plan.turnedAway().stream().map(each -> each.request().name()).toList())
                .isEqualTo(turnedAway == null ? List.of() : List.of(turnedAway));
        assertThat(String.join(" ", SglangFixture.names(fixture.engine.waiting())))
                .isEqualTo(waiting);
    }

    /** A request without a priority is the least important, whichever values go first; 0 is a priority if it is named. */
    @ParameterizedTest
    @CsvSource({"false,high zero none", "true,zero high none"})
    void requestWithoutPriority_goesLast(boolean lowFirst, String order) {
        var config = SglangFixture.of(
                        2, 0, builder -> builder.priorities(new SglangConfig.Priorities(true, lowFirst, false, 10)))
                .config;
        var engine = new SglangEngine(config);
        var plain = Request.of(0, 0, new Prompt(new TokenIds(1, 2, 3, 4)), 1, new OutputPlan(index -> 7, 1));
        engine.add(plain.withId(1).withName("none"), 0);
        engine.add(plain.withId(2).withName("zero").withHasPriority(true), 0);
        engine.add(plain.withId(3).withName("high").withPriority(9).withHasPriority(true), 0);

        engine.begin(0);

        assertThat(String.join(" ", SglangFixture.names(engine.scheduler().waiting())))
                .isEqualTo(order);
    }
}

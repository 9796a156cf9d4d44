package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.kvcache.radix.RadixConfig;
import understudy.kvcache.radix.RadixEvictionPolicy;

/** Rules of admission that no recording tells apart from others. */
final class PrefillAdderTest {

    private static PrefillOutcome attempt(
            SglangFixture fixture, @Nullable SglangRequest chunk, SglangRequest... waiting) {
        var views = List.of(waiting).stream().map(RequestView::of).toList();
        var ask = PrefillAskBuilder.builder()
                .config(fixture.config)
                .waiting(views)
                .chunk(chunk == null ? null : RequestView.of(chunk))
                .running(List.of())
                .newTokenRatio(1)
                .numFreeSlots(8)
                .build();
        return (PrefillOutcome) fixture.memory.answer(ask);
    }

    private static List<AddResult> results(PrefillOutcome outcome) {
        return outcome.trials().stream().map(PrefillOutcome.Trial::result).toList();
    }

    @Test
    void offset_isAtMost4096Tokens() {
        var config = new SglangFixture(SchedulePolicy.FCFS, 2, 20, false, false).config;

        // min(10,000 - 1,000, 4,096) * 0.5
        assertThat(config.offset(10_000, 1_000, 0.5)).isEqualTo(2_048);
        // min(3,000 - 1,000, 4,096) * 0.5
        assertThat(config.offset(3_000, 1_000, 0.5)).isEqualTo(1_000);
    }

    /**
     * 10 tokens of 100 leave 100 - 10 - 2 to the answer; in pages of 4 it is 100 - 12, less a page and one token. A context of
     * 50 leaves 50 - 10 - 2.
     */
    @ParameterizedTest
    @CsvSource({"1,65536,88", "4,65536,83", "1,50,38"})
    void answer_isCutToPoolAndContext(int pageSize, int maxModelLen, int expected) {
        var memory = new RadixConfig(pageSize, 100, false, false, RadixEvictionPolicy.LRU, 0, false, null, null);
        var config = SglangConfigBuilder.builder()
                .maxModelLen(maxModelLen)
                .memory(memory)
                .build();

        assertThat(config.maxNewTokens(200, 10)).isEqualTo(expected);
        assertThat(config.maxNewTokens(20, 10)).isEqualTo(20);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void requestWithoutPriority_isPreferredLeast(boolean lowFirst) {
        var priorities = new SglangConfig.Priorities(true, lowFirst, true, 10);

        assertThat(priorities.compare(priorities.unset(), 5)).isPositive();
        assertThat(priorities.mayPreempt(5, priorities.unset())).isTrue();
        assertThat(priorities.mayPreempt(priorities.unset(), 5)).isFalse();
    }

    /** 12 tokens, 4 for the prompt: behind the answer more than one must remain of the other 8. */
    @ParameterizedTest
    @CsvSource({"6,CONTINUE", "7,NO_TOKEN"})
    void requestThatIgnoresEos_leavesATokenForEachThatRuns(int maxNewTokens, AddResult result) {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 4, 12, true, false);
        var request = fixture.add("r", 1, 4, 1, 0, true);
        request.maxNewTokens = maxNewTokens;

        assertThat(results(attempt(fixture, null, request))).containsExactly(result);
    }

    /** As above, but a running request that is taken along takes a token of the 8, so that 6 more are too many, and 5 are not. */
    @ParameterizedTest
    @CsvSource({"5,CONTINUE", "6,NO_TOKEN"})
    void requestThatIgnoresEos_leavesATokenForThoseTakenAlong(int maxNewTokens, AddResult result) {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 4, 12, true, false, 12);
        var request = fixture.add("r", 1, 4, 1, 0, true);
        request.maxNewTokens = maxNewTokens;
        var ended = fixture.add("ended", 100, 4, 1, 0, true);
        ended.isFinished = true;
        ended.numOutputTokens = 1;
        var ask = PrefillAskBuilder.builder()
                .config(SglangConfigBuilder.builder(fixture.config)
                        .mixesChunks(true)
                        .build())
                .waiting(List.of(RequestView.of(request)))
                .running(List.of(RequestView.of(ended)))
                .numRunning(1)
                .newTokenRatio(1)
                .numFreeSlots(8)
                .build();

        var outcome = (PrefillOutcome) fixture.memory.answer(ask);

        assertThat(results(outcome)).containsExactly(result);
        assertThat(outcome.added.isEmpty()).isEqualTo(result == AddResult.NO_TOKEN);
    }

    /**
     * A request that was retracted with 2 of 6 outputs needs 4 + 2 + 4 + 1 = 11 tokens, and is charged 6 + 6 + 1 = 13: of 13
     * none is left for others.
     */
    @ParameterizedTest
    @CsvSource({"13,NO_TOKEN", "14,CONTINUE"})
    void addedRequest_isTheLastIfNoTokenIsLeft(int maxTotalTokens, AddResult result) {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 4, maxTotalTokens, false, false);
        var request = fixture.add("r", 1, 4, 6, 0, false);
        request.numOutputTokens = 2;

        assertThat(results(attempt(fixture, null, request))).containsExactly(result);
    }

    /**
     * 21 tokens. The first takes 4 and a page of 1, so that behind the prompt of the second 21 - 5 - 4 = 12 remain. Both go
     * on for 5, as the second stands before the first: 12 - 2 * 5 = 2, and more than 2 must remain.
     */
    @Test
    void addedRequest_countsWithAPageMoreForThoseThatIgnoreEos() {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 4, 21, true, false);
        var first = fixture.add("first", 1, 4, 2, 0, true);
        var second = fixture.add("second", 100, 4, 5, 0, true);

        assertThat(results(attempt(fixture, null, first, second)))
                .containsExactly(AddResult.CONTINUE, AddResult.NO_TOKEN);
    }

    /**
     * 30 tokens, 4 of them hold the first chunk. The second, of 4 and a page, leaves 21, of which the next needs 2 + 1 + 1: it
     * is not refused for want of tokens, as it would be if the 20 of the unfinished request's answer counted.
     */
    @Test
    void unfinishedPrefill_doesNotCountItsAnswer() {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 4, 30, false, false, 4);
        var chunked = fixture.add("chunked", 1, 12, 1, 0, false);
        chunked.maxNewTokens = 20;
        prefill(fixture, chunked, 4);

        var outcome = attempt(fixture, chunked, fixture.add("next", 100, 2, 1, 0, false));

        assertThat(results(outcome)).containsExactly(AddResult.OTHER);
        assertThat(outcome.ends.toIntArray()).containsExactly(8);
        assertThat(outcome.isFull).isFalse();
    }

    /**
     * All 12 tokens are held, 4 by the first chunk and 8 by another request. Nothing remains, and then the next chunk is as
     * long as any: 4 tokens, for which there is no place.
     */
    @Test
    void unfinishedPrefill_goesOnWithoutMemory() {
        var fixture = new SglangFixture(SchedulePolicy.FCFS, 4, 12, false, false, 4);
        var chunked = fixture.add("chunked", 1, 12, 1, 0, false);
        prefill(fixture, chunked, 4);
        prefill(fixture, fixture.add("other", 100, 8, 1, 0, false), 8);

        assertThatThrownBy(() -> attempt(fixture, chunked))
                .isInstanceOf(KvOutOfMemoryException.class)
                .hasMessage("Out of memory. Try to lower your batch size. Try to allocate 4 tokens."
                        + " Available tokens: 0 (available_size=0 + evictable_size=0)");
    }

    private static void prefill(SglangFixture fixture, SglangRequest request, int numTokens) {
        var sequence = fixture.memory.open(request.lookup);
        fixture.memory.match(sequence, request.numTokens() - 1);
        fixture.memory.admit(sequence, numTokens);
        fixture.memory.extend(ObjectArrayList.of(sequence));
        fixture.memory.cacheUnfinished(request.handle(), true);
    }
}

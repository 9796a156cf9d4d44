package understudy.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.SessionTurn;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RequestRecordBuilder;

final class RequestSampleTest {
    private final RequestsInFlight inFlight = new RequestsInFlight();
    private final RequestSample sample = new RequestSample();

    /** 100 requests are more than 80, so every second one stays, also of those that come later. */
    @Test
    void requests_areThinnedByNumber() {
        for (int i = 0; i < 100; i++) {
            add(i, 10);
        }

        assertThat(sample.requests().step()).isEqualTo(2);
        assertThat(sample.requests().rows().keySet())
                .hasSize(50)
                .startsWith(0L, 2L)
                .endsWith(96L, 98L);
    }

    /** The order in which requests end does not decide who stays. */
    @Test
    void sample_isTheSameInAnyOrder() {
        for (int i = 99; i >= 0; i--) {
            add(i, 10);
        }

        assertThat(sample.requests().rows().keySet())
                .hasSize(50)
                .startsWith(0L, 2L)
                .endsWith(96L, 98L);
        assertThat(sample.slowest().stream().map(story -> story.ended().requestId()))
                .hasSize(20)
                .startsWith(0L, 1L)
                .endsWith(19L);
    }

    @Test
    void slowest_comeFirst_andKnowTheRoutersReason() {
        for (int i = 0; i < 30; i++) {
            String reason = "reason " + i;
            inFlight.routed(i, () -> reason);
            add(i, i == 7 ? 1000 : 100 + i);
        }

        // 7, then 29, 28, … 11: twenty in all.
        assertThat(sample.slowest().stream().map(RequestStory::reason))
                .hasSize(20)
                .startsWith("reason 7", "reason 29")
                .endsWith("reason 11");
    }

    @Test
    void turns_areTogetherInTheirSession() {
        for (int turn = 1; turn <= 3; turn++) {
            sample.add(Objects.requireNonNull(inFlight.ended(request(turn, 0, 1, 2, 3, SessionTurn.of(5, turn)))));
        }

        assertThat(sample.sessions().rows()).containsOnlyKeys(5L);
        assertThat(sample.sessions().rows().get(5L)).hasSize(3);
    }

    private void add(long id, long e2elNanos) {
        sample.add(Objects.requireNonNull(inFlight.ended(request(id, 0, 1, 2, e2elNanos, SessionTurn.NONE))));
    }

    static RequestRecord request(
            long id, long arrival, long scheduled, long firstToken, long lastToken, SessionTurn turn) {
        return RequestRecordBuilder.builder()
                .requestId(id)
                .outcome(Outcome.COMPLETED)
                .arrivalNanos(arrival)
                .queuedNanos(arrival)
                .scheduledNanos(scheduled)
                .firstTokenNanos(firstToken)
                .lastTokenNanos(lastToken)
                .endNanos(lastToken)
                .numPromptTokens(10)
                .numOutputTokens(2)
                .turn(turn)
                .events(PrefixCacheEvents.NONE)
                .tokenNanos(LongLists.EMPTY_LIST)
                .build();
    }
}

package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.SessionTurn;

/** Each law is broken once, to see that it is noticed. */
final class InvariantsTest {
    private final ReportFixture fixture = new ReportFixture();

    @Test
    void goodRun_breaksNothing() {
        assertThat(Invariants.check(fixture.run())).isEmpty();
    }

    @Test
    void lostRequest_isNoticed() {
        fixture.numPlanned = 4;
        fixture.numSent = 4;

        assertThat(Invariants.check(fixture.run()))
                .containsExactly("request conservation: 4 sent, but 3 ended and 0 are left");
    }

    @Test
    void requestThatWasPlannedAndNeverSent_isNoticed() {
        fixture.numPlanned = 5;

        assertThat(Invariants.check(fixture.run()))
                .containsExactly("request conservation: 5 planned, but 3 sent and 0 abandoned");
    }

    @Test
    void preemptionThatNoRequestKnowsOf_isNoticed() {
        // Request 1 says that it was preempted once, and so does replica 1; now a request comes that was preempted
        // twice.
        fixture.numPlanned = 4;
        fixture.numSent = 4;
        fixture.log.addRequest(RequestRecordBuilder.builder()
                .requestId(9)
                .outcome(Outcome.COMPLETED)
                .arrivalNanos(50)
                .queuedNanos(60)
                .scheduledNanos(65)
                .firstTokenNanos(70)
                .lastTokenNanos(80)
                .endNanos(80)
                .numPromptTokens(1)
                .numOutputTokens(1)
                .numPreemptions(2)
                .turn(SessionTurn.NONE)
                .events(PrefixCacheEvents.NONE)
                .tokenNanos(new LongArrayList())
                .build());

        assertThat(Invariants.check(fixture.run())).containsExactly("preemptions: replicas count 1, requests 3");
    }

    /** The one preemption that replica 1 counts is that of request 1, which has not moved. */
    @Test
    void preemptionOfARequestThatHasMoved_isNotExpectedOfRequests() {
        fixture.numPreemptionsWithdrawn = 1;

        assertThat(Invariants.check(fixture.run())).containsExactly("preemptions: replicas count 0, requests 1");
    }

    @Test
    void unfinishedRequests_areFineOnlyInAPartialRun() {
        fixture.numPlanned = 5;
        fixture.numSent = 5;
        fixture.numUnfinished = 2;
        assertThat(Invariants.check(fixture.run()))
                .containsExactly("request conservation: 2 requests are left at the end");

        fixture.isPartial = true;
        assertThat(Invariants.check(fixture.run())).isEmpty();
    }

    @Test
    void leakedBlock_isNoticed() {
        fixture.audit = new KvCacheAudit(100, 98, 1, 0, 0, 0, 0);

        assertThat(Invariants.check(fixture.run()))
                .singleElement()
                .asString()
                .startsWith("block conservation: replica 0");
    }

    @Test
    void lostBlock_isNoticedAlsoInAPartialRun() {
        fixture.isPartial = true;
        fixture.audit = new KvCacheAudit(100, 98, 0, 0, 0, 0, 0);
        assertThat(Invariants.check(fixture.run())).hasSize(1);

        fixture.audit = new KvCacheAudit(100, 98, 1, 0, 1, 0, 0);
        assertThat(Invariants.check(fixture.run()))
                .as("a wrong reference count")
                .hasSize(1);
    }

    /** Each time but one is in order, and that one is a nanosecond too late; the run ends at 10 s. */
    @ParameterizedTest
    @CsvSource({
        "61, 60, 65, 70, 80",
        "50, 66, 65, 70, 80",
        "50, 60, 71, 70, 80",
        "50, 60, 65, 81, 80",
        "50, 60, 65, 70, 10000000001"
    })
    void effectBeforeCause_isNoticed(long arrival, long queued, long scheduled, long firstToken, long lastToken) {
        fixture.numPlanned = 4;
        fixture.numSent = 4;
        fixture.log.addRequest(RequestRecordBuilder.builder()
                .requestId(9)
                .outcome(Outcome.COMPLETED)
                .arrivalNanos(arrival)
                .queuedNanos(queued)
                .scheduledNanos(scheduled)
                .firstTokenNanos(firstToken)
                .lastTokenNanos(lastToken)
                .endNanos(lastToken)
                .numPromptTokens(1)
                .numOutputTokens(1)
                .turn(SessionTurn.NONE)
                .events(PrefixCacheEvents.NONE)
                .tokenNanos(new LongArrayList())
                .build());

        assertThat(Invariants.check(fixture.run()))
                .singleElement()
                .asString()
                .startsWith("causality: RequestRecord[requestId=9,");
    }

    @Test
    void peeking_isNoticed() {
        fixture.numPeeks = 3;

        assertThat(Invariants.check(fixture.run()))
                .containsExactly("no peeking: 3 reads of output that was not sampled yet");
    }
}

package understudy.chaos.gateway.reference;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Batches that have come, and those that are applied. Each is stamped with its number in seconds unless a test says more. */
final class KvEventSequenceTest {
    private final List<Long> applied = new ArrayList<>();
    private KvEventSequence sequence = new KvEventSequence(WrongDecision.NONE);
    private int numIncomplete;

    private void offerAt(long number, double atSeconds, long nowNanos) {
        var step = sequence.offer(new KvEventBatch(number, atSeconds, List.of()), nowNanos);
        numIncomplete += step.isIncomplete() ? 1 : 0;
        step.batches().forEach(batch -> applied.add(batch.sequence()));
    }

    private void offer(long... numbers) {
        for (long number : numbers) {
            offerAt(number, (double) number, 0);
        }
    }

    @Test
    void duplicatesAreLeftOut() {
        offer(0, 0, 1, 1, 2, 2);

        assertThat(applied).containsExactly(0L, 1L, 2L);
        // Only what was before the first one is unknown.
        assertThat(numIncomplete).isEqualTo(1);
    }

    @Test
    void batchesInAnotherOrderAreApplied_inTheirs() {
        offer(0, 4, 3, 2, 1, 5);

        assertThat(applied).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        assertThat(numIncomplete).isEqualTo(1);
    }

    @Test
    void lostBatchIsGivenUp_whenEightWaitForIt() {
        offer(0, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(applied).containsExactly(0L);

        offer(10);

        assertThat(applied).containsExactly(0L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(numIncomplete).isEqualTo(2);
    }

    @Test
    void lostBatchIsGivenUp_after200Milliseconds() {
        offer(0, 2);
        offerAt(3, 3, 200_000_000);
        assertThat(applied).containsExactly(0L);

        offerAt(4, 4, 200_000_001);

        assertThat(applied).containsExactly(0L, 2L, 3L, 4L);
    }

    @Test
    void lowerNumberWithALaterStamp_beginsANewSequence() {
        offer(0, 1, 2);
        offerAt(0, 3, 0);
        offerAt(1, 4, 0);
        // An old one comes again, which is not the future of the new ones.
        offerAt(2, 2, 0);
        offerAt(2, 5, 0);

        assertThat(applied).containsExactly(0L, 1L, 2L, 0L, 1L, 2L);
        assertThat(numIncomplete).isEqualTo(2);
    }

    @Test
    void wrongSequenceTakesRestartForOld() {
        sequence = new KvEventSequence(WrongDecision.TAKES_RESTART_FOR_OLD);
        offer(0, 1, 2);
        offerAt(0, 3, 0);

        assertThat(applied).containsExactly(0L, 1L, 2L);
    }
}

package understudy.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.workload.RandomStreams;

final class FaultSamplerTest {

    @Test
    void cutThatResets_saysSo() {
        var dice = new FaultSampler(new RandomStreams(1));
        dice.set(new Fault.CutStreams(Fault.ALL_REPLICAS, 1, 5, true));

        assertThat(dice.next(0)).isEqualTo(new RequestFault(0, 5, 0, true));
    }

    @Test
    void faultsOfOneReplica_leaveTheOthersAlone() {
        var dice = new FaultSampler(new RandomStreams(1));
        dice.set(new Fault.ErrorRate(OptionalInt.of(1), 1));

        assertThat(dice.next(0)).isEqualTo(RequestFault.NONE);
        assertThat(dice.next(1).fails()).isTrue();
        dice.clear(1);
        assertThat(dice.next(1)).isEqualTo(RequestFault.NONE);
    }

    @Test
    void sequence_isUsedUp() {
        var dice = new FaultSampler(new RandomStreams(1));
        dice.set(new Fault.ErrorSequence(Fault.ALL_REPLICAS, 2));

        assertThat(IntStream.range(0, 4).mapToObj(i -> dice.next(i % 2).fails()))
                .containsExactly(true, true, false, false);
    }

    @Test
    void oneRate_doesNotChangeWhatAnotherHits() {
        assertThat(cuts(0)).isEqualTo(cuts(0.5)).contains(5).contains(0);
    }

    /** Which of 100 requests are cut, at half of them, next to an error rate. */
    private static List<Integer> cuts(double errorRate) {
        var dice = new FaultSampler(new RandomStreams(7));
        dice.set(new Fault.CutStreams(Fault.ALL_REPLICAS, 0.5, 5));
        dice.set(new Fault.ErrorRate(Fault.ALL_REPLICAS, errorRate));
        return IntStream.range(0, 100)
                .mapToObj(i -> dice.next(0).cutAfterTokens())
                .toList();
    }

    @Test
    void faultsAddUp() {
        var cutAt5 = new RequestFault(false, 5, 10);
        var cutAt3 = new RequestFault(false, 3, 20);
        var error = new RequestFault(true, 0, 0);

        assertThat(cutAt5.plus(cutAt3)).isEqualTo(new RequestFault(false, 3, 30));
        assertThat(cutAt3.plus(cutAt5)).isEqualTo(new RequestFault(false, 3, 30));
        var resetAt4 = new RequestFault(0, 4, 0, true);
        assertThat(cutAt5.plus(resetAt4)).isEqualTo(new RequestFault(0, 4, 10, true));
        assertThat(resetAt4.plus(cutAt5)).isEqualTo(new RequestFault(0, 4, 10, true));
        assertThat(cutAt3.plus(resetAt4)).isEqualTo(cutAt3);
        assertThat(resetAt4.plus(cutAt3)).isEqualTo(cutAt3);
        assertThat(error.plus(cutAt5)).isEqualTo(new RequestFault(true, 5, 10));
        assertThat(cutAt5.plus(error)).isEqualTo(new RequestFault(true, 5, 10));
    }
}

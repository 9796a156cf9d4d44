package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BodyMemoryTest {
    private final BodyMemory memory = new BodyMemory(100);

    @Test
    void share_growsAsLongAsThereIsRoomForAll() {
        var one = memory.share();
        var other = memory.share();

        assertThat(one.growTo(60)).isTrue();
        assertThat(other.growTo(41)).isFalse();
        assertThat(other.growTo(40)).isTrue();
        assertThat(one.growTo(61)).isFalse();
        assertThat(memory.numBytes()).isEqualTo(100);
    }

    @Test
    void share_isNotGrownBySmallerNumbers() {
        var share = memory.share();

        assertThat(share.growTo(60)).isTrue();
        assertThat(share.growTo(20)).isTrue();

        assertThat(memory.numBytes()).isEqualTo(60);
    }

    @Test
    void share_givesBackOnce() {
        var one = memory.share();
        var other = memory.share();
        one.growTo(50);
        other.growTo(50);

        one.shrinkTo(10);
        one.shrinkTo(30);
        assertThat(memory.numBytes()).isEqualTo(60);
        one.close();
        one.close();

        assertThat(memory.numBytes()).isEqualTo(50);
        assertThat(one.growTo(1)).isFalse();
    }

    @Test
    void hugeBodies_overflowNothing() {
        var share = memory.share();
        share.growTo(1);

        assertThat(share.growTo(Long.MAX_VALUE)).isFalse();

        assertThat(memory.numBytes()).isEqualTo(1);
    }

    @Test
    void pace_letsABurstPass_andThenNoMoreThanItsRate() {
        var pace = new ByteRate(1_000_000, 1_000);

        // A byte takes a microsecond: 1000 bytes are the burst, the next 500 take 500 us, and 400 us of those have
        // passed.
        assertThat(pace.passNanos(1_000, 0)).isZero();
        assertThat(pace.passNanos(500, 0)).isEqualTo(500_000);
        assertThat(pace.passNanos(0, 400_000)).isEqualTo(100_000);
        // Rest is not saved up beyond the burst.
        assertThat(pace.passNanos(1_001, 60_000_000_000L)).isEqualTo(1_000);
    }
}

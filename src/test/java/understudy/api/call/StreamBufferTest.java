package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Between the writer and the reader of a stream. */
final class StreamBufferTest {
    private final StreamBuffer<String> buffer = new StreamBuffer<>(2);
    private final List<String> wakes = new ArrayList<>();

    @Test
    void elements_comeInTheirOrder_andTheEndBehindThem() {
        buffer.offer("a");
        buffer.offer("b");
        buffer.end();

        assertThat(buffer.isExhausted()).isFalse();
        assertThat(List.of(buffer.poll(), buffer.poll())).containsExactly("a", "b");
        assertThat(buffer.poll()).isNull();
        assertThat(buffer.isExhausted()).isTrue();
        assertThat(buffer.failure()).isNull();
    }

    @Test
    void fullBuffer_refuses_andKeepsWhatItHas() {
        assertThat(List.of(buffer.offer("a"), buffer.offer("b"), buffer.offer("c")))
                .containsExactly(true, true, false);

        assertThat(List.of(buffer.poll(), buffer.poll())).containsExactly("a", "b");
    }

    @Test
    void reader_isWokenOnce_andOnlyIfItHasFoundNothing() {
        buffer.onMore(() -> wakes.add("more"));

        buffer.offer("a");
        assertThat(wakes).isEmpty();

        buffer.poll();
        buffer.poll();
        buffer.offer("b");
        buffer.offer("c");
        assertThat(wakes).hasSize(1);
    }

    @Test
    void reader_isWokenByTheEnd() {
        buffer.onMore(() -> wakes.add("more"));
        buffer.poll();

        buffer.end();

        assertThat(wakes).hasSize(1);
    }

    @Test
    void lastWord_comesBehindWhatWaits_andNothingFollowsIt() {
        buffer.offer("a");
        buffer.endWith("failed");
        buffer.offer("b");

        assertThat(List.of(buffer.poll(), buffer.poll())).containsExactly("a", "failed");
        assertThat(buffer.isExhausted()).isTrue();
    }

    @Test
    void lastWord_takesThePlaceOfWhatWaits_ifThereIsNoRoom() {
        buffer.offer("a");
        buffer.offer("b");
        buffer.endWith("too slow");

        assertThat(buffer.poll()).isEqualTo("too slow");
        assertThat(buffer.isExhausted()).isTrue();
    }

    @Test
    void failure_comesBehindWhatWaits_andNothingFollowsIt() {
        var failure = new IllegalStateException("cut");
        buffer.offer("a");
        buffer.fail(failure);
        buffer.end();

        assertThat(buffer.offer("b")).isTrue();
        assertThat(buffer.isExhausted()).isFalse();
        assertThat(buffer.poll()).isEqualTo("a");
        assertThat(buffer.poll()).isNull();
        assertThat(buffer.isExhausted()).isTrue();
        assertThat(buffer.failure()).isSameAs(failure);
    }
}

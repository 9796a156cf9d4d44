package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class RandomStreamsTest {

    @Test
    void stream_dependsOnSeedNameAndIndexOnly() {
        var streams = new RandomStreams(1);
        streams.stream("arrivals").nextLong();

        assertThat(first(1, "arrivals", 0)).isEqualTo(first(1, "arrivals", 0));
        assertThat(streams.stream("lengths").nextLong()).isEqualTo(first(1, "lengths", 0));
        assertThat(first(1, "arrivals", 0))
                .isNotEqualTo(first(2, "arrivals", 0))
                .isNotEqualTo(first(1, "lengths", 0))
                .isNotEqualTo(first(1, "arrivals", 1));
    }

    private static long first(long seed, String name, long index) {
        return new RandomStreams(seed).stream(name, index).nextLong();
    }
}

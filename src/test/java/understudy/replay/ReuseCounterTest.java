package understudy.replay;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ReuseCounterTest {
    private final TraceChunkBuilder builder = new TraceChunkBuilder();
    private final ReuseCounter counter = new ReuseCounter();

    @Test
    void reuse_isCountedByTheLruCacheThatItNeeds() {
        // Accesses a b | a c b | c | d e f g | a. An LRU cache has to have room for the block and those accessed since:
        // a: b in between, 2 blocks; b: a, c, 3 blocks; c: b, 2 blocks; the last a: c, b, d, e, f, g, 7 blocks.
        request(0, 1, 2);
        request(0, 1, 3, 2);
        request(0, 3);
        request(0, 4, 5, 6, 7);
        request(0, 1);

        var view = view();

        assertThat(view.numAccesses()).isEqualTo(11);
        assertThat(view.numBlocks()).isEqualTo(7);
        assertThat(view.numReuses()).isEqualTo(4);
        // Room for 1 block hits nothing, for 2 the reuses of a and c, for 4 that of b, too, for 8 all.
        assertThat(view.reusesByLruBlocks().toLongArray()).containsExactly(0L, 2L, 3L, 4L);
    }

    @Test
    void reuse_isCountedByTheTimeSinceTheLastAccess() {
        // Block 1: after 1 s, then 59 s, then 60.001 s, then an hour, then an hour and a millisecond.
        request(0, 1);
        request(1_000, 1);
        request(60_000, 1);
        request(120_001, 1);
        request(3_720_001, 1);
        request(7_320_002, 1);

        var view = view();

        assertThat(view.isTimed()).isTrue();
        // Within 1 s the first one; within 1 min two; within 10 min three; within 1 h four of five.
        assertThat(view.reusesWithinMillis().toLongArray()).containsExactly(1L, 2L, 3L, 4L);
        assertThat(view.numReuses()).isEqualTo(5);
    }

    @Test
    void timeThatRunsBack_isSaid() {
        request(5, 1);
        request(5, 1);
        request(4, 1);
        request(3, 1);

        var view = view();

        assertThat(view.isTimed()).isFalse();
        assertThat(view.requestBackInTime()).isEqualTo(3);
    }

    @Test
    void immediateReuse_needsOneBlock() {
        request(0, 1);
        request(0, 1);

        assertThat(view().reusesByLruBlocks().toLongArray()).containsExactly(1L);
    }

    @Test
    void traceWithoutReuse_hasNone() {
        request(0, 1, 2, 3);

        var view = view();

        assertThat(view.numReuses()).isZero();
        assertThat(view.reusesByLruBlocks().toLongArray()).containsExactly(0L);
        assertThat(view.reusesWithinMillis().toLongArray()).containsExactly(0L, 0L, 0L, 0L);
    }

    /** Squeezes the slots many times over, with and without growth. */
    @Test
    void distances_areThoseOfASimpleList() {
        var random = new SplittableRandom(7);
        var stack = new RecencyStack();
        var list = new ArrayList<Integer>();
        for (int i = 0; i < 60_000; i++) {
            int block = random.nextInt(1 + Math.min(2_000, i / 8));
            int position = list.indexOf(block);

            assertThat(stack.access(block)).isEqualTo(position);

            if (position >= 0) {
                list.remove(position);
            }
            list.add(0, block);
        }
        assertThat(stack.size()).isEqualTo(list.size());
    }

    @Test
    void reuses_areTheHitsOfLru() {
        var random = new SplittableRandom(3);
        for (int i = 0; i < 2_000; i++) {
            int first = random.nextInt(300);
            request(i, first, first + 1, first + random.nextInt(2, 200));
        }
        var chunk = builder.build();
        counter.accept(chunk);
        var view = counter.finish();

        for (int power = 0; power < view.reusesByLruBlocks().size(); power++) {
            var lru = Replayer.of(ReplaySettings.of(ReplayPolicy.LRU, 1 << power, 512), false);
            lru.accept(chunk);
            assertThat(view.reusesByLruBlocks().getLong(power))
                    .isEqualTo(lru.finish().blockHits());
        }
    }

    private void request(long atMillis, long... blockIds) {
        builder.add(LongList.of(blockIds), blockIds.length * 512, atMillis);
    }

    private SharingView view() {
        counter.accept(builder.build());
        return counter.finish();
    }
}

package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.replay.ReplayPolicy;
import understudy.replay.ReplayedKeys;

/** What every cache keeps to, whatever it evicts: the pool of a replica as well as the replay of a trace. */
final class CacheContractTest {
    private static final int[] CAPACITIES = {10, 16, 35};

    private static final int[][] STREAMS = {
        skewed(1, 2_000, 60),
        skewed(2, 2_000, 400),
        loop(2_000, 17),
        IntStream.range(0, 200).toArray(),
        loopsBetweenScans(3, 2_000),
    };

    /** A cache that is asked for one key at a time. */
    private interface KeyCache {
        boolean access(int key);

        int size();
    }

    /** An eviction policy of the pool or of the replay; one of them is null. */
    record Subject(EvictionPolicy live, ReplayPolicy replayed) {

        KeyCache create(int capacity, int[] stream) {
            return live == null ? replayed(new ReplayedKeys(replayed, capacity, stream)) : live(capacity);
        }

        int numHits(int capacity, int[] stream) {
            boolean[] hits = hits(capacity, stream);
            return (int) IntStream.range(0, hits.length).filter(i -> hits[i]).count();
        }

        boolean[] hits(int capacity, int[] stream) {
            var cache = create(capacity, stream);
            var hits = new boolean[stream.length];
            for (int i = 0; i < stream.length; i++) {
                hits[i] = cache.access(stream[i]);
            }
            return hits;
        }

        private KeyCache live(int capacity) {
            var cache = new OneTokenCache(live, capacity);
            return new KeyCache() {
                @Override
                public boolean access(int key) {
                    boolean isHit = cache.hold(0, key);
                    cache.release(0);
                    return isHit;
                }

                @Override
                public int size() {
                    return cache.kvCache.blockCounts().numCached();
                }
            };
        }

        private static KeyCache replayed(ReplayedKeys cache) {
            return new KeyCache() {
                @Override
                public boolean access(int key) {
                    return cache.access(key);
                }

                @Override
                public int size() {
                    return cache.size();
                }
            };
        }

        @Override
        public String toString() {
            return live == null ? "replayed " + replayed : "live " + live;
        }
    }

    static Stream<Subject> subjects() {
        return Stream.concat(
                Arrays.stream(EvictionPolicy.values()).map(policy -> new Subject(policy, null)),
                Arrays.stream(ReplayPolicy.values()).map(policy -> new Subject(null, policy)));
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void hitChangesNoSize_andAMissAddsAtMostOneKeyUpToTheCapacity(Subject subject) {
        for (int[] stream : STREAMS) {
            var cache = subject.create(16, stream);
            int size = 0;
            for (int key : stream) {
                boolean isHit = cache.access(key);
                assertThat(cache.size()).isBetween(size, isHit ? size : size + 1);
                size = cache.size();
                assertThat(subject.replayed == ReplayPolicy.INFINITE || size <= 16)
                        .isTrue();
            }
        }
    }

    /** One need not let a key in. */
    static Stream<Subject> subjectsThatMustAdmit() {
        return subjects().filter(subject -> subject.replayed != ReplayPolicy.BELADY_BYPASS);
    }

    @ParameterizedTest
    @MethodSource("subjectsThatMustAdmit")
    void keyAccessedLast_isThere(Subject subject) {
        for (int[] stream : STREAMS) {
            int[] twiceEach =
                    Arrays.stream(stream).flatMap(key -> IntStream.of(key, key)).toArray();
            boolean[] hits = subject.hits(10, twiceEach);

            assertThat(IntStream.range(0, stream.length).allMatch(i -> hits[2 * i + 1]))
                    .isTrue();
        }
    }

    /** The small queue of one gives keys up before the rest is full. */
    static Stream<Subject> subjectsThatFill() {
        return subjects().filter(subject -> subject.replayed != ReplayPolicy.S3FIFO);
    }

    @ParameterizedTest
    @MethodSource("subjectsThatFill")
    void whereAllKeysFit_eachIsMissedOnce(Subject subject) {
        for (int[] stream : STREAMS) {
            int numKeys = (int) Arrays.stream(stream).distinct().count();

            assertThat(subject.numHits(numKeys, stream)).isEqualTo(stream.length - numKeys);
        }
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void whoKnowsTheFuture_isNotBeaten(Subject subject) {
        // From the loosest bound to the tightest; each is held to those before it.
        var bounds = List.of(ReplayPolicy.INFINITE, ReplayPolicy.BELADY_BYPASS, ReplayPolicy.BELADY);
        int ownPlace = subject.replayed == null ? -1 : bounds.indexOf(subject.replayed);
        var itsBounds = ownPlace < 0 ? bounds : bounds.subList(0, ownPlace);
        for (int[] stream : STREAMS) {
            for (int capacity : CAPACITIES) {
                int numHits = subject.numHits(capacity, stream);

                for (ReplayPolicy bound : itsBounds) {
                    int atMost = new Subject(null, bound).numHits(capacity, stream);
                    assertThat(numHits).as("against %s", bound).isLessThanOrEqualTo(atMost);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void whatKeysAreCalled_doesNotMatter(Subject subject) {
        for (int[] stream : STREAMS) {
            int[] renamed =
                    Arrays.stream(stream).map(key -> 1_000_003 - 7 * key).toArray();

            assertThat(subject.hits(16, renamed)).isEqualTo(subject.hits(16, stream));
        }
    }

    /** The classes of the other two say in what pool and replay differ. */
    @ParameterizedTest
    @EnumSource(
            names = {"S3FIFO", "ARC"},
            mode = EnumSource.Mode.EXCLUDE)
    void poolAndReplay_hitTheSameWhereNothingIsHeld(EvictionPolicy policy) {
        for (int[] stream : STREAMS) {
            for (int capacity : CAPACITIES) {
                boolean[] live = new Subject(policy, null).hits(capacity, stream);
                boolean[] replayed = new Subject(null, ReplayPolicy.valueOf(policy.name())).hits(capacity, stream);

                assertThat(replayed).isEqualTo(live);
            }
        }
    }

    /** Few keys often, many seldom: the cube of a uniform number. */
    private static int[] skewed(int seed, int length, int numKeys) {
        var random = new Random(seed);
        return IntStream.range(0, length)
                .map(i -> (int) (numKeys * Math.pow(random.nextDouble(), 3)))
                .toArray();
    }

    private static int[] loop(int length, int numKeys) {
        return IntStream.range(0, length).map(i -> i % numKeys).toArray();
    }

    private static int[] loopsBetweenScans(int seed, int length) {
        var random = new Random(seed);
        return IntStream.range(0, length)
                .map(i -> i / 100 % 2 == 0 ? random.nextInt(12) : i)
                .toArray();
    }
}

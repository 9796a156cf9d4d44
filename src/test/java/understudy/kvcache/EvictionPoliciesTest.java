package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.kvcache.eviction.EvictionPolicy;

/** What tells the eviction policies apart. */
final class EvictionPoliciesTest {
    private static final int A = 1;
    private static final int B = 2;
    private static final int C = 3;
    private static final int D = 4;
    private static final int E = 5;

    @Test
    void lru_evictsWhatWasUsedLongestAgo() {
        assertThat(survivors(EvictionPolicy.LRU, 3, A, B, C, A, D)).containsExactly(A, C, D);
    }

    @Test
    void fifo_doesNotCareForHits() {
        assertThat(survivors(EvictionPolicy.FIFO, 3, A, B, C, A, D)).containsExactly(B, C, D);
    }

    @Test
    void fifo_countsAnewWhenContentComesBack() {
        // D evicts A, A comes back and evicts B, E evicts C.
        assertThat(survivors(EvictionPolicy.FIFO, 3, A, B, C, D, A, E)).containsExactly(A, D, E);
    }

    @Test
    void lfu_keepsWhatIsUsedMost() {
        // Uses: A 2, B 2, C 1; D evicts C, then E evicts D although D is the most recent.
        assertThat(survivors(EvictionPolicy.LFU, 3, A, A, B, B, C, D, E)).containsExactly(A, B, E);
    }

    @Test
    void lfu_forgetsTheUsesOfEvictedContent() {
        // D evicts C (1 use); C comes back with 1 use and evicts D, the other one with 1 use.
        assertThat(survivors(EvictionPolicy.LFU, 3, A, A, B, B, C, D, C)).containsExactly(A, B, C);
    }

    @Test
    void lfu_countsRequestsThatShareABlockAtTheSameTime() {
        var cache = new OneTokenCache(EvictionPolicy.LFU, 2);
        cache.use(B);
        cache.hold(1, A);
        cache.hold(2, A);
        cache.release(1);
        cache.release(2);
        cache.use(B, C);

        // A was used twice, B twice but later; the older one goes.
        assertThat(cache.contains(B)).isTrue();
        assertThat(cache.contains(A)).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = EvictionPolicy.class,
            names = {"S3FIFO", "ARC", "LFU"})
    void scan_doesNotWashOutWhatIsUsedOften(EvictionPolicy policy) {
        var cache = new OneTokenCache(policy, 10);
        cache.use(A, B, A, B, A, B);
        cache.use(IntStream.range(100, 200).toArray());

        assertThat(cache.contains(A)).isTrue();
        assertThat(cache.contains(B)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = EvictionPolicy.class,
            names = {"LRU", "LRU_LONGEST_PREFIX", "FIFO"})
    void scan_washesOutOtherPolicies(EvictionPolicy policy) {
        var cache = new OneTokenCache(policy, 10);
        cache.use(A, B, A, B, A, B);
        cache.use(IntStream.range(100, 200).toArray());

        assertThat(cache.contains(A)).isFalse();
    }

    @Test
    void s3Fifo_keepsWhatComesBackThroughAScan() {
        var cache = new OneTokenCache(EvictionPolicy.S3FIFO, 10);
        cache.use(A);
        cache.use(IntStream.range(100, 110).toArray());
        assertThat(cache.contains(A)).as("evicted, and remembered").isFalse();

        cache.use(A);
        cache.use(IntStream.range(200, 260).toArray());

        assertThat(cache.contains(A)).isTrue();
    }

    @Test
    void arc_givesTheListMoreRoomWhoseGhostComesBack() {
        var cache = new OneTokenCache(EvictionPolicy.ARC, 4);
        cache.use(A, A, B, B, C, D);
        // Once: C, D; often: A, B; the target for once is 0. E sends C among the ghosts, C's return sends D there and
        // raises the target to 1: once is E, often is A, B, C.
        cache.use(E, C);
        assertThat(cache.contains(D)).isFalse();

        // Once holds no more than its target now, so the next one goes out of often.
        cache.use(6);

        assertThat(cache.contains(E)).isTrue();
        assertThat(cache.contains(A)).isFalse();
        assertThat(cache.contains(B)).isTrue();
    }

    @Test
    void s3Fifo_givesWhatIsInMainASecondChanceForEachHit() {
        var cache = new OneTokenCache(EvictionPolicy.S3FIFO, 3);
        // A and B are hit twice, so that they move to main when C, and then D, look for room in small.
        cache.use(A, A, A, B, B, B, C, D);

        // Small holds at most one key (a tenth of 3, but at least 1): C went for D, and A and B are in main.
        assertThat(cache.contains(A)).isTrue();
        assertThat(cache.contains(B)).isTrue();
        assertThat(cache.contains(C)).isFalse();
        assertThat(cache.contains(D)).isTrue();
    }

    /** Returns the keys from A to E that are cached after these uses. */
    private static int[] survivors(EvictionPolicy policy, int capacity, int... uses) {
        var cache = new OneTokenCache(policy, capacity);
        cache.use(uses);
        return Arrays.stream(new int[] {A, B, C, D, E}).filter(cache::contains).toArray();
    }
}

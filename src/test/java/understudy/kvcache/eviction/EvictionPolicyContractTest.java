package understudy.kvcache.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.kvcache.OneTokenCache;

/** What every eviction policy keeps to. */
final class EvictionPolicyContractTest {
    private static final int CAPACITY = 40;

    @ParameterizedTest
    @EnumSource(EvictionPolicy.class)
    void blocksInUse_areNeverEvicted_andSizesAreTrue(EvictionPolicy policy) {
        var cache = new OneTokenCache(policy, CAPACITY);
        var held = new Held(cache, new Random(7));

        for (int i = 0; i < 5_000; i++) {
            held.holdOrRelease();
            // The audit counts blocks, references, free blocks and hashes anew; a block given out twice shows up in it.
            assertThat(cache.kvCache.audit().isConserved()).as("after %d", i).isTrue();
            held.checkThatAllAreStillThere();
        }
        held.releaseAll();

        assertThat(cache.kvCache.numFreeBlocks()).isEqualTo(CAPACITY);
        assertThat(cache.kvCache.freeOrder()).hasSize(CAPACITY).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @EnumSource(EvictionPolicy.class)
    void allFreeBlocks_canBeHadAtOnce(EvictionPolicy policy) {
        var cache = new OneTokenCache(policy, CAPACITY);
        cache.use(IntStream.range(0, 3 * CAPACITY).map(i -> i % 7 == 0 ? 1 : i).toArray());

        cache.hold(1, IntStream.range(1_000, 1_000 + CAPACITY).toArray());

        assertThat(cache.kvCache.numFreeBlocks()).isZero();
        assertThat(cache.contains(1)).isFalse();
        assertThatThrownBy(() -> cache.hold(2, 5)).as("the answer is a refusal").isInstanceOf(ClassCastException.class);
    }

    @ParameterizedTest
    @EnumSource(EvictionPolicy.class)
    void emptyBlocks_goBeforeCachedOnes(EvictionPolicy policy) {
        var cache = new OneTokenCache(policy, CAPACITY);

        cache.use(IntStream.range(0, CAPACITY).toArray());

        for (int key = 0; key < CAPACITY; key++) {
            assertThat(cache.contains(key)).as("key %d", key).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(EvictionPolicy.class)
    void orderTellsWhatGoesNext(EvictionPolicy policy) {
        var cache = new OneTokenCache(policy, CAPACITY);
        cache.use(IntStream.range(0, CAPACITY).toArray());
        int[] free = cache.kvCache.freeOrder();

        cache.hold(1, 1_000);

        // All keys were used once and in this order, so even policies that decide late have one candidate only.
        assertThat(cache.kvCache.freeOrder()).isEqualTo(Arrays.copyOfRange(free, 1, free.length));
    }

    /** Requests with one to four keys each, some of them alike. */
    private static final class Held {
        private final OneTokenCache cache;
        private final Random random;
        private final List<Integer> handles = new ArrayList<>();
        private final List<int[]> prompts = new ArrayList<>();
        private int nextHandle = 1;

        Held(OneTokenCache cache, Random random) {
            this.cache = cache;
            this.random = random;
        }

        void holdOrRelease() {
            if (handles.size() < 8 && random.nextBoolean()) {
                int first = random.nextInt(30);
                int[] prompt = IntStream.range(0, 1 + random.nextInt(4))
                        .map(i -> 10 * first + i)
                        .toArray();
                cache.hold(nextHandle, prompt);
                handles.add(nextHandle++);
                prompts.add(prompt);
            } else if (!handles.isEmpty()) {
                int index = random.nextInt(handles.size());
                cache.release(handles.remove(index));
                prompts.remove(index);
            }
        }

        void checkThatAllAreStillThere() {
            for (int[] prompt : prompts) {
                int numCached = cache.kvCache.match(List.of(OneTokenCache.lookup(0, prompt)))[0];
                cache.release(0);
                assertThat(numCached).isEqualTo(prompt.length);
            }
        }

        void releaseAll() {
            handles.forEach(cache::release);
        }
    }
}

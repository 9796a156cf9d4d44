package understudy.kvcache.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatList;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The same random stores, loads, touches and faults for the tier and for its plain twin, which must never differ. */
final class TierCacheAgainstPlainTierTest {
    private static final int NUM_OPERATIONS = 20_000;
    private static final int NUM_KEYS = 60;
    private static final int MAX_RUN = 6;

    @ParameterizedTest
    @CsvSource({
        "LRU, 20, 0",
        "LRU, 10, 2",
        "LRU, 3, 0",
        "LRU, 12, 3",
        "ARC, 20, 0",
        "ARC, 10, 2",
        "ARC, 3, 0",
        "ARC, 12, 3"
    })
    void sameOperations_leaveTheSameState(TierPolicy policy, int numBlocks, int storeThreshold) {
        var pair = new Pair(new TierSpec(numBlocks, policy, storeThreshold, 40), new Random(11));

        for (int i = 0; i < NUM_OPERATIONS; i++) {
            pair.doSomething();
            pair.check("operation " + i);
        }

        assertThat(pair.cache.stats().numEvictions()).isGreaterThan(NUM_OPERATIONS / 100);
        assertThat(pair.cache.stats().numHits()).isGreaterThan(NUM_OPERATIONS / 100);
        assertThat(pair.cache.stats().numRefusedStores()).isPositive();
        assertThat(pair.cache.stats().numSkippedStores() > 0).isEqualTo(storeThreshold >= 2);
    }

    private static final class Pair {
        private final TierSpec spec;
        private final TierCache cache;
        private final PlainTier plain;
        private final Random random;
        private final List<Long> storing = new ArrayList<>();
        private final List<Long> loading = new ArrayList<>();

        Pair(TierSpec spec, Random random) {
            this.spec = spec;
            this.random = random;
            cache = new TierCache(spec);
            plain = new PlainTier(spec);
        }

        void doSomething() {
            switch (random.nextInt(16)) {
                case 0, 1, 2 -> lookupAndLoad(run());
                case 3, 4, 5, 6 -> store(run());
                case 7, 8, 9 -> endStore(true);
                case 10, 11, 12 -> endLoad();
                case 13 -> touch(run());
                case 14 -> endStore(false);
                default -> lose(random.nextInt(40));
            }
        }

        /** Returns keys in a row, the lower ones more often than the others. */
        private List<Long> run() {
            long first = Math.min(random.nextInt(NUM_KEYS), random.nextInt(NUM_KEYS));
            return LongStream.range(first, first + 1 + random.nextInt(MAX_RUN))
                    .boxed()
                    .toList();
        }

        private void lookupAndLoad(List<Long> keys) {
            var hits = new ArrayList<Long>();
            for (long key : keys) {
                var answer = cache.lookup(key);
                assertThat(answer).isEqualTo(plain.lookup(key));
                if (answer == TierLookup.HIT) {
                    hits.add(key);
                }
            }
            touch(keys);
            assertThatList(cache.prepareLoad(new LongArrayList(hits))).isEqualTo(blocks(hits));
            hits.forEach(plain::load);
            loading.addAll(hits);
        }

        private void touch(List<Long> keys) {
            cache.touch(new LongArrayList(keys));
            plain.touch(keys);
        }

        private void store(List<Long> keys) {
            var before = plain.keysInBlockOrder();
            var blocksBefore = blocks(before);
            var answer = cache.prepareStore(new LongArrayList(keys));
            var expected = plain.store(keys);
            assertThat(answer instanceof PrepareStoreOutput.Prepared).isEqualTo(expected.isPresent());
            if (answer instanceof PrepareStoreOutput.Prepared prepared) {
                assertThatList(prepared.keys()).isEqualTo(expected.get().get(0));
                assertThatList(prepared.blocks()).isEqualTo(blocks(prepared.keys()));
                assertThatList(prepared.evictedKeys()).isEqualTo(expected.get().get(1));
                var evicted = prepared.evictedBlocks().intStream().mapToObj(b -> before.get(blocksBefore.indexOf(b)));
                assertThat(evicted).isEqualTo(prepared.evictedKeys());
                storing.addAll(prepared.keys());
            }
        }

        private void endStore(boolean isSuccess) {
            for (long key : someOf(storing)) {
                if (isSuccess) {
                    cache.completeStore(key);
                    plain.complete(key);
                } else {
                    cache.failStore(key);
                    plain.remove(key);
                }
            }
        }

        private void endLoad() {
            for (long key : someOf(loading)) {
                cache.completeLoad(key);
                plain.complete(key);
            }
        }

        private List<Long> someOf(List<Long> transfers) {
            Collections.shuffle(transfers, random);
            var last = transfers.subList(random.nextInt(transfers.size() + 1), transfers.size());
            var some = List.copyOf(last);
            last.clear();
            return some;
        }

        private void lose(int remainder) {
            var lost = plain.keysInBlockOrder();
            lost.removeIf(key -> plain.get(key).users != 0 || key % 40 != remainder);
            assertThatList(cache.lose(key -> key % 40 == remainder)).isEqualTo(lost);
            lost.forEach(plain::remove);
        }

        private void check(String when) {
            assertThat(cache.audit().isConserved()).as(when).isTrue();
            assertThat(cache.orderState()).as(when).isEqualTo(expectedState());
            assertThat(cache.stats().numUsed()).as(when).isEqualTo(plain.t1.size() + plain.t2.size());
            assertThat(cache.stats().numPending()).as(when).isEqualTo(storing.size());
            assertThat(cache.stats().numInRead()).as(when).isEqualTo((int)
                    loading.stream().distinct().count());
        }

        private TierOrderState expectedState() {
            return switch (spec.policy()) {
                case LRU -> new TierOrderState.Lru(blocks(plain.idle));
                case ARC ->
                    new TierOrderState.Arc(
                            blocks(plain.t1.keySet()),
                            blocks(plain.t2.keySet()),
                            plain.b1.size(),
                            plain.b2.size(),
                            plain.target);
            };
        }

        private IntList blocks(Collection<Long> keys) {
            return new IntArrayList(
                    keys.stream().mapToInt(key -> plain.get(key).block).toArray());
        }
    }
}

package understudy.kvcache.content;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.HashCommon;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.HashIndex;
import understudy.prompt.HashPath;
import understudy.prompt.Xxh3BlockHasher;

/**
 * A pool whose sequences leave runs of blocks against one whose blocks all stand alone: whatever sequences do, both give out
 * the same blocks and find the same.
 */
final class BlockRunsTest {
    private static final int NUM_BLOCKS = 1_200;
    private static final int OPERATIONS = 1_000;

    @ParameterizedTest
    @CsvSource({
        "1, UNHASHED_FIRST",
        "2, UNHASHED_FIRST",
        "3, UNHASHED_FIRST",
        "4, UNHASHED_FIRST",
        "5, ALL_LAST",
        "6, ALL_LAST"
    })
    void pool_withRunsDoesWhatOneWithoutDoes(int seed, FreeOrder order) {
        var random = new Random(seed);
        var scene = new Scene(random, order);
        int numInRuns = 0;
        for (int i = 0; i < OPERATIONS; i++) {
            scene.doSomething();
            numInRuns += scene.numInRuns();
        }
        assertThat(numInRuns / OPERATIONS).as("blocks in runs, on average").isGreaterThan(NUM_BLOCKS / 10);
    }

    /**
     * Hashes that somebody has chosen to be equal, at different places: then runs may find other blocks, but references still
     * are those of the tables.
     */
    @ParameterizedTest
    @ValueSource(ints = {7, 8, 9})
    void references_areThoseOfTables_alsoIfHashesAreEqual(int seed) {
        var random = new Random(seed);
        var pool = pool(FreeOrder.UNHASHED_FIRST, new KvEventLog(false));
        var tables = new ArrayList<int[]>();
        var paths = new ArrayList<HashPath>();
        for (int i = 0; i < OPERATIONS; i++) {
            if (tables.size() < 2 + random.nextInt(4)) {
                var earlier = paths.isEmpty() ? HashPath.EMPTY : paths.get(random.nextInt(paths.size()));
                var more = hashes(random, random.nextInt(150), 30);
                paths.add(earlier.goingOn(random.nextInt(Math.min(100, earlier.length()) + 1), more));
                tables.add(begin(pool, paths.get(paths.size() - 1)));
            } else {
                int ended = random.nextInt(tables.size());
                var table = tables.remove(ended);
                pool.releaseSequence(table, table.length, 0, paths.remove(ended));
            }
            var refCounts = new int[NUM_BLOCKS];
            tables.forEach(table -> Arrays.stream(table).forEach(block -> refCounts[block]++));
            for (int block = 1; block < NUM_BLOCKS; block++) {
                assertThat(pool.refCount(block)).isEqualTo(refCounts[block]);
            }
            int[] free = pool.freeOrder();
            Arrays.sort(free);
            assertThat(free)
                    .containsExactly(IntStream.range(1, NUM_BLOCKS)
                            .filter(block -> refCounts[block] == 0)
                            .toArray());
        }
    }

    private static int[] begin(BlockPool pool, HashPath path) {
        var table = new int[path.length()];
        int numFound = pool.find(path, table.length, table);
        pool.touch(table, numFound, 0);
        pool.take(table, numFound, table.length - numFound);
        for (int i = numFound; i < table.length; i++) {
            pool.cache(table[i], path.get(i), home(path, i), 0);
        }
        return table;
    }

    private static BlockPool pool(FreeOrder order, KvEventLog events) {
        var blocks = KvBlocks.of(new Xxh3BlockHasher(1), NUM_BLOCKS);
        return new BlockPool(
                ContentConfigBuilder.builder(ContentConfig.vllm(blocks))
                        .freeBlocks(new FreeBlocks(EvictionPolicy.LRU, order))
                        .build(),
                events);
    }

    private static long[] hashes(Random random, int count, int numDifferent) {
        return random.ints(count, 0, numDifferent)
                .mapToLong(i -> HashCommon.mix((long) i))
                .toArray();
    }

    private static int home(HashPath path, int block) {
        return HashIndex.home(path.get(HashIndex.firstBeside(block)), block);
    }

    /** One sequence in both pools. */
    private static final class Held {
        final long conversation;
        final HashPath path;
        int[] alone;
        int[] inRuns;
        int numCached;

        Held(long conversation, HashPath path, int numBlocks) {
            this.conversation = conversation;
            this.path = path;
            alone = new int[numBlocks];
            inRuns = new int[numBlocks];
        }
    }

    private static final class Scene {
        private final Random random;
        private final KvEventLog eventsAlone = new KvEventLog(true);
        private final KvEventLog eventsInRuns = new KvEventLog(true);
        private final BlockPool alone;
        private final BlockPool inRuns;
        private final List<Held> held = new ArrayList<>();
        private final List<HashPath> paths = new ArrayList<>();

        Scene(Random random, FreeOrder order) {
            this.random = random;
            alone = pool(order, eventsAlone);
            inRuns = pool(order, eventsInRuns);
            paths.add(HashPath.EMPTY);
        }

        void doSomething() {
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3 -> begin();
                case 4, 5 -> grow();
                case 6, 7, 8, 9 -> end();
                case 10 -> swap();
                default -> disturb();
            }
            check();
        }

        /** A sequence of 240 blocks at most, which as a rule begins as an earlier one, whose conversation it often goes on. */
        void begin() {
            var earlier = paths.get(Math.max(0, paths.size() - 1 - random.nextInt(8)));
            int numShared = random.nextInt(3) > 0 ? earlier.length() : random.nextInt(earlier.length() + 1);
            var more = random.longs(random.nextInt(241 - numShared)).toArray();
            var path = earlier.goingOn(numShared, more);
            var sequence = new Held(random.nextInt(4) - 1, path, path.length() + random.nextInt(3));
            int limit = random.nextInt(4) > 0 ? path.length() : random.nextInt(path.length() + 1);
            int numFound = alone.find(path, limit, sequence.alone);
            assertThat(inRuns.find(path, limit, sequence.inRuns)).isEqualTo(numFound);
            assertThat(sequence.inRuns).containsExactly(sequence.alone);
            int numFree = alone.countFree(sequence.alone, numFound);
            assertThat(inRuns.countFree(sequence.inRuns, numFound)).isEqualTo(numFree);
            int numNew = sequence.alone.length - numFound;
            if (numNew + numFree > alone.numFree()) {
                return;
            }
            boolean findsOwn = alone.touch(sequence.alone, numFound, sequence.conversation);
            assertThat(inRuns.touch(sequence.inRuns, numFound, sequence.conversation))
                    .isEqualTo(findsOwn);
            for (int i = 0; i < numNew; i++) {
                sequence.alone[numFound + i] = alone.take();
            }
            inRuns.take(sequence.inRuns, numFound, numNew);
            sequence.numCached = numFound;
            held.add(sequence);
            paths.add(path);
            cache(sequence, random.nextInt(4) > 0 ? path.length() : numFound);
        }

        private void cache(Held sequence, int numCached) {
            for (int i = sequence.numCached; i < numCached; i++) {
                long hash = sequence.path.get(i);
                int home = home(sequence.path, i);
                alone.cache(sequence.alone[i], hash, home, sequence.conversation);
                inRuns.cache(sequence.inRuns[i], hash, home, sequence.conversation);
            }
            sequence.numCached = Math.max(sequence.numCached, numCached);
        }

        void grow() {
            if (!held.isEmpty()) {
                var sequence = held.get(random.nextInt(held.size()));
                cache(sequence, sequence.path.length());
                if (alone.numFree() > 0) {
                    sequence.alone = append(sequence.alone, alone.take());
                    sequence.inRuns = append(sequence.inRuns, inRuns.take());
                }
            }
        }

        private static int[] append(int[] table, int block) {
            var longer = Arrays.copyOf(table, table.length + 1);
            longer[table.length] = block;
            return longer;
        }

        void end() {
            if (!held.isEmpty()) {
                var sequence = held.remove(random.nextInt(held.size()));
                alone.release(sequence.alone, sequence.alone.length, 0);
                inRuns.releaseSequence(sequence.inRuns, sequence.inRuns.length, 0, sequence.path);
            }
        }

        /** Swaps a block of a sequence for one that another sequence has left, as promotion does. */
        void swap() {
            if (held.isEmpty()) {
                return;
            }
            var sequence = held.get(random.nextInt(held.size()));
            int place = sequence.numCached;
            if (place < sequence.path.length()) {
                int home = home(sequence.path, place);
                int cached = alone.prefixTable().lookup(sequence.path.get(place), home);
                if (cached != 0) {
                    alone.touch(cached, sequence.conversation);
                    inRuns.touch(cached, sequence.conversation);
                    alone.release(sequence.alone[place]);
                    inRuns.release(sequence.inRuns[place]);
                    sequence.alone[place] = cached;
                    sequence.inRuns[place] = cached;
                    sequence.numCached++;
                }
            }
        }

        void disturb() {
            switch (random.nextInt(3)) {
                case 0 -> {
                    int block = 1 + random.nextInt(NUM_BLOCKS - 1);
                    if (alone.refCount(block) > 0) {
                        alone.forget(block);
                        inRuns.forget(block);
                    }
                }
                case 1 -> {
                    int numUsable = NUM_BLOCKS - random.nextInt(400);
                    alone.resize(numUsable);
                    inRuns.resize(numUsable);
                }
                default -> assertThat(inRuns.reset()).isEqualTo(alone.reset());
            }
        }

        void check() {
            assertThat(inRuns.freeOrder()).containsExactly(alone.freeOrder());
            assertThat(inRuns.counts()).isEqualTo(alone.counts());
            assertThat(inRuns.numReleased()).isEqualTo(alone.numReleased());
            assertThat(inRuns.numEvicted()).isEqualTo(alone.numEvicted());
            assertThat(eventsInRuns.drain()).isEqualTo(eventsAlone.drain());
            for (var sequence : held) {
                assertThat(sequence.inRuns).containsExactly(sequence.alone);
            }
            for (int block = 1; block < NUM_BLOCKS; block++) {
                assertThat(inRuns.refCount(block)).isEqualTo(alone.refCount(block));
                for (long conversation = -1; conversation < 3; conversation++) {
                    assertThat(belongs(inRuns, block, conversation)).isEqualTo(belongs(alone, block, conversation));
                }
            }
        }

        private static boolean belongs(BlockPool pool, int block, long conversation) {
            return pool.prefixTable().isHashed(block) && pool.prefixTable().belongsTo(block, conversation);
        }

        int numInRuns() {
            return (int) IntStream.range(1, NUM_BLOCKS)
                    .filter(block -> inRuns.isInRun(block))
                    .count();
        }
    }
}

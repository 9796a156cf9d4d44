package understudy.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.HashMap;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class HashIndexTest {

    @Test
    void agreesWithAHashMap_alsoWhenHashesCollide() {
        var random = new Random(3);
        var index = new HashIndex(4);
        var idByHash = new HashMap<Long, Integer>();
        var hashById = new HashMap<Integer, Long>();

        for (int i = 0; i < 200_000; i++) {
            // 390 hashes of which many share their low bits, so that searches overlap, also where the slots end and
            // begin, which are searched in steps of 9; half of them share all the bits that an entry keeps.
            long low = (9 * random.nextInt(10) - 45) & 0xffff_ffffL;
            long hash = (long) random.nextInt(20) << (random.nextBoolean() ? 32 : 40) | low;
            int id = 1 + random.nextInt(150);
            if (!hashById.containsKey(id) && random.nextBoolean()) {
                assertThat(index.putIfAbsent(id, hash, (int) hash))
                        .isEqualTo(idByHash.getOrDefault(hash, HashIndex.NONE));
                if (idByHash.putIfAbsent(hash, id) == null) {
                    hashById.put(id, hash);
                }
            } else if (!hashById.containsKey(id) && !idByHash.containsKey(hash)) {
                index.put(id, hash);
                idByHash.put(hash, id);
                hashById.put(id, hash);
            } else if (hashById.containsKey(id)) {
                index.remove(id);
                idByHash.remove(hashById.remove(id));
            }
            int expected = idByHash.getOrDefault(hash, HashIndex.NONE);
            assertThat(index.find(hash)).isEqualTo(expected);
            // Whatever was found after another id before: mostly something that has gone since, or has another hash.
            int previous = random.nextInt(3);
            index.touch(hash);
            assertThat(index.findNext(previous, hash)).isEqualTo(expected);
            assertThat(index.findNext(previous, hash)).isEqualTo(expected);
            assertThat(index.size()).isEqualTo(idByHash.size());
        }
        idByHash.forEach((hash, id) -> assertThat(index.find(hash)).isEqualTo(id));
    }

    @Test
    void findsAllThereWas_whenItHasGrown() {
        var index = new HashIndex(0);
        var random = new Random(5);
        var hashes = random.longs(5_000).toArray();

        for (int i = 0; i < hashes.length; i++) {
            index.put(i + 1, hashes[i]);
        }
        index.remove(77);

        for (int i = 0; i < hashes.length; i++) {
            assertThat(index.find(hashes[i])).isEqualTo(i + 1 == 77 ? HashIndex.NONE : i + 1);
            assertThat(index.find(~hashes[i])).isEqualTo(HashIndex.NONE);
        }
    }

    /** 50 sequences of 100 blocks, of which each block is put at its home and then removed from behind. */
    @Test
    void blocksOfASequence_areFoundAtTheirHomes() {
        var random = new Random(6);
        var index = new HashIndex(0);
        var sequences = new long[50][];
        for (int i = 0; i < sequences.length; i++) {
            sequences[i] = random.longs(100).toArray();
            for (int block = 0; block < 100; block++) {
                index.put(100 * i + block + 1, sequences[i][block], home(sequences[i], block));
            }
        }

        for (int numLeft = 99; numLeft >= 0; numLeft--) {
            for (int i = 0; i < sequences.length; i++) {
                index.remove(100 * i + numLeft + 1);
                for (int block = 0; block < 100; block += 7) {
                    assertThat(index.find(sequences[i][block], home(sequences[i], block)))
                            .isEqualTo(block < numLeft ? 100 * i + block + 1 : HashIndex.NONE);
                }
                assertThat(numFound(index, sequences[i], 90)).isEqualTo(Math.min(numLeft, 90));
            }
        }
        assertThat(index.size()).isZero();
    }

    private static int numFound(HashIndex index, long[] hashes, int count) {
        var path = HashPath.EMPTY.goingOn(0, hashes);
        int numFound = 0;
        int id = HashIndex.NONE;
        do {
            id = index.findNext(id, path, numFound);
        } while (id != HashIndex.NONE && ++numFound < count);
        return numFound;
    }

    /** Blocks 8 to 15 of a sequence have the 8 homes of a group, and 16 to 23 those of another one. */
    @Test
    void homesOfEightBlocks_areSideBySide() {
        long[] hashes = LongStream.range(0, 24).map(i -> -1_000_003 * (i + 1)).toArray();

        var groups = IntStream.range(0, 24).mapToObj(block -> home(hashes, block) >> 3);
        assertThat(groups.distinct()).hasSize(3);
        assertThat(IntStream.range(8, 16).map(block -> home(hashes, block)).distinct())
                .hasSize(8);
    }

    /** Hashes of which all begin a sequence, and whose homes are few. */
    @Test
    void sequencesOfOneBlock_areFoundToo() {
        var index = new HashIndex(0);
        for (int id = 1; id <= 1_000; id++) {
            index.put(id, beginning(id), HashIndex.home(beginning(id), 0));
        }

        for (int id = 1; id <= 1_000; id++) {
            assertThat(index.find(beginning(id), HashIndex.home(beginning(id), 0)))
                    .isEqualTo(id);
        }
    }

    private static long beginning(long id) {
        return id << 32 | id % 3 * 8;
    }

    private static int home(long[] hashes, int block) {
        return HashIndex.home(hashes[HashIndex.firstBeside(block)], block);
    }

    /** Room for larger ids takes bits of hashes from entries, of which these three are neighbours. */
    @Test
    void findsAllThereWas_whenIdsHaveBecomeLarger() {
        long first = -1;
        long second = -1L << 32 | 0xffff_ffffL >> 1;
        long third = 1L << 36 | 0xffff_ffffL;
        var index = new HashIndex(4);
        index.put(1, first);
        index.put(2, second);
        index.put(3, third);

        index.put(1000, 5);

        assertThat(index.find(first)).isEqualTo(1);
        assertThat(index.find(second)).isEqualTo(2);
        assertThat(index.find(third)).isEqualTo(3);
        assertThat(index.find(5)).isEqualTo(1000);
        index.remove(1);
        assertThat(index.find(first)).isEqualTo(HashIndex.NONE);
        assertThat(index.find(third)).isEqualTo(3);
    }

    @Test
    void remove_ofWhatGotAnotherHash_isRefused() {
        var index = new HashIndex(4);
        index.put(1, 99);
        index.setHash(1, 7, 7);

        assertThatIllegalStateException().isThrownBy(() -> index.remove(1)).withMessageContaining("id 1");
        assertThatIllegalArgumentException().isThrownBy(() -> index.setHash(1 << 29, 99, 99));
    }

    @Test
    void replace_findsTheSuccessor() {
        var index = new HashIndex(4);
        index.put(1, 99);
        index.setHash(2, 99, 99);

        index.replace(1, 2);

        assertThat(index.find(99)).isEqualTo(2);
        assertThat(index.size()).isEqualTo(1);
    }

    @Test
    void clear_forgetsEverything() {
        var index = new HashIndex(4);
        index.put(1, 99);

        index.clear();

        assertThat(index.find(99)).isEqualTo(HashIndex.NONE);
        assertThat(index.size()).isZero();
    }

    @Test
    void removingWhatIsNotThere_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new HashIndex(4).remove(3))
                .withMessageContaining("3");
    }
}

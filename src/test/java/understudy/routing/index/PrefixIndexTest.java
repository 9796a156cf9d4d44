package understudy.routing.index;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup;
import understudy.prompt.HashPath;
import understudy.prompt.HashRun;
import understudy.prompt.ReversedRuns;
import understudy.prompt.TokenIds;
import understudy.routing.RoutingFixture;

final class PrefixIndexTest {

    @Test
    void match_stopsAtTheFirstMissingBlock() {
        var index = new PrefixIndex(3);
        index.apply(0, RoutingFixture.stored(0, 16));
        index.apply(1, RoutingFixture.stored(0, 16));
        long[] hashes = RoutingFixture.hashes(0, 16);

        index.apply(1, RoutingFixture.removed(hashes[1]));

        assertThat(match(index, hashes, 3)).startsWith(4, 1, 0);
    }

    @Test
    void cleared_forgetsOneReplicaOnly() {
        var index = new PrefixIndex(2);
        index.apply(0, RoutingFixture.stored(0, 16));
        index.apply(1, RoutingFixture.stored(0, 8));
        index.apply(0, List.of(new KvEvent.Cleared()));

        assertThat(match(index, RoutingFixture.hashes(0, 16), 2)).startsWith(0, 2);
        assertThat(index.size()).isEqualTo(2);
        index.apply(1, List.of(new KvEvent.Cleared()));
        assertThat(index.size()).isZero();
    }

    @Test
    void growing_keepsWhatIsKnown() {
        var index = new PrefixIndex(2);
        index.apply(1, RoutingFixture.stored(0, 16));

        // 64 replicas fit into one word of the bit sets, the 100th needs a second one.
        index.growTo(101);
        index.apply(100, RoutingFixture.stored(0, 8));

        var overlaps = match(index, RoutingFixture.hashes(0, 16), 128);
        assertThat(overlaps[0]).isZero();
        assertThat(overlaps[1]).isEqualTo(4);
        assertThat(overlaps[100]).isEqualTo(2);
    }

    @Test
    void copies_areNotCounted() {
        var index = new PrefixIndex(1);
        index.apply(0, RoutingFixture.stored(0, 4));
        index.apply(0, RoutingFixture.stored(0, 4));

        index.apply(0, RoutingFixture.removed(RoutingFixture.hashes(0, 4)));

        assertThat(match(index, RoutingFixture.hashes(0, 4), 1)).startsWith(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 64, 65, 200})
    void agreesWithSetsOfHashes(int numReplicas) {
        var random = new Random(2);
        var index = new PrefixIndex(numReplicas);
        List<Set<Long>> held = new ArrayList<>();
        for (int i = 0; i < numReplicas; i++) {
            held.add(new HashSet<>());
        }
        for (int i = 0; i < 5_000; i++) {
            int replica = random.nextInt(numReplicas);
            int start = 1_000 * random.nextInt(3);
            int length = 4 + random.nextInt(40);
            var hashes =
                    LongStream.of(RoutingFixture.hashes(start, length)).boxed().toList();
            if (random.nextBoolean()) {
                index.apply(replica, RoutingFixture.stored(start, length));
                held.get(replica).addAll(hashes);
            } else {
                index.apply(replica, RoutingFixture.removed(RoutingFixture.hashes(start, length)));
                held.get(replica).removeAll(hashes);
            }
        }
        for (int start = 0; start < 3_000; start += 1_000) {
            long[] hashes = RoutingFixture.hashes(start, 40);
            int[] overlaps = match(index, hashes, numReplicas);
            for (int replica = 0; replica < numReplicas; replica++) {
                var here = held.get(replica);
                long expected = LongStream.of(hashes).takeWhile(here::contains).count();
                assertThat((long) overlaps[replica]).isEqualTo(expected);
            }
        }
    }

    /** Ranges of blocks inside of prompts, so that holders of neighbours differ and come to be the same again. */
    @ParameterizedTest
    @ValueSource(ints = {2, 5, 70})
    void rangesInsideOfPrompts_agreeWithSetsOfHashes(int numReplicas) {
        var random = new Random(3);
        var index = new PrefixIndex(numReplicas);
        List<Set<Long>> held = new ArrayList<>();
        for (int i = 0; i < numReplicas; i++) {
            held.add(new HashSet<>());
        }
        for (int i = 0; i < 20_000; i++) {
            long[] prompt = RoutingFixture.hashes(1_000 * random.nextInt(4), 4 * 60);
            int from = random.nextInt(60);
            var range = new LongArrayList(prompt, from, 1 + random.nextInt(60 - from));
            int replica = random.nextInt(Math.min(numReplicas, 4));
            if (random.nextInt(400) == 0) {
                index.apply(replica, List.of(new KvEvent.Cleared()));
                held.get(replica).clear();
            } else if (random.nextBoolean()) {
                boolean hasParent = from > 0;
                index.apply(
                        replica,
                        List.of(new KvEvent.Stored(
                                range, hasParent, hasParent ? prompt[from - 1] : 0, new TokenIds(new int[0]), 0)));
                held.get(replica).addAll(range);
            } else {
                index.apply(replica, List.of(new KvEvent.Removed(range)));
                held.get(replica).removeAll(range);
            }
            var here = held.get(replica);
            long expected = LongStream.of(prompt).takeWhile(here::contains).count();
            assertThat((long) match(index, prompt, numReplicas)[replica]).isEqualTo(expected);
        }
        assertThat(index.size())
                .isEqualTo((int) held.stream().flatMap(Set::stream).distinct().count());
    }

    /** The same for runs of paths, which part from each other at any block, come before those before them, or get lost. */
    @ParameterizedTest
    @ValueSource(ints = {2, 5, 70})
    void runsOfPaths_agreeWithSetsOfHashes(int numReplicas) {
        var random = new Random(4);
        var paths = new ArrayList<HashPath>();
        paths.add(HashPath.EMPTY);
        for (int i = 0; i < 12; i++) {
            var before = paths.get(random.nextInt(paths.size()));
            paths.add(before.goingOn(
                    random.nextInt(before.length() + 1),
                    random.longs(1 + random.nextInt(300)).toArray()));
        }
        paths.remove(0);
        var index = new PrefixIndex(numReplicas);
        List<Set<Long>> held = new ArrayList<>();
        for (int i = 0; i < numReplicas; i++) {
            held.add(new HashSet<>());
        }
        for (int i = 0; i < 5_000; i++) {
            var path = paths.get(random.nextInt(paths.size()));
            int from = random.nextInt(path.length());
            var run = new HashRun(path, from, from + 1 + random.nextInt(path.length() - from));
            int replica = random.nextInt(Math.min(numReplicas, 4));
            if (random.nextInt(200) == 0) {
                index.apply(replica, List.of(new KvEvent.Cleared()));
                held.get(replica).clear();
            } else if (random.nextBoolean()) {
                index.apply(replica, List.of(random.nextBoolean() ? storedEach(run) : stored(run)));
                held.get(replica).addAll(run);
            } else if (random.nextBoolean()) {
                index.apply(replica, List.of(new KvEvent.Removed(run)));
                held.get(replica).removeAll(run);
            } else {
                var end = new HashRun(path, path.length() - 1, path.length());
                var removed = new ReversedRuns(List.of(run, end));
                index.apply(replica, List.of(new KvEvent.Removed(removed)));
                held.get(replica).removeAll(removed);
            }
            var overlaps = match(index, path, numReplicas);
            for (int j = 0; j < Math.min(numReplicas, 4); j++) {
                var here = held.get(j);
                long expected =
                        LongStream.of(path.toArray()).takeWhile(here::contains).count();
                assertThat((long) overlaps[j]).isEqualTo(expected);
            }
        }
        assertThat(index.size())
                .isEqualTo((int) held.stream().flatMap(Set::stream).distinct().count());
        for (int i = 0; i < numReplicas; i++) {
            index.apply(i, List.of(new KvEvent.Cleared()));
        }
        assertThat(index.size()).isZero();
    }

    private static KvEvent storedEach(HashRun run) {
        return new KvEvent.StoredEach(run, new TokenIds(new int[0]), "", "");
    }

    private static KvEvent stored(HashRun run) {
        boolean hasParent = run.from() > 0;
        long parentHash = hasParent ? run.path().get(run.from() - 1) : 0;
        return new KvEvent.Stored(run, hasParent, parentHash, new TokenIds(new int[0]), 0);
    }

    /** Blocks of which many have the same hash at different places, as someone may contrive: all calls come to an end. */
    @Test
    void equalHashesAtDifferentPlaces_doNoHarm() {
        var random = new Random(5);
        var runs = new RunIndex();
        for (int i = 0; i < 20_000; i++) {
            long[] hashes = random.longs(1 + random.nextInt(6), 0, 5).toArray();
            var path = HashPath.EMPTY.goingOn(0, hashes);
            int from = random.nextInt(hashes.length);
            var run = new HashRun(path, from, from + 1 + random.nextInt(hashes.length - from));
            if (random.nextBoolean()) {
                runs.store(random.nextInt(3), run);
            } else {
                runs.remove(random.nextInt(3), run);
            }
            if (random.nextInt(100) == 0) {
                runs.clear(random.nextInt(3));
            }

            var overlaps = new int[64];
            var most = runs.match(path, overlaps);
            assertThat(most.stream()).allMatch(replica -> overlaps[replica] <= hashes.length);
        }
    }

    /** Replica 0 has 4 blocks of 16 tokens in rows, and replica 1 as many of the same prompt in a run; then 1 loses half. */
    @Test
    void rowsAndRuns_areComparedWithEachOther() {
        var index = new PrefixIndex(2);
        long[] hashes = RoutingFixture.hashes(0, 16);
        var path = HashPath.EMPTY.goingOn(0, hashes);
        index.apply(0, RoutingFixture.stored(0, 16));
        index.apply(1, List.of(storedEach(new HashRun(path, 0, 4))));
        assertThat(match(index, hashes, 2)).startsWith(4, 4);

        index.apply(1, List.of(new KvEvent.Removed(new HashRun(path, 2, 4))));
        assertThat(match(index, hashes, 2)).startsWith(4, 2);
    }

    /**
     * Three replicas hold two prompts that share 9,000 of 10,000 blocks: one node for these, and one for the rest of each. No
     * node has hashes of its own, so that they take as much for blocks of one token as for larger ones.
     */
    @Test
    void runs_takeMemoryByRunAndNotByBlock() {
        var runs = new RunIndex();
        long[] hashes = LongStream.range(0, 10_000).toArray();
        var first = HashPath.EMPTY.goingOn(0, hashes);
        var second = first.goingOn(9_000, LongStream.range(20_000, 21_000).toArray());
        for (int replica = 0; replica < 3; replica++) {
            runs.store(replica, new HashRun(first, 0, 10_000));
            runs.store(replica, new HashRun(second, 9_000, 10_000));
        }
        assertThat(runs.numNodes()).isEqualTo(3);
        assertThat(runs.size()).isEqualTo(11_000);

        // The last holder of the shared part lets go of it after the rest, as a tree does; then nothing is left.
        for (int replica = 0; replica < 3; replica++) {
            runs.remove(replica, new HashRun(first, 9_000, 10_000));
            runs.remove(replica, new HashRun(second, 9_000, 10_000));
            runs.remove(replica, new HashRun(second, 0, 9_000));
        }
        assertThat(runs.numNodes()).isZero();
    }

    /**
     * A sequence of 64 blocks grows by 16 on one replica, then on another, and goes from its end on both: with each boundary
     * between different holders there is one node more, and no other.
     */
    @Test
    void runsWithTheSameHolders_areOneNode() {
        var runs = new RunIndex();
        var path = HashPath.EMPTY.goingOn(0, LongStream.range(0, 64).toArray());
        for (int replica = 0; replica < 2; replica++) {
            for (int from = 0; from < 64; from += 16) {
                runs.store(replica, new HashRun(path, from, from + 16));
                // The first replica has all that is there; behind what the second one has, it is alone.
                assertThat(runs.numNodes()).isEqualTo(replica == 0 || from == 48 ? 1 : 2);
            }
        }
        for (int replica = 0; replica < 2; replica++) {
            for (int to = 64; to > 0; to -= 8) {
                assertThat(runs.size()).isEqualTo(replica == 0 ? 64 : to);
                runs.remove(replica, new HashRun(path, to - 8, to));
                // The second replica has all that is there; behind what the first one still has, it is alone.
                assertThat(runs.numNodes()).isEqualTo(replica == 0 ? (to > 8 ? 2 : 1) : (to > 8 ? 1 : 0));
            }
        }
    }

    /**
     * Three replicas hold 64, 48 and 32 blocks of a sequence: three nodes. The second one loses blocks 16 to 47 at once: now
     * 0 to 15 have three holders, 16 to 31 two, and all behind them one.
     */
    @Test
    void runOverSeveralNodes_leavesNoneThatCouldBeOne() {
        var runs = new RunIndex();
        var path = HashPath.EMPTY.goingOn(0, LongStream.range(0, 64).toArray());
        for (int replica = 0; replica < 3; replica++) {
            runs.store(replica, new HashRun(path, 0, 64 - 16 * replica));
        }
        assertThat(runs.numNodes()).isEqualTo(3);

        runs.remove(1, new HashRun(path, 16, 48));

        assertThat(runs.numNodes()).isEqualTo(3);
        assertThat(runs.size()).isEqualTo(64);
    }

    /** Of two sequences with a common beginning one loses the rest of it: what is left is the other one, and one node. */
    @Test
    void beginningThatOneSequenceHas_isOneNodeWithItsRest() {
        var runs = new RunIndex();
        var first = HashPath.EMPTY.goingOn(0, LongStream.range(0, 10).toArray());
        var second = first.goingOn(5, LongStream.range(20, 25).toArray());
        runs.store(0, new HashRun(first, 0, 10));
        runs.store(0, new HashRun(second, 5, 10));
        assertThat(runs.numNodes()).isEqualTo(3);

        runs.remove(0, new HashRun(first, 5, 10));

        assertThat(runs.numNodes()).isEqualTo(1);
        assertThat(runs.size()).isEqualTo(10);
    }

    /** A replica loses the middle of a run first, as an order by use may have it, and the rest in two parts. */
    @Test
    void middleOfARun_mayGoFirst() {
        var index = new PrefixIndex(1);
        var path = HashPath.EMPTY.goingOn(0, LongStream.range(0, 30).toArray());
        index.apply(0, List.of(stored(new HashRun(path, 0, 30))));

        index.apply(0, List.of(new KvEvent.Removed(new HashRun(path, 10, 20))));
        assertThat(match(index, path, 1)).startsWith(10);
        assertThat(index.size()).isEqualTo(20);
        index.apply(0, List.of(stored(new HashRun(path, 10, 20))));
        assertThat(match(index, path, 1)).startsWith(30);

        index.apply(0, List.of(new KvEvent.Removed(new HashRun(path, 10, 20))));
        index.apply(0, List.of(new KvEvent.Removed(new HashRun(path, 0, 10))));
        index.apply(0, List.of(new KvEvent.Removed(new HashRun(path, 20, 30))));
        assertThat(index.size()).isZero();
    }

    /** A replica's group 1 keeps all 3 blocks of a prompt, group 0 the last; then group 0 loses it, and group 1 the third. */
    @Test
    void fullAttentionAlone_countsOfAReplicaWithGroups() {
        long[] prompt = RoutingFixture.hashes(1, 4 * 3);
        var window = new KvEvent.GroupRange(0, new KvGroup(KvGroup.Kind.SLIDING_WINDOW, 4, 4), 12);
        var full = new KvEvent.GroupRange(1, new KvGroup(KvGroup.Kind.FULL_ATTENTION, 4, 0), 12);
        var index = new PrefixIndex(2);

        index.apply(1, List.of(stored(window, prompt[2]), stored(full, prompt)));
        assertThat(match(index, prompt, 2)).startsWith(0, 3);
        index.apply(1, List.of(new KvEvent.Removed(LongList.of(prompt[2]), 0)));
        assertThat(match(index, prompt, 2)).startsWith(0, 3);
        index.apply(1, List.of(new KvEvent.Removed(LongList.of(prompt[2]), 1)));
        assertThat(match(index, prompt, 2)).startsWith(0, 2);
    }

    private static KvEvent stored(KvEvent.GroupRange range, long... hashes) {
        return new KvEvent.Stored(LongList.of(hashes), false, 0, new TokenIds(new int[0]), 0, "", "", range);
    }

    /** 40 blocks that a replica stores and loses again and again take the rows of 40 blocks: 5 segments, and the first. */
    @Test
    void rowsOfRemovedBlocks_areUsedAgain() {
        var segments = new RowSegments();
        for (int i = 0; i < 100; i++) {
            var taken = new IntArrayList();
            int row = 0;
            for (int block = 0; block < 40; block++) {
                row = segments.take(row);
                taken.add(row);
            }
            // The end of a prompt goes first, as the cache evicts it.
            while (!taken.isEmpty()) {
                segments.giveBack(taken.popInt());
            }
        }
        assertThat(segments.end()).isEqualTo(6 * RowSegments.ROWS);
    }

    private static int[] match(PrefixIndex index, long[] hashes, int numReplicas) {
        return match(index, HashPath.EMPTY.goingOn(0, hashes), numReplicas);
    }

    private static int[] match(PrefixIndex index, HashPath path, int numReplicas) {
        var overlaps = new int[(numReplicas + 63) / 64 * 64];
        var most = index.match(path, overlaps);

        int longest = IntStream.of(overlaps).max().orElseThrow();
        assertThat(most.stream())
                .containsExactlyElementsOf(() -> IntStream.range(0, overlaps.length)
                        .filter(replica -> longest > 0 && overlaps[replica] == longest)
                        .iterator());
        return overlaps;
    }
}

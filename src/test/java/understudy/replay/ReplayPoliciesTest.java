package understudy.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatList;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What tells the replayed policies apart, worked out by hand. */
final class ReplayPoliciesTest {
    private static final int A = 1;
    private static final int B = 2;
    private static final int C = 3;
    private static final int D = 4;

    @Test
    void hitTokens_areThoseOfTheResidentPrefix_andNoMoreThanThePrompt() {
        // 3 blocks of 4 tokens for 11 tokens: all three blocks hit are 12, but the prompt has only 11.
        // The third prompt shares two blocks, 2 * 4 = 8 tokens.
        var result = replay(ReplaySettings.of(ReplayPolicy.LRU, 10, 4), new int[][] {{A, B, C}, {A, B, C}, {A, B, D}});

        assertThatList(result.perRequestHitTokens()).isEqualTo(IntList.of(0, 11, 8));
        assertThat(result.totalRequests()).isEqualTo(3);
        assertThat(result.totalHitTokens()).isEqualTo(19);
        assertThat(result.totalPromptTokens()).isEqualTo(33);
        assertThat(result.overallHitRate()).isEqualTo(19.0 / 33);
        assertThat(result.blockAccesses()).isEqualTo(9);
        assertThat(result.blockHits()).isEqualTo(5);
        assertThat(result.finalCacheBlocks()).isEqualTo(4);
    }

    @Test
    void hitBehindAGap_isABlockHitWithoutTokens() {
        // Four blocks: E evicts A. A misses and evicts B, then C is hit, but its prompt begins with a miss.
        int e = 5;
        var result = replay(ReplaySettings.of(ReplayPolicy.LRU, 4, 1), new int[][] {{A, B, C}, {D, e}, {A, C}});

        assertThat(result.totalHitTokens()).isZero();
        assertThat(result.blockHits()).isEqualTo(1);
    }

    @Test
    void promptLongerThanTheCache_evictsItsOwnHead() {
        // C evicts A, so that A misses next time and evicts B, and so on.
        var result = replay(ReplaySettings.of(ReplayPolicy.LRU, 2, 1), new int[][] {{A, B, C}, {A, B, C}});

        assertThat(result.blockHits()).isZero();
        assertThat(result.finalCacheBlocks()).isEqualTo(2);
    }

    @Test
    void nothingReplayed_hasARateOfZero() {
        var result =
                Replayer.of(ReplaySettings.of(ReplayPolicy.LRU, 2, 1), false).finish();

        assertThat(result.overallHitRate()).isZero();
        assertThatList(result.perRequestHitTokens()).isNull();
    }

    @Test
    void lru_evictsWhatWasAccessedLongestAgo() {
        // C evicts B, since A was hit; B evicts A; A evicts C.
        assertThat(hits(ReplayPolicy.LRU, 2, A, B, A, C, B, A)).containsExactly(2);
    }

    @Test
    void fifo_doesNotCareForHits() {
        // C evicts A although it was hit; B is still there; A evicts B.
        assertThat(hits(ReplayPolicy.FIFO, 2, A, B, A, C, B, A)).containsExactly(2, 4);
    }

    @Test
    void lfu_evictsWhatWasAccessedLeast_thenWhatWasAccessedLongestAgo() {
        // A and B have two accesses each when C comes; B's last is the older one. C, with one, makes way for B.
        assertThat(hits(ReplayPolicy.LFU, 2, A, B, B, A, C, A, B)).containsExactly(2, 3, 5);
    }

    @Test
    void lfuFifo_evictsWhatWasAccessedLeast_thenWhatCameInFirst() {
        // As above, but A came in first: C evicts it, A evicts C, B has stayed.
        assertThat(hits(ReplayPolicy.LFU_FIFO, 2, A, B, B, A, C, A, B)).containsExactly(2, 3, 6);
    }

    @Test
    void lfu_forgetsTheAccessesOfEvictedBlocks() {
        // A has three accesses, B two when C evicts it; B returns in C's place with one, and C returns in B's.
        assertThat(hits(ReplayPolicy.LFU, 2, A, A, A, B, B, C, B, C, B)).containsExactly(1, 2, 4);
    }

    @Test
    void s3Fifo_keepsWhatWasHitOnceInSmall_andItsFrequency() {
        // A third of 3 is 1 block for small and 2 for main. S and M below are small and main, oldest first, with
        // frequencies.
        // A A: S A1. B B: A goes to main: S B1, M A1. C C: S C1, M A1 B1. D: C to main; A and B pay with a hit each,
        // then
        // A goes: S D0, M B0 C1. A is a ghost, it goes to main for B: M C1 A0. B is a ghost: C pays, A goes: M C0 B0.
        // C is hit; it would be gone if frequencies began at 0 in main.
        var settings = new ReplaySettings(ReplayPolicy.S3FIFO, 3, 1, 1.0 / 3, 3);

        assertThat(hits(settings, A, A, B, B, C, C, D, A, B, C)).containsExactly(1, 3, 5, 9);
    }

    @Test
    void s3Fifo_staysBelowItsCapacityWhileMainIsEmpty() {
        // 10 blocks are 1 for small and 9 for main. Each block makes the one before it a ghost; ghosts are not
        // resident.
        var settings = ReplaySettings.of(ReplayPolicy.S3FIFO, 10, 1);

        assertThat(replayKeys(settings, A, B, C, D).finalCacheBlocks()).isEqualTo(1);
        // A comes back into main beside D in small.
        assertThat(replayKeys(settings, A, B, C, D, A).finalCacheBlocks()).isEqualTo(2);
        assertThat(hits(settings, A, B, C, D, A, A, D)).containsExactly(5, 6);
    }

    @Test
    void s3Fifo_frequenciesSaturate() {
        // 1 block for small, 2 for main, as above. With frequencies up to 1: D sends C to main, where A and B pay a hit
        // each, and A, the first, goes. With more: M A2 B1 becomes A1 B0, then A pays once more, and B goes.
        int[] keys = {A, A, A, B, B, C, C, D, A};

        assertThat(hits(new ReplaySettings(ReplayPolicy.S3FIFO, 3, 1, 1.0 / 3, 1), keys))
                .containsExactly(1, 2, 4, 6);
        assertThat(hits(new ReplaySettings(ReplayPolicy.S3FIFO, 3, 1, 1.0 / 3, 2), keys))
                .containsExactly(1, 2, 4, 6, 8);
    }

    @Test
    void s3Fifo_frequenciesMaySaturateAtAnyNumber() {
        // As above with more than enough frequencies: nothing saturates, so B goes and A is hit again.
        int[] keys = {A, A, A, B, B, C, C, D, A};

        assertThat(hits(new ReplaySettings(ReplayPolicy.S3FIFO, 3, 1, 1.0 / 3, Integer.MAX_VALUE), keys))
                .containsExactly(1, 2, 4, 6, 8);
    }

    @Test
    void arc_givesTheListMoreRoomWhoseGhostComesBack() {
        // A A: T2 A. B: T1 B. C: B becomes a ghost of T1, whose target is 0: T1 C. B comes back: the target rises to 1,
        // so
        // T1 may keep C, and A goes: T2 B. C is hit: T2 B C. A is a ghost of T2: the target falls to 0, T1 is empty, B
        // goes: T2 C A. C is hit.
        assertThat(hits(ReplayPolicy.ARC, 2, A, A, B, C, B, C, A, C)).containsExactly(1, 5, 7);
    }

    @Test
    void lruLongestPrefix_givesPrefixesUpFromTheirEnd() {
        // The second prompt takes D's place, the last block of the first one; LRU gives up A, and with it the prefix.
        int[][] prompts = {{A, B, C, D}, {5}, {A, B, C, D}};

        assertThat(replay(ReplaySettings.of(ReplayPolicy.LRU_LONGEST_PREFIX, 4, 1), prompts)
                        .totalHitTokens())
                .isEqualTo(3);
        assertThat(replay(ReplaySettings.of(ReplayPolicy.LRU, 4, 1), prompts).totalHitTokens())
                .isZero();
    }

    @Test
    void lruLongestPrefix_evictsTheRunningPromptsOwnBlocksLast() {
        // Two blocks: C takes the place of B, the deepest. Then A is hit; B takes the place of C, which is of an older
        // request than A; C takes the place of B. So it goes on.
        var result = replay(
                ReplaySettings.of(ReplayPolicy.LRU_LONGEST_PREFIX, 2, 1),
                new int[][] {{A, B, C}, {A, B, C}, {A, B, C}});

        assertThat(result.totalHitTokens()).isEqualTo(2);
        assertThat(result.blockHits()).isEqualTo(2);
    }

    @Test
    void belady_evictsWhatIsAccessedFurthestAhead() {
        // C comes in although it never comes back, for B, whose next access is later than A's.
        assertThat(hits(ReplayPolicy.BELADY, 2, A, B, C, A, B)).containsExactly(3);
    }

    @Test
    void beladyBypass_leavesOutWhatIsAccessedFurthestAhead() {
        assertThat(hits(ReplayPolicy.BELADY_BYPASS, 2, A, B, C, A, B)).containsExactly(3, 4);
    }

    @Test
    void infinite_missesEachBlockOnce() {
        var settings = ReplaySettings.of(ReplayPolicy.INFINITE, 1, 1);

        assertThat(hits(settings, A, B, C, A, B)).containsExactly(3, 4);
        assertThat(replayKeys(settings, A, B, C, A, B).capacityBlocks()).isEqualTo(ReplaySettings.UNBOUNDED);
    }

    private static int[] hits(ReplayPolicy policy, int capacity, int... keys) {
        return hits(ReplaySettings.of(policy, capacity, 1), keys);
    }

    /** Returns which accesses were hits, counted from 0. */
    private static int[] hits(ReplaySettings settings, int... keys) {
        var hitTokens = Objects.requireNonNull(replayKeys(settings, keys).perRequestHitTokens());
        return IntStream.range(0, keys.length)
                .filter(i -> hitTokens.getInt(i) == 1)
                .toArray();
    }

    private static ReplayResult replayKeys(ReplaySettings settings, int... keys) {
        return replay(
                settings, IntStream.of(keys).mapToObj(key -> new int[] {key}).toArray(int[][]::new));
    }

    private static ReplayResult replay(ReplaySettings settings, int[][] prompts) {
        var chunks = Traces.of(prompts, settings.blockSize(), prompts.length);
        var replayer = Replayer.of(settings, true, NextUse.of(chunks));
        chunks.forEach(replayer::accept);
        return replayer.finish();
    }
}

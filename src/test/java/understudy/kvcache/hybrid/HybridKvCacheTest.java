package understudy.kvcache.hybrid;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvGroup;
import understudy.kvcache.KvGroups;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** A group of full attention and one with a window of 8 tokens, in 19 usable blocks of 4; steps of at most 16 tokens. */
final class HybridKvCacheTest {
    private static final int GAP = -1;
    private static final int NULL = 0;

    private final HybridKvCache kv = memory(
            false,
            new KvGroups(
                    List.of(
                            new KvGroup(KvGroup.Kind.FULL_ATTENTION, 4, 0),
                            new KvGroup(KvGroup.Kind.SLIDING_WINDOW, 4, 8)),
                    0,
                    16,
                    16));

    @Test
    void request_hasATableForEachGroup() {
        admit(0, 16);

        assertThat(table(0)).containsExactly(1, 2, 3, 4, GAP, 5, 6, 7, 8, GAP);
        assertThat(kv.blockCounts().numUsed()).isEqualTo(8);
    }

    /**
     * Behind 16 tokens the window begins with token 9, in the third block: the two before it, 5 and 6, are free again. Block
     * 6 is kept for those who go on behind 12 tokens, 5 is not, and so the first to be given out.
     */
    @Test
    void blocksBehindTheWindow_areGivenBackWhenTheRequestGrows() {
        admit(0, 16);

        reserve(0, 17, 16);

        assertThat(table(0)).containsExactly(1, 2, 3, 4, 5, GAP, NULL, NULL, 7, 8, 9, GAP);
        // 8 blocks, 2 more, 2 less.
        assertThat(kv.blockCounts().numUsed()).isEqualTo(8);
        assertThat(kv.audit().isConserved()).isTrue();
    }

    /** While nothing of a request is computed, all of its blocks are in reach. */
    @Test
    void blocksOfTokensInFlight_stay() {
        admit(0, 16);

        reserve(0, 17, 0);

        assertThat(table(0)).doesNotContain(NULL);
    }

    /**
     * A prompt of 17 tokens can be continued at its last whole block, behind 16: the window's two blocks before that are
     * kept, 8 and 9, and all four of the others. Of those that are not, 10, 7 and 6 are the first to be given out. A shorter
     * prompt finds no window to go on with.
     */
    @Test
    void prefix_isFoundWhereAWindowIsKept() {
        admit(0, 17);
        assertThat(kv.audit().numHashed()).isEqualTo(4 + 2);
        kv.free(0, 1);

        assertThat(admit(1, 18).numCachedTokens()).isEqualTo(16);
        assertThat(table(1)).containsExactly(1, 2, 3, 4, 10, GAP, NULL, NULL, 8, 9, 7, GAP);
        kv.free(1, 2);
        assertThat(admit(2, 14).numCachedTokens()).isZero();
    }

    /**
     * Full attention has 12 tokens of what begins alike, the window none: a junction. The request that finds it keeps the
     * window there, so that the next one goes on from there.
     */
    @Test
    void junctionOfPrefixes_isKeptForTheNextRequest() {
        admit(0, 17);
        kv.free(0, 1);

        var first = admit(1, 14);
        assertThat(first.numJunctionTokens()).isEqualTo(12);
        kv.free(1, 2);

        assertThat(admit(2, 14).numCachedTokens()).isEqualTo(12);
    }

    /** 40 tokens need 10 blocks, and 7 for a window with 16 tokens in flight: (8 - 1 + 16) / 4, rounded up, and one. */
    @Test
    void longRequest_isAdmittedByWhatItsWindowNeeds() {
        assertThat(kv.admit(question(0, 40, 16))).isInstanceOf(Admission.Admitted.class);
        kv.free(0, 1);
        // 52 tokens: 13 + 7 = 20 of 19 blocks.
        assertThat(kv.admit(question(0, 52, 16))).isInstanceOf(Admission.Refused.class);
    }

    /**
     * Drafts of EAGLE drop the last block that is found, so that one more is kept behind the end of the prompt: block 0 for
     * a prompt of one token, whose end rounds down to 0. Tokens 2 to 5 are answers; the second block is not full.
     */
    @Test
    void promptOfOneToken_keepsABlockForDrafts() {
        var drafted = memory(true, new KvGroups(List.of(new KvGroup(KvGroup.Kind.SLIDING_WINDOW, 4, 8)), 0, 16, 16));
        drafted.admit(question(0, 1, 16));
        var reservation = new Reservation.Builder();
        reservation.add(0, 6, 5, 1);
        drafted.reserve(reservation.build(1));

        assertThat(drafted.audit().numHashed()).isEqualTo(1);
    }

    /**
     * A prompt of 14 tokens, of which a step may compute 10: they end with a block, at 8, only where a state is cached there.
     * Else one state is for all tokens, beside 3 blocks of full attention, and it stays when these are 4.
     */
    @Test
    void stateThatIsNotCached_cutsNoPrompt() {
        assertThat(admit(states(true, 4), 14, 10).numScheduledTokens()).isEqualTo(8);

        var uncached = states(false, 16);
        assertThat(admit(uncached, 14, 10).numScheduledTokens()).isEqualTo(10);
        assertThat(uncached.blockCounts().numUsed()).isEqualTo(3 + 1);
        var reservation = new Reservation.Builder();
        reservation.add(0, 14, 13, 10);
        uncached.reserve(reservation.build(1));
        assertThat(uncached.blockCounts().numUsed()).isEqualTo(4 + 1);
        assertThat(uncached.audit().isConserved()).isTrue();
    }

    @Test
    void resetCache_findsNothing() {
        admit(0, 17);
        assertThat(kv.resetPrefixCache()).isFalse();
        kv.free(0, 1);

        assertThat(kv.resetPrefixCache()).isTrue();
        assertThat(kv.match(List.of(lookup(1, 18)))).containsExactly(0);
    }

    private Admission.Admitted admit(int handle, int numTokens) {
        return (Admission.Admitted) kv.admit(question(handle, numTokens, 1_000));
    }

    private static HybridKvCache memory(boolean dropsLastHit, KvGroups groups) {
        var blocks = KvBlocks.of(new Xxh3BlockHasher(4), 20).withMaxModelLen(1_000);
        return new HybridKvCache(new HybridConfig(blocks, FreeBlocks.VLLM, true, dropsLastHit, groups));
    }

    private static HybridKvCache states(boolean areCached, int stateBlockSize) {
        var blocks =
                KvBlocks.of(new Xxh3BlockHasher(4), 20).withMaxModelLen(1_000).withEnablePrefixCaching(areCached);
        var groups = new KvGroups(
                List.of(
                        new KvGroup(KvGroup.Kind.FULL_ATTENTION, 4, 0),
                        new KvGroup(KvGroup.Kind.MAMBA, stateBlockSize, 0)),
                0,
                16,
                16);
        return new HybridKvCache(new HybridConfig(blocks, FreeBlocks.VLLM, true, false, groups));
    }

    private static Admission.Admitted admit(HybridKvCache kv, int numTokens, int budget) {
        return (Admission.Admitted) kv.admit(question(0, numTokens, budget));
    }

    private static AdmissionRequest question(int handle, int numTokens, int budget) {
        return AdmissionRequest.of(lookup(handle, numTokens), budget, numTokens + 1);
    }

    private static PrefixLookup lookup(int handle, int numTokens) {
        var prompt = new Prompt(new TokenIds(IntStream.range(0, numTokens).toArray()));
        return new PrefixLookup(handle, prompt, index -> 1_000 + index, numTokens, true);
    }

    private void reserve(int handle, int numSlots, int numExecuted) {
        var reservation = new Reservation.Builder();
        reservation.add(handle, numSlots, numSlots - 1, numExecuted);
        assertThat(kv.reserve(reservation.build(1))).isEqualTo(1);
    }

    private int[] table(int handle) {
        return kv.snapshot(IntList.of(handle)).blockTables().get(0).toIntArray();
    }
}

package understudy.kvcache.content;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.BlockHasher;
import understudy.prompt.Prompt;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** Blocks of 4 tokens and 10 usable blocks unless a test says otherwise. */
final class PromptKvCacheTest {

    private final BlockHasher hasher = new Xxh3BlockHasher(4);
    private KvCache kv = memory(11, true, true);

    @AfterEach
    void everyCountIsTrue() {
        assertThat(kv.audit().isConserved()).as("%s", kv.audit()).isTrue();
    }

    @Test
    void equalPrompts_shareAllBlocksAndComputeNothing() {
        // 6 tokens are one full block and one with two tokens.
        assertThat(admit(0, tokens(0, 6), 1)).isEqualTo(new Counts(0, 6));

        assertThat(admit(1, tokens(0, 6), 1)).isEqualTo(new Counts(6, 0));
        assertThat(admit(2, tokens(0, 6), 1)).isEqualTo(new Counts(6, 0));

        assertThat(table(0)).containsExactly(1, 2);
        assertThat(table(1)).isEqualTo(table(0));
        assertThat(table(2)).isEqualTo(table(0));
        assertThat(kv.stats()).isEqualTo(new PrefixCacheStats(18, 12, 0, 0));
    }

    @Test
    void promptThatComesAgain_isOfItsConversationUntilAnotherOneAsksIt() {
        assertThat(events(0, SessionTurn.of(7, 1))).containsExactly(PrefixCacheEvent.MISS_FULL);
        assertThat(events(1, SessionTurn.of(7, 2)))
                .containsExactly(PrefixCacheEvent.CONVERSATIONAL_HIT, PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED);
        assertThat(events(2, SessionTurn.of(8, 2))).contains(PrefixCacheEvent.CROSS_REQUEST_HIT);
        assertThat(events(3, SessionTurn.of(7, 3))).contains(PrefixCacheEvent.CROSS_REQUEST_HIT);
    }

    private List<PrefixCacheEvent> events(int handle, SessionTurn turn) {
        var prompt = new Prompt(new TokenIds(tokens(0, 6)), turn);
        var lookup = new PrefixLookup(handle, prompt, i -> 50_000 + i, 6, true);
        var admission = kv.admit(AdmissionRequest.of(lookup, 1_000, 7).withEnableChunkedPrefill(false));
        return ((Admission.Admitted) admission).events().list();
    }

    @Test
    void promptsThatOnlyBeginAlike_shareNothing() {
        admit(0, tokens(0, 8), 1);

        assertThat(admit(1, tokens(0, 4), 1)).isEqualTo(new Counts(0, 4));
        assertThat(admit(2, tokens(0, 9), 1)).isEqualTo(new Counts(0, 9));
        assertThat(new int[] {table(0)[0], table(1)[0], table(2)[0]}).doesNotHaveDuplicates();
    }

    @Test
    void paddingOfALastBlock_isNotTakenForTokens() {
        admit(0, new int[] {1, 2, 3, 4, 5}, 1);

        assertThat(admit(1, new int[] {1, 2, 3, 4, 5, 0}, 1)).isEqualTo(new Counts(0, 6));
    }

    @Test
    void whoWritesIntoASharedBlock_getsACopy() {
        admit(0, tokens(0, 6), 5);
        admit(1, tokens(0, 6), 5);

        decode(0, 7);

        // The seventh token goes into the second block, which request 1 keeps and then has for itself.
        assertThat(table(0)).containsExactly(1, 3);
        assertThat(table(1)).containsExactly(1, 2);
        decode(1, 7);
        assertThat(table(1)).containsExactly(1, 2);
        decode(1, 9);
        assertThat(table(1)).containsExactly(1, 2, 4);
    }

    @Test
    void promptOfWholeBlocks_isNeverCopied() {
        admit(0, tokens(0, 8), 5);
        admit(1, tokens(0, 8), 5);

        decode(0, 9);

        assertThat(table(0)).containsExactly(1, 2, 3);
        assertThat(table(1)).containsExactly(1, 2);
    }

    @Test
    void promptStaysFindable_untilOneOfItsBlocksIsGivenOut() {
        admit(0, tokens(0, 8), 1);
        kv.free(0, 1);
        assertThat(admit(1, tokens(0, 8), 1)).isEqualTo(new Counts(8, 0));
        kv.free(1, 2);

        // 36 tokens take nine of ten blocks: all that were never used, and the tail of the cached prompt.
        admit(2, tokens(100, 36), 1);
        kv.free(2, 3);

        assertThat(kv.match(List.of(lookup(3, tokens(0, 8)), lookup(4, tokens(100, 36)))))
                .containsExactly(0, 36);
    }

    @Test
    void sharingAfterTheStep_findsNothingBeforeItsResult() {
        kv = memory(11, true, false);
        admit(0, tokens(0, 6), 1);
        assertThat(admit(1, tokens(0, 6), 1)).isEqualTo(new Counts(0, 6));

        var settlement = new Settlement.Builder();
        settlement.begin(1, 0);
        settlement.add(0, 6, 6);
        kv.settle(settlement.build());

        assertThat(admit(2, tokens(0, 6), 1)).isEqualTo(new Counts(6, 0));
        assertThat(table(2)).isEqualTo(table(0));
    }

    @Test
    void withoutCaching_nothingIsEverFound() {
        kv = memory(11, false, true);
        admit(0, tokens(0, 6), 1);

        assertThat(admit(1, tokens(0, 6), 1)).isEqualTo(new Counts(0, 6));
        assertThat(kv.stats()).isEqualTo(PrefixCacheStats.NONE);
    }

    @Test
    void admission_setsBlocksAsideForTheLongestAnswer() {
        // 6 + 20 tokens are 7 blocks, and one for a copy; two of the ten are left, too few for 2 + 1 of the next one.
        admit(0, tokens(0, 6), 20);
        assertThat(admit(1, tokens(50, 6), 2)).isEqualTo(new Counts(-1, -1));
        assertThat(admit(2, tokens(50, 4), 4)).isEqualTo(new Counts(0, 4));

        for (int numComputed = 7; numComputed <= 26; numComputed++) {
            decode(0, numComputed);
        }
        assertThat(table(0)).hasSize(7);
        kv.free(0, 1);
        assertThat(admit(1, tokens(50, 6), 2)).isEqualTo(new Counts(0, 6));
    }

    @Test
    void longestRequestThatIsLetIn_fits() {
        // One block is the null block and one is for a copy: 9 blocks of 4 tokens.
        assertThat(config(11, true, true).maxTokens()).isEqualTo(36);
        assertThat(admit(0, tokens(0, 30), 6)).isEqualTo(new Counts(0, 30));
    }

    @Test
    void refusal_changesNothing() {
        admit(0, tokens(0, 6), 20);
        double usage = kv.usage();

        admit(1, tokens(50, 6), 2);

        assertThat(kv.usage()).isEqualTo(usage);
        assertThat(kv.match(List.of(lookup(1, tokens(50, 6))))).containsExactly(0);
    }

    @Test
    void allReferencesGone_allBlocksAreFree() {
        for (int handle = 0; handle < 3; handle++) {
            admit(handle, tokens(0, 6), 3);
            decode(handle, 7);
        }
        for (int handle = 0; handle < 3; handle++) {
            kv.free(handle, 1);
        }

        assertThat(kv.usage()).isZero();
        assertThat(kv.freeOrder()).hasSize(10).doesNotHaveDuplicates();
    }

    private Counts admit(int handle, int[] tokens, int maxTokens) {
        return counts(kv.admit(AdmissionRequest.of(lookup(handle, tokens), 1_000, tokens.length + maxTokens)
                .withEnableChunkedPrefill(false)));
    }

    /** What an admission grants, whatever it is taken for; -1 if it is refused. */
    private record Counts(int numCachedTokens, int numScheduledTokens) {}

    private static Counts counts(Admission admission) {
        return admission instanceof Admission.Admitted admitted
                ? new Counts(admitted.numCachedTokens(), admitted.numScheduledTokens())
                : new Counts(-1, -1);
    }

    private static PrefixLookup lookup(int handle, int[] tokens) {
        return new PrefixLookup(handle, new Prompt(new TokenIds(tokens)), i -> 50_000 + i, tokens.length, true);
    }

    private void decode(int handle, int numComputed) {
        var reservation = new Reservation.Builder();
        reservation.add(handle, numComputed, numComputed);
        assertThat(kv.reserve(reservation.build())).isEqualTo(1);
    }

    private int[] table(int handle) {
        return kv.snapshot(IntList.of(handle)).blockTables().get(0).toIntArray();
    }

    private KvCache memory(int numBlocks, boolean caches, boolean sharesWithinStep) {
        return new PromptKvCache(config(numBlocks, caches, sharesWithinStep));
    }

    private PromptConfig config(int numBlocks, boolean caches, boolean sharesWithinStep) {
        return new PromptConfig(
                KvBlocks.of(hasher, numBlocks).withEnablePrefixCaching(caches).withMaxModelLen(1_000),
                new FreeBlocks(EvictionPolicy.LRU, FreeOrder.ALL_LAST),
                sharesWithinStep);
    }

    private static int[] tokens(int first, int count) {
        return IntStream.range(first, first + count).toArray();
    }
}

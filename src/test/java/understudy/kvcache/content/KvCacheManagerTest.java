package understudy.kvcache.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSource;
import understudy.prompt.Xxh3BlockHasher;

/** Blocks of 16 tokens and 10 usable blocks unless a test says otherwise; scenarios follow vLLM's own test of its cache. */
final class KvCacheManagerTest {
    private static final TokenSource OUTPUT = index -> 50_000 + index;
    private static final int NO_LIMIT = 1_000_000;

    private final KvCacheManager kv = manager(16, 11, true);

    @Test
    void secondRequest_sharesTheBlocksOfACommonPrefix() {
        // 48 common tokens are 3 blocks; 7 more are a fourth, partial one.
        admit(0, 48, 7);
        assertThat(table(kv, 0)).containsExactly(1, 2, 3, 4);

        var admitted = admit(1, 48, 5);

        assertThat(admitted).isEqualTo(admitted(48, 5));
        assertThat(table(kv, 1)).containsExactly(1, 2, 3, 5);
        assertThat(kv.numFreeBlocks()).isEqualTo(5);
    }

    @Test
    void freedBlocks_areGivenOutPartialOnesFirstAndTailBeforeHead() {
        admit(0, 48, 7);
        admit(1, 48, 5);

        kv.free(0, 0);
        kv.free(1, 0);

        // Partial blocks 4, then 5, go to the front; the shared ones are freed with request 1, last block first.
        assertThat(kv.freeOrder()).containsExactly(5, 4, 6, 7, 8, 9, 10, 3, 2, 1);
    }

    @Test
    void freeBlocks_stayFindableUntilTheyAreGivenOut() {
        admit(0, 48, 7);
        kv.free(0, 0);

        assertThat(admit(1, 48, 6)).isEqualTo(admitted(48, 6));
        kv.free(1, 0);
        // 160 other tokens take all ten blocks, and with them the content of blocks 1 to 3.
        assertThat(kv.admit(request(2, tokens(9_000, 160)))).isEqualTo(admitted(0, 160));
        kv.free(2, 0);
        assertThat(admit(3, 48, 6)).isEqualTo(admitted(0, 54));
    }

    @Test
    void resize_takesFreeBlocksAtOnceAndOthersWhenTheyAreReleased() {
        admit(0, 48, 0);
        admit(1, 0, 48);
        kv.free(0, 0);

        kv.resize(4);

        // Three of ten usable blocks stay. Request 1 holds three, so all seven free ones are gone, cached ones
        // included.
        assertThat(kv.numFreeBlocks()).isZero();
        assertThat(kv.usage()).isEqualTo(1);
        assertThat(kv.blockHashes()).hasSize(3);
        kv.resize(3);
        kv.free(1, 0);

        assertThat(kv.numFreeBlocks()).isEqualTo(2);
        assertThat(kv.audit().isConserved()).isTrue();
        kv.resize(Integer.MAX_VALUE);
        assertThat(kv.numFreeBlocks()).isEqualTo(10);
        assertThat(kv.usage()).isZero();
        assertThat(kv.audit().isConserved()).isTrue();
    }

    @Test
    void refusalOfASmallCache_endsWhenItGrows() {
        kv.resize(3);
        assertThat(kv.admit(request(0, tokens(0, 48)))).isInstanceOf(Admission.Refused.class);

        kv.resize(4);

        assertThat(kv.admit(request(0, tokens(0, 48)))).isEqualTo(admitted(0, 48));
    }

    @Test
    void lastToken_isComputedEvenIfAllBlocksAreCached() {
        admit(0, 48, 0);

        // (48 - 1) / 16 = 2 blocks may be hit; the third is computed again, into a block of its own.
        assertThat(admit(1, 48, 0)).isEqualTo(admitted(32, 16));
        assertThat(table(kv, 1)).containsExactly(1, 2, 4);
    }

    @Test
    void hitBlocks_areNeverGivenOutToTheirOwnRequest() {
        var small = manager(16, 3, true);
        small.admit(request(0, tokens(0, 16)));
        small.admit(request(1, tokens(100, 16)));
        small.free(0, 0);
        small.free(1, 0);

        small.admit(request(2, tokens(0, 32)));

        // Block 1 is next in line, but it is hit; so the second block is 2.
        assertThat(table(small, 2)).containsExactly(1, 2);
    }

    @Test
    void admission_countsFreeHitsAsNeededAndChangesNothingWhenRefused() {
        admit(0, 48, 0);
        kv.admit(request(1, join(tokens(0, 48), tokens(500, 48))));
        kv.free(1, 0);
        kv.admit(request(2, tokens(7_000, 32)));
        // In use: 3 of request 0, 2 of request 2. Free: 5, of which 3 hold the second half of request 1.
        assertThat(kv.numFreeBlocks()).isEqualTo(5);

        // 144 tokens are 9 blocks; 6 are hit, so 3 are new, but 3 of the hits are free: 3 + 3 > 5.
        var refused = kv.admit(request(3, join(tokens(0, 48), tokens(500, 48), tokens(800, 48))));

        assertThat(refused).isInstanceOf(Admission.Refused.class);
        assertThat(kv.numFreeBlocks()).isEqualTo(5);
        assertThat(kv.audit().isConserved()).isTrue();
    }

    @Test
    void reserve_grantsUpToTheFirstRefusal() {
        var small = manager(16, 5, true);
        for (int handle = 0; handle < 3; handle++) {
            small.admit(request(handle, tokens(1_000 * handle, 16)));
        }
        // One block is free, and each request needs one more.
        var reservation = new Reservation.Builder();
        for (int handle = 0; handle < 3; handle++) {
            reservation.add(handle, 17, 17);
        }

        assertThat(small.reserve(reservation.build())).isEqualTo(1);
        assertThat(table(small, 0)).containsExactly(1, 4);
        assertThat(table(small, 1)).containsExactly(2);
    }

    @Test
    void decodedBlocks_areCachedWhenTheirLastTokenIsComputed() {
        admit(0, 0, 30);
        reserve(0, 31, 31);
        assertThat(admit(1, 0, 30)).as("one full block of 30 tokens").isEqualTo(admitted(16, 14));
        kv.free(1, 0);

        reserve(0, 32, 32);

        // The 31st and 32nd token are output 0 and 1; a prompt that repeats them hits both blocks.
        var followUp = join(tokens(20_000, 30), new int[] {50_000, 50_001, 1, 2});
        assertThat(kv.admit(request(2, followUp))).isEqualTo(admitted(32, 2));
    }

    @Test
    void caching_isBoundedByKnownTokens() {
        admit(0, 0, 31);

        // Asynchronous scheduling computes the 32nd position before its token is known.
        reserve(0, 32, 31);
        assertThat(admit(1, 0, 31)).isEqualTo(admitted(16, 15));
        kv.free(1, 0);

        var settlement = new Settlement.Builder();
        settlement.end(0, 32, 32, 0);
        kv.settle(settlement.build());
        assertThat(kv.admit(request(2, join(tokens(20_000, 31), new int[] {50_000, 1}))))
                .isEqualTo(admitted(32, 1));
    }

    @Test
    void chunking_cutsToBudgetAndThreshold() {
        assertThat(kv.admit(request(0, tokens(0, 100), 64, 0, true))).isEqualTo(admitted(0, 64));
        assertThat(kv.admit(request(1, tokens(1_000, 40), 64, 24, true))).isEqualTo(admitted(0, 24));
        assertThat(kv.admit(request(2, tokens(2_000, 40), 39, 0, false))).isInstanceOf(Admission.Refused.class);
        assertThat(kv.admit(request(2, tokens(2_000, 40), 40, 0, false))).isEqualTo(admitted(0, 40));
    }

    @Test
    void wholeSequence_mustFitBeforeItsFirstChunkIsAdmitted() {
        admit(0, 0, 100);

        // 7 blocks are in use, 3 free. 64 tokens are 4 blocks, although a chunk of 16 would fit.
        assertThat(kv.admit(request(1, tokens(0, 64), 16, 0, true))).isInstanceOf(Admission.Refused.class);
    }

    @Test
    void withoutCaching_nothingIsFoundOrCounted() {
        var plain = manager(4, 5, false);
        plain.admit(request(0, tokens(0, 10)));
        assertThat(table(plain, 0)).hasSize(3);
        plain.free(0, 0);

        assertThat(plain.admit(request(1, tokens(0, 16))))
                .isEqualTo(new Admission.Admitted(0, 16, PrefixCacheEvents.NONE));
        assertThat(plain.admit(request(2, tokens(0, 4)))).isInstanceOf(Admission.Refused.class);
        assertThat(plain.stats()).isEqualTo(PrefixCacheStats.NONE);
    }

    @Test
    void stats_keepResumedRequestsApart() {
        admit(0, 48, 7);
        admit(1, 48, 5);
        kv.release(1, 0);
        kv.admit(resumed(1, join(tokens(0, 48), tokens(20_000, 5))));

        // 55 + 53 tokens looked up at first admissions, 48 of them hit; then 53 and 48 after a preemption.
        assertThat(kv.stats()).isEqualTo(new PrefixCacheStats(108, 48, 53, 48));
    }

    @Test
    void reset_waitsUntilNoBlockIsInUse() {
        admit(0, 48, 7);
        assertThat(kv.resetPrefixCache()).isFalse();

        kv.free(0, 0);

        assertThat(kv.resetPrefixCache()).isTrue();
        assertThat(admit(1, 48, 7)).isEqualTo(admitted(0, 55));
    }

    @Test
    void events_tellWhatBecameFindableAndWhatWasLost() {
        var two = manager(16, 3, true);
        two.admit(request(0, tokens(0, 32)));
        var stored = (KvEvent.Stored) two.drainEvents().get(0);
        assertThat(stored.blockHashes().toLongArray()).hasSize(2);
        assertThat(stored.hasParent()).isFalse();
        assertThat(stored.tokens().tokenAt(stored.firstToken() + 31)).isEqualTo(31);

        two.free(0, 0);
        two.admit(request(1, tokens(500, 32)));

        // Freed tail first, so the second block is evicted before the first.
        var events = two.drainEvents();
        assertThat(events).hasSize(2);
        assertThat(((KvEvent.Removed) events.get(0)).blockHashes().toLongArray())
                .containsExactly(
                        stored.blockHashes().getLong(1), stored.blockHashes().getLong(0));
        assertThat(events.get(1)).isInstanceOf(KvEvent.Stored.class);

        two.free(1, 0);
        two.resetPrefixCache();
        assertThat(two.drainEvents()).isEqualTo(List.of(new KvEvent.Cleared()));
    }

    /** A prompt of two blocks that grows by one, and another one that shares the first. */
    @Test
    void events_nameTheBlockBefore() {
        admit(0, 32, 0);
        reserve(0, 32, 48);
        var settlement = new Settlement.Builder();
        settlement.end(0, 48, 48, 0);
        kv.settle(settlement.build());
        admit(1, 16, 16);

        var stored = kv.drainEvents().stream().map(KvEvent.Stored.class::cast).toList();
        var first = stored.get(0).blockHashes();
        assertThat(stored).extracting(KvEvent.Stored::hasParent).containsExactly(false, true, true);
        assertThat(stored.get(1).parentHash()).isEqualTo(first.getLong(1));
        assertThat(stored.get(1).firstToken()).isEqualTo(32);
        assertThat(stored.get(2).parentHash()).isEqualTo(first.getLong(0));
        assertThat(stored.get(2).firstToken()).isEqualTo(16);
    }

    /**
     * Two equal prompts of two blocks, which neither finds while the other is computed. Once both are, the second one has
     * the blocks of the first, if full blocks give way; else it keeps its own.
     */
    @ParameterizedTest
    @CsvSource({"false, 6", "true, 8"})
    void fullBlock_givesWayToAnEqualOne_ifItIsPromoted(boolean promotes, int numFree) {
        var manager = new KvCacheManager(ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(16), 11))
                .withPromotesFullBlocks(promotes)
                .withSharesWithinStep(false));
        for (int handle = 0; handle < 2; handle++) {
            assertThat(manager.admit(request(handle, tokens(0, 32)))).isEqualTo(admitted(0, 32));
        }
        assertThat(table(manager, 1)).containsExactly(3, 4);

        for (int handle = 0; handle < 2; handle++) {
            var settlement = new Settlement.Builder();
            settlement.add(handle, 32, 32);
            manager.settle(settlement.build());
        }

        assertThat(table(manager, 1)).isEqualTo(promotes ? table(manager, 0) : new int[] {3, 4});
        assertThat(manager.numFreeBlocks()).isEqualTo(numFree);
        assertThat(manager.audit().isConserved()).isTrue();
    }

    @Test
    void unknownHandle_isRefusedWhereItMattersAndIgnoredWhenFreed() {
        assertThatIllegalArgumentException().isThrownBy(() -> reserve(42, 1, 1)).withMessageContaining("42");
        kv.free(42, 0);
        kv.free(100_000, 0);
        assertThat(kv.audit().isConserved()).isTrue();
    }

    private static int[] table(KvCacheManager manager, int handle) {
        return manager.snapshot(IntList.of(handle)).blockTables().get(0).toIntArray();
    }

    private Admission admit(int handle, int numCommon, int numOwn) {
        return kv.admit(request(handle, join(tokens(0, numCommon), tokens(20_000, numOwn))));
    }

    private void reserve(int handle, int numComputed, int numKnown) {
        var reservation = new Reservation.Builder();
        reservation.add(handle, numComputed, numKnown);
        assertThat(kv.reserve(reservation.build())).isEqualTo(1);
    }

    /** The answer to a request that belongs to no conversation. */
    private static Admission admitted(int numCached, int numScheduled) {
        var event = numCached > 0 ? PrefixCacheEvent.CROSS_REQUEST_HIT : PrefixCacheEvent.MISS_FULL;
        return new Admission.Admitted(numCached, numScheduled, PrefixCacheEvents.of(event));
    }

    private static KvCacheManager manager(int blockSize, int numBlocks, boolean caches) {
        return new KvCacheManager(ContentConfig.vllm(
                KvBlocks.of(new Xxh3BlockHasher(blockSize), numBlocks).withEnablePrefixCaching(caches)));
    }

    private static AdmissionRequest request(int handle, int[] tokens) {
        return request(handle, tokens, NO_LIMIT, 0, true);
    }

    private static AdmissionRequest request(int handle, int[] tokens, int budget, int threshold, boolean chunks) {
        return AdmissionRequest.of(lookup(handle, tokens), budget, tokens.length)
                .withLongPrefillTokenThreshold(threshold)
                .withEnableChunkedPrefill(chunks);
    }

    private static AdmissionRequest resumed(int handle, int[] tokens) {
        return AdmissionRequest.of(lookup(handle, tokens), NO_LIMIT, tokens.length)
                .withIsResumed(true);
    }

    private static PrefixLookup lookup(int handle, int[] tokens) {
        return new PrefixLookup(handle, new Prompt(new TokenIds(tokens)), OUTPUT, tokens.length, true);
    }

    private static int[] tokens(int first, int count) {
        return IntStream.range(first, first + count).toArray();
    }

    private static int[] join(int[]... parts) {
        return IntStream.range(0, parts.length)
                .flatMap(i -> IntStream.of(parts[i]))
                .toArray();
    }
}

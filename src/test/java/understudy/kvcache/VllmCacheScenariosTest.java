package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSource;
import understudy.prompt.Xxh3BlockHasher;

/**
 * The scenarios of vLLM's {@code tests/v1/core/test_prefix_caching.py} for text models, with its numbers: blocks of 16
 * tokens, 10 usable ones unless a test says otherwise, in both orders of freeing.
 */
final class VllmCacheScenariosTest {
    private static final TokenSource OUTPUT = index -> 50_000 + index;
    private static final int NO_LIMIT = 1_000_000;

    private KvCacheManager kv = manager(16, 11, FreeOrder.UNHASHED_FIRST);

    @Test
    void prefill_newOrder() {
        runPrefillScenario(new int[] {5, 4, 6, 7, 8, 9, 10, 3, 2, 1}, 5, new int[] {5, 4, 6, 7, 8, 9, 10, 3, 2, 1});
    }

    @Test
    void prefill_oldOrder() {
        kv = manager(16, 11, FreeOrder.ALL_LAST);
        runPrefillScenario(new int[] {6, 7, 8, 9, 10, 4, 5, 3, 2, 1}, 6, new int[] {7, 8, 9, 10, 4, 5, 6, 3, 2, 1});
    }

    private void runPrefillScenario(int[] freeAfterTwo, int newBlock, int[] tableOfUnrelated) {
        // 48 common tokens are 3 full blocks; 7 more are a fourth block, which is not full and so has no hash.
        admit(0, join(tokens(0, 48), tokens(900, 7)));
        assertThat(table(0)).containsExactly(1, 2, 3, 4);
        assertThat(kv.audit().numHashed()).isEqualTo(3);

        // 3 hits, 1 new block: 4 + 1 of 10 are in use.
        assertThat(admit(1, join(tokens(0, 48), tokens(950, 5)))).isEqualTo(new Counts(48, 5));
        assertThat(table(1)).containsExactly(1, 2, 3, 5);
        assertThat(kv.numFreeBlocks()).isEqualTo(5);
        assertThat(kv.audit().isConserved())
                .as("blocks 1 to 3 count two references")
                .isTrue();

        kv.free(0, 0);
        kv.free(1, 0);
        assertThat(kv.freeOrder()).containsExactly(freeAfterTwo);

        // 3 hits leave the middle of the free queue; the fourth block is its head. 10 - 4 are free.
        assertThat(admit(2, join(tokens(0, 48), tokens(970, 6)))).isEqualTo(new Counts(48, 6));
        assertThat(table(2)).containsExactly(1, 2, 3, newBlock);
        assertThat(kv.numFreeBlocks()).isEqualTo(6);

        // 160 other tokens take all ten blocks in the order of the free queue.
        kv.free(2, 0);
        assertThat(admit(3, tokens(2_000, 160))).isEqualTo(new Counts(0, 160));
        assertThat(table(3)).containsExactly(tableOfUnrelated);
        assertThat(kv.numFreeBlocks()).isZero();
    }

    @Test
    void requestThatMayNotRead_getsBlocksOfItsOwnUnderTheSameHashes() {
        var prompt = join(tokens(0, 48), tokens(900, 7));
        admit(0, prompt);

        var answer = counts(kv.admit(request(1, prompt, NO_LIMIT, false)));

        assertThat(answer).isEqualTo(new Counts(0, 55));
        assertThat(table(1)).containsExactly(5, 6, 7, 8);
        // 3 full blocks each, 6 in all; who may read finds the ones that were there first.
        assertThat(kv.audit().numHashed()).isEqualTo(6);
        kv.free(1, 0);
        admit(2, prompt);
        assertThat(table(2)).startsWith(1, 2, 3);
    }

    @Test
    void decode_takesABlockWhenTheLastOneIsFull() {
        admit(0, tokens(0, 55));

        // 59 tokens still fit into 4 x 16 = 64.
        reserve(0, 59);
        assertThat(table(0)).hasSize(4);
        assertThat(kv.audit().numHashed()).isEqualTo(3);

        // 59 + 19 = 78 tokens are 5 blocks, of which 78 / 16 = 4 are full.
        reserve(0, 78);
        assertThat(table(0)).containsExactly(1, 2, 3, 4, 5);
        assertThat(kv.audit().numHashed()).isEqualTo(4);
    }

    @Test
    void eviction_newOrder() {
        runEvictionScenario(
                new int[] {6, 10, 5, 4, 3, 2, 1}, new int[] {6, 10, 5, 4, 3, 2, 1, 9, 8, 7}, new int[] {1, 2, 6});
    }

    @Test
    void eviction_oldOrder() {
        kv = manager(16, 11, FreeOrder.ALL_LAST);
        runEvictionScenario(
                new int[] {10, 6, 5, 4, 3, 2, 1}, new int[] {10, 6, 5, 4, 3, 2, 1, 9, 8, 7}, new int[] {1, 2, 10});
    }

    private void runEvictionScenario(int[] freeAfterOne, int[] freeAfterTwo, int[] tableOfThird) {
        // 87 tokens are 5 full blocks and a partial one; 48 other tokens are 3 full ones: 1 of 10 is left.
        admit(0, tokens(0, 87));
        admit(1, tokens(3_000, 48));
        assertThat(kv.numFreeBlocks()).isEqualTo(1);

        kv.free(0, 0);
        assertThat(kv.freeOrder()).containsExactly(freeAfterOne);
        kv.free(1, 0);
        assertThat(kv.freeOrder()).containsExactly(freeAfterTwo);

        // (35 - 1) / 16 = 2 blocks may be hit; the third is the head of the free queue.
        assertThat(admit(2, tokens(0, 35))).isEqualTo(new Counts(32, 3));
        assertThat(table(2)).containsExactly(tableOfThird);
        assertThat(kv.numFreeBlocks()).isEqualTo(7);
    }

    @Test
    void reusedBlock_losesItsOldHash() {
        kv = manager(16, 3, FreeOrder.UNHASHED_FIRST);
        admit(0, tokens(0, 16));
        kv.free(0, 0);

        // 31 other tokens take both blocks, the cached one too, and only the first becomes full.
        assertThat(admit(1, tokens(500, 31))).isEqualTo(new Counts(0, 31));
        assertThat(kv.audit().numHashed()).isEqualTo(1);
        kv.free(1, 0);
        assertThat(admit(2, tokens(0, 17))).as("the old content is gone").isEqualTo(new Counts(0, 17));
    }

    @Test
    void chunksOfAPrompt_areCachedOneAfterTheOther() {
        kv = manager(4, 11, FreeOrder.UNHASHED_FIRST);

        // 10 of 14 tokens: 10 / 4 = 2 full blocks; then 14 / 4 = 3.
        assertThat(counts(kv.admit(request(0, tokens(0, 14), 10, true)))).isEqualTo(new Counts(0, 10));
        assertThat(kv.audit().numHashed()).isEqualTo(2);
        var rest = new Reservation.Builder();
        rest.add(0, 14, 14);
        kv.reserve(rest.build());
        assertThat(kv.audit().numHashed()).isEqualTo(3);
    }

    @Test
    void cacheSalt_keepsEqualPromptsApart() {
        admit(0, salted(tokens(0, 55), "salt1"));

        assertThat(admit(1, salted(tokens(0, 55), "salt1"))).isEqualTo(new Counts(48, 7));
        kv.free(1, 0);
        assertThat(admit(2, salted(tokens(0, 55), "salt2"))).isEqualTo(new Counts(0, 55));
        kv.free(2, 0);
        assertThat(admit(3, salted(tokens(0, 55), ""))).isEqualTo(new Counts(0, 55));
    }

    @Test
    void loraName_keepsEqualPromptsApart() {
        admit(0, new Prompt(new TokenIds(tokens(0, 55)), "sql", ""));

        assertThat(admit(1, new Prompt(new TokenIds(tokens(0, 55)), "sql", ""))).isEqualTo(new Counts(48, 7));
        kv.free(1, 0);
        assertThat(admit(2, new Prompt(new TokenIds(tokens(0, 55)), "chat", "")))
                .isEqualTo(new Counts(0, 55));
    }

    @Test
    void reset_clearsEveryHash() {
        admit(0, tokens(0, 55));
        assertThat(kv.resetPrefixCache()).isFalse();
        assertThat(kv.audit().numHashed()).isEqualTo(3);

        kv.free(0, 0);
        assertThat(kv.resetPrefixCache()).isTrue();
        assertThat(kv.audit().numHashed()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 10})
    void events_nameEveryBlockThatIsStoredAndLost(int numBlocks) {
        kv = manager(16, numBlocks + 1, FreeOrder.UNHASHED_FIRST);
        admit(0, tokens(0, numBlocks * 16));
        var stored = kv.drainEvents();
        assertThat(stored).hasSize(1);
        assertThat(hashes(stored.get(0))).hasSize(numBlocks);

        // The same tokens without a lookup take the same blocks, last one first, and store the same hashes anew.
        kv.free(0, 0);
        kv.admit(request(1, tokens(0, numBlocks * 16), NO_LIMIT, false));
        var events = kv.drainEvents();
        var removed = events.subList(0, events.size() - 1).stream()
                .flatMapToLong(event -> ((KvEvent.Removed) event).blockHashes().longStream())
                .toArray();
        assertThat(removed).containsExactly(reversed(hashes(stored.get(0))));
        assertThat(hashes(events.get(events.size() - 1))).containsExactly(hashes(stored.get(0)));

        kv.free(1, 0);
        kv.resetPrefixCache();
        assertThat(kv.drainEvents()).containsExactly(new KvEvent.Cleared());
    }

    private static long[] hashes(KvEvent event) {
        return ((KvEvent.Stored) event).blockHashes().toLongArray();
    }

    private static long[] reversed(long[] values) {
        return IntStream.range(0, values.length)
                .mapToLong(i -> values[values.length - 1 - i])
                .toArray();
    }

    private int[] table(int handle) {
        return kv.snapshot(IntList.of(handle)).blockTables().get(0).toIntArray();
    }

    /** What an admission grants, whatever it is taken for; -1 if it is refused. */
    private record Counts(int numCachedTokens, int numScheduledTokens) {}

    private static Counts counts(Admission admission) {
        return admission instanceof Admission.Admitted admitted
                ? new Counts(admitted.numCachedTokens(), admitted.numScheduledTokens())
                : new Counts(-1, -1);
    }

    private Counts admit(int handle, int[] tokens) {
        return counts(kv.admit(request(handle, tokens, NO_LIMIT, true)));
    }

    private Counts admit(int handle, Prompt prompt) {
        var lookup = new PrefixLookup(handle, prompt, OUTPUT, prompt.length(), true);
        return counts(kv.admit(AdmissionRequest.of(lookup, NO_LIMIT, prompt.length())));
    }

    private void reserve(int handle, int numTokens) {
        var reservation = new Reservation.Builder();
        reservation.add(handle, numTokens, numTokens);
        assertThat(kv.reserve(reservation.build())).isEqualTo(1);
    }

    private static Prompt salted(int[] tokens, String salt) {
        return new Prompt(new TokenIds(tokens), "", salt);
    }

    private static AdmissionRequest request(int handle, int[] tokens, int budget, boolean readsCache) {
        var lookup = new PrefixLookup(handle, new Prompt(new TokenIds(tokens)), OUTPUT, tokens.length, readsCache);
        return AdmissionRequest.of(lookup, budget, tokens.length);
    }

    private static KvCacheManager manager(int blockSize, int numBlocks, FreeOrder freeOrder) {
        return new KvCacheManager(ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(blockSize), numBlocks))
                .withFreeBlocks(new FreeBlocks(EvictionPolicy.LRU, freeOrder)));
    }

    private static int[] tokens(int first, int count) {
        return IntStream.range(first, first + count).toArray();
    }

    private static int[] join(int[] one, int[] other) {
        return IntStream.concat(IntStream.of(one), IntStream.of(other)).toArray();
    }
}

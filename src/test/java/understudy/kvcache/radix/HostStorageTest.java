package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.kvcache.StoredPages;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.StorageWord;
import understudy.kvcache.radix.RadixConfig.PrefetchPolicy;
import understudy.kvcache.radix.RadixConfig.WritePolicy;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

/**
 * A memory of 400 tokens in pages of 1, with 1,000 on the host and one more, which fetches 10 tokens or more. A request waits
 * for 1,000 ns with the policy timeout, and 1 ns more for each token that the storage has.
 */
final class HostStorageTest {
    private RadixMemory memory = create(WritePolicy.WRITE_THROUGH, PrefetchPolicy.WAIT_COMPLETE, 1000);

    private static RadixMemory create(WritePolicy writePolicy, PrefetchPolicy policy, int hostTokens) {
        return create(writePolicy, policy, hostTokens, 10);
    }

    private static RadixMemory create(
            WritePolicy writePolicy, PrefetchPolicy policy, int hostTokens, int prefetchThreshold) {
        return RadixMemory.create(new RadixConfig(
                1,
                400,
                false,
                false,
                RadixEvictionPolicy.LRU,
                0,
                false,
                null,
                new RadixConfig.Hierarchy(
                        hostTokens,
                        writePolicy,
                        0,
                        0,
                        null,
                        new RadixConfig.Storage(KvSource.STORE, policy, prefetchThreshold, 1000, 1024))));
    }

    private StoredPages storage() {
        return Objects.requireNonNull(memory.storage());
    }

    private List<StorageWord> words() {
        return storage().takeWords();
    }

    private static RadixLookup lookup(int handle, int numTokens) {
        return lookup(handle, 0, numTokens);
    }

    private static RadixLookup lookup(int handle, int from, int to) {
        return RadixLookup.of(
                handle, new Prompt(new TokenIds(IntStream.range(from, to).toArray())), index -> index, 0);
    }

    private void cache(RadixLookup lookup) {
        var sequence = memory.open(lookup);
        int length = lookup.prompt().length();
        memory.match(sequence, length - 1);
        memory.admit(sequence, length);
        memory.extend(ObjectArrayList.of(sequence));
        memory.release(lookup.handle(), true);
    }

    private List<Long> beginFetch(int handle, int numTokens) {
        memory.beginFetch(lookup(handle, numTokens), handle, numTokens);
        return words().stream()
                .filter(StorageWord.Find.class::isInstance)
                .<List<Long>>map(word -> ((StorageWord.Find) word).keys())
                .findFirst()
                .orElse(LongList.of());
    }

    private int numFreeOnHost() {
        return Objects.requireNonNull(memory.takeHostActivity()).numFree();
    }

    private int numFound(int handle, int numTokens) {
        return memory.match(memory.open(lookup(handle, numTokens)), numTokens);
    }

    private void isSound() {
        assertThat(RadixAudit.of(memory).isConserved()).isTrue();
    }

    /** A node is written once its copy on the host is acknowledged; its pages have the hashes by which others look for them. */
    @Test
    void copy_isWrittenWhenItIsThere() {
        cache(lookup(0, 20));
        assertThat(words()).isEmpty();

        memory.acknowledgeWrites();
        var prepare = (StorageWord.Prepare) words().get(0);
        assertThat((List<Long>) prepare.keys()).hasSize(20);
        isSound();
        storage().onPrepared(prepare.job(), 15);
        assertThat(words()).containsExactly(new StorageWord.Move(prepare.job(), -1, false, 15));
        storage().onMoved(prepare.job(), false);
        assertThat(words()).containsExactly(new StorageWord.End(prepare.job(), false, false));
        isSound();

        memory = create(WritePolicy.WRITE_THROUGH, PrefetchPolicy.WAIT_COMPLETE, 1000);
        assertThat(beginFetch(1, 20)).isEqualTo(prepare.keys());
    }

    /** Nodes are written one after the other; the second one knows what is before it. */
    @Test
    void writes_areInARow() {
        cache(lookup(0, 20));
        cache(lookup(0, 30));
        memory.acknowledgeWrites();

        var first = words();
        assertThat(first).hasSize(1);
        storage().onPrepared(0, 0);
        var second = (StorageWord.Prepare) words().get(0);
        assertThat((List<Long>) second.keys())
                .hasSize(10)
                .isEqualTo(beginFetchElsewhere(30).subList(20, 30));
        storage().onPrepared(second.job(), 10);
        storage().onMoved(second.job(), true);
        assertThat(words())
                .containsExactly(
                        new StorageWord.Move(second.job(), -1, false, 10),
                        new StorageWord.End(second.job(), false, true));
        isSound();
    }

    private List<Long> beginFetchElsewhere(int numTokens) {
        var other = create(WritePolicy.WRITE_THROUGH, PrefetchPolicy.WAIT_COMPLETE, 1000);
        other.beginFetch(lookup(1, numTokens), 1, numTokens);
        return ((StorageWord.Find)
                        Objects.requireNonNull(other.storage()).takeWords().get(0))
                .keys();
    }

    /** Of 300 tokens 20 are there; of the other 280 the storage has 270, which come by 128 pages. */
    @Test
    void fetch_comesBehindWhatIsThere() {
        cache(lookup(0, 20));
        memory.acknowledgeWrites();
        words();
        assertThat(beginFetch(1, 300)).hasSize(280);
        // 1,001 less the copy of 20 and the 280 that are to come.
        assertThat(numFreeOnHost()).isEqualTo(701);
        isSound();

        storage().onFound(1, 270);
        assertThat(numFreeOnHost()).isEqualTo(711);
        assertThat(words()).containsExactly(new StorageWord.Move(1, 1, true, 128));
        storage().onMoved(1, false);
        assertThat(words()).containsExactly(new StorageWord.Move(1, 1, true, 128));
        storage().onMoved(1, false);
        assertThat(words()).containsExactly(new StorageWord.Move(1, 1, true, 14));
        assertThat(memory.endFetch(1)).isFalse();
        storage().onMoved(1, false);
        assertThat(words()).containsExactly(new StorageWord.End(1, true, false), new StorageWord.Look());
        isSound();

        assertThat(memory.endFetch(1)).isTrue();
        assertThat(numFound(1, 300)).isEqualTo(290);
        assertThat(numFreeOnHost()).isEqualTo(711);
        isSound();
    }

    /** 19 of 28 tokens are there: the other 9 are too few. So are 9 that the storage has of 10. */
    @Test
    void fewerTokensThanTheThreshold_areNotFetched() {
        cache(lookup(0, 19));
        memory.acknowledgeWrites();
        words();
        assertThat(beginFetch(1, 28)).isEmpty();
        assertThat(memory.endFetch(1)).isTrue();

        assertThat(beginFetch(1, 29)).hasSize(10);
        assertThat(memory.endFetch(1)).isFalse();
        storage().onFound(1, 9);
        assertThat(words()).contains(new StorageWord.End(1, true, false), new StorageWord.Look());
        assertThat(memory.endFetch(1)).isTrue();
        assertThat(numFreeOnHost()).isEqualTo(1001 - 19);
        isSound();
    }

    /** Without a threshold a page is fetched, and nothing if no page is missing. */
    @Test
    void threshold_isAtLeastAPage() {
        memory = create(WritePolicy.WRITE_THROUGH, PrefetchPolicy.WAIT_COMPLETE, 1000, 0);
        cache(lookup(0, 20));
        cache(lookup(0, 21));
        memory.acknowledgeWrites();
        words();

        assertThat(beginFetch(1, 22)).hasSize(1);
        memory.beginFetch(lookup(2, 1), 2, 0);
        assertThat(words()).isEmpty();
    }

    /** With write_through_selective a node has no copy after one hit: nothing is fetched behind it. */
    @Test
    void nothingIsFetched_behindANodeWithoutACopy() {
        memory = create(WritePolicy.WRITE_THROUGH_SELECTIVE, PrefetchPolicy.WAIT_COMPLETE, 1000);
        cache(lookup(0, 20));
        assertThat(beginFetch(1, 100)).isEmpty();
    }

    /** Equal tokens with another salt have other hashes. */
    @Test
    void hash_knowsOfTheSalt() {
        var tokens = new TokenIds(IntStream.range(0, 20).toArray());
        var salted = new Prompt(tokens, "", "salt");
        memory.beginFetch(RadixLookup.of(2, salted, index -> index, 0), 2, 20);
        var ofSalted = ((StorageWord.Find) words().get(0)).keys();

        assertThat((List<Long>) ofSalted).doesNotContainAnyElementsOf(beginFetch(1, 20));
    }

    /** A request that has waited for 1,000 ns and 300 more goes on with the 128 tokens that have come by then. */
    @ParameterizedTest
    @CsvSource({"BEST_EFFORT, 0", "TIMEOUT, 1301"})
    void policy_endsAFetch(PrefetchPolicy policy, long atNanos) {
        memory = create(WritePolicy.WRITE_THROUGH, policy, 1000);
        memory.beginFetch(lookup(1, 300), 1, 300);
        if (policy == PrefetchPolicy.TIMEOUT) {
            assertThat(words()).contains(new StorageWord.LookAt(0, 1001));
        }
        storage().onFound(0, 300);
        if (policy == PrefetchPolicy.TIMEOUT) {
            assertThat(words()).contains(new StorageWord.LookAt(0, 1301));
        }
        storage().onMoved(0, false);
        if (atNanos > 0) {
            memory.setNow(atNanos - 1);
            assertThat(memory.endFetch(1)).isFalse();
        }
        memory.setNow(atNanos);
        assertThat(memory.endFetch(1)).isTrue();

        assertThat(numFound(1, 300)).isEqualTo(128);
        // The places of the 128 that are on their way are free when they have come.
        assertThat(numFreeOnHost()).isEqualTo(701);
        isSound();
        words();
        storage().onMoved(0, false);
        assertThat(words()).containsExactly(new StorageWord.End(0, true, false));
        assertThat(numFreeOnHost()).isEqualTo(1001 - 128);
        isSound();
    }

    /** What fails ends the wait; what came before counts. */
    @Test
    void failedRead_endsTheFetch() {
        assertThat(beginFetch(1, 200)).hasSize(200);
        storage().onFound(0, 200);
        storage().onMoved(0, false);
        storage().onMoved(0, true);

        assertThat(memory.endFetch(1)).isTrue();
        assertThat(numFound(1, 200)).isEqualTo(128);
        assertThat(numFreeOnHost()).isEqualTo(1001 - 128);
        isSound();
    }

    /** A second fetch is read after the first, which is dropped: what came of it is free, and what is on its way when it is there. */
    @Test
    void droppedFetch_letsTheNextOneGoOn() {
        assertThat(beginFetch(1, 200)).hasSize(200);
        memory.beginFetch(lookup(2, 500, 650), 2, 150);
        memory.beginFetch(lookup(3, 700, 800), 3, 100);
        words();
        storage().onFound(0, 200);
        storage().onFound(1, 150);
        storage().onFound(2, 100);
        assertThat(words()).containsExactly(new StorageWord.Move(0, 1, true, 128));

        memory.dropFetch(1);
        memory.dropFetch(2);
        assertThat(words()).containsExactly(new StorageWord.End(1, true, false));
        // 1,001 less 200 and 100: the second was not read yet.
        assertThat(numFreeOnHost()).isEqualTo(701);
        isSound();
        storage().onMoved(0, false);
        assertThat(words()).containsExactly(new StorageWord.End(0, true, false), new StorageWord.Move(2, 3, true, 100));
        assertThat(numFreeOnHost()).isEqualTo(901);
        isSound();
    }

    /** A fetch that is dropped while it is looked up keeps its places until the answer. */
    @Test
    void fetchDroppedDuringTheLookup_endsWithTheAnswer() {
        assertThat(beginFetch(1, 200)).hasSize(200);
        memory.dropFetch(1);
        assertThat(numFreeOnHost()).isEqualTo(801);
        isSound();
        storage().onFound(0, 200);

        assertThat(words()).containsExactly(new StorageWord.End(0, true, false));
        assertThat(numFreeOnHost()).isEqualTo(1001);
        assertThat(memory.hasPendingCopies()).isFalse();
        isSound();
    }

    /** Another request computes the first 50 tokens meanwhile: their copy stays, and the other 50 that come follow it. */
    @Test
    void tokensComputedMeanwhile_stay() {
        assertThat(beginFetch(1, 100)).hasSize(100);
        storage().onFound(0, 100);
        cache(lookup(2, 50));
        memory.acknowledgeWrites();
        storage().onMoved(0, false);

        assertThat(memory.endFetch(1)).isTrue();
        assertThat(numFound(1, 100)).isEqualTo(100);
        assertThat(memory.sequence(1).hostHit()).isEqualTo(50);
        assertThat(numFreeOnHost()).isEqualTo(1001 - 100);
        isSound();
    }

    /** With write_through_selective the first 50 have no copy after one hit: what would follow them is not kept. */
    @Test
    void nodeWithoutACopy_isNotFollowed() {
        memory = create(WritePolicy.WRITE_THROUGH_SELECTIVE, PrefetchPolicy.WAIT_COMPLETE, 1000);
        assertThat(beginFetch(1, 100)).hasSize(100);
        storage().onFound(0, 100);
        cache(lookup(2, 50));
        storage().onMoved(0, false);

        assertThat(memory.endFetch(1)).isTrue();
        assertThat(numFound(1, 100)).isEqualTo(50);
        assertThat(numFreeOnHost()).isEqualTo(1001);
        isSound();
    }

    /** With fetches of 501 tokens, which are half of the host, none is begun any more. */
    @Test
    void fetches_takeHalfOfTheHost() {
        assertThat(beginFetch(1, 501)).hasSize(501);
        assertThat(beginFetch(2, 20)).isEmpty();
        memory.dropFetch(1);
        assertThat(beginFetch(2, 20)).hasSize(20);
    }

    /** A node that is being written, or behind which pages come, does not make way on the host. */
    @Test
    void nodeInUse_staysOnTheHost() {
        memory = create(WritePolicy.WRITE_THROUGH, PrefetchPolicy.WAIT_COMPLETE, 59);
        cache(lookup(0, 40));
        memory.acknowledgeWrites();
        memory.makeRoom(400);
        memory.beginFetch(lookup(1, 500, 530), 1, 30);

        // 60 less 40 are too few for 30.
        assertThat(words()).noneMatch(StorageWord.Find.class::isInstance);
        assertThat(numFound(2, 40)).isEqualTo(40);
        storage().onPrepared(0, 0);
        memory.beginFetch(lookup(1, 500, 530), 1, 30);
        assertThat(words()).anyMatch(StorageWord.Find.class::isInstance);
        assertThat(numFound(1, 40)).isZero();
        isSound();
    }

    /**
     * The 30 tokens behind which 40 are fetched are dropped with the 200 above them, for which the host has no room: what comes
     * then is not kept.
     */
    @Test
    void tokensBehindADroppedNode_areNotKept() {
        memory = create(WritePolicy.WRITE_BACK, PrefetchPolicy.WAIT_COMPLETE, 99);
        cache(lookup(0, 200));
        cache(lookup(0, 230));
        cache(lookup(0, 1000, 1170));
        memory.makeRoom(30);
        words();
        assertThat(beginFetch(1, 270)).hasSize(40);
        storage().onFound(1, 40);
        memory.makeRoom(400);
        assertThat(memory.nodes()).isEmpty();
        storage().onMoved(1, false);

        assertThat(memory.endFetch(1)).isTrue();
        assertThat(memory.nodes()).isEmpty();
        // The 30 that are being written have their places still.
        assertThat(numFreeOnHost()).isEqualTo(100 - 30);
        isSound();
    }

    /**
     * With write_back, 30 tokens leave the full device for a host with room for 41, and are being written. The 200 above them
     * and 170 others that leave it then find no room there, and are dropped with what is below them; the places of what is being
     * written are free after that.
     */
    @Test
    void nodeThatIsWritten_mayBeDropped() {
        memory = create(WritePolicy.WRITE_BACK, PrefetchPolicy.WAIT_COMPLETE, 40);
        cache(lookup(0, 200));
        cache(lookup(0, 230));
        cache(lookup(0, 1000, 1170));
        memory.makeRoom(30);
        var prepare = (StorageWord.Prepare) words().get(0);
        assertThat((List<Long>) prepare.keys()).hasSize(30);
        storage().onPrepared(prepare.job(), 30);

        memory.makeRoom(400);
        assertThat(memory.numFree()).isEqualTo(400);
        assertThat(memory.nodes()).isEmpty();
        assertThat(numFreeOnHost()).isEqualTo(11);
        isSound();
        storage().onMoved(prepare.job(), false);
        assertThat(numFreeOnHost()).isEqualTo(41);
        isSound();
    }
}

package understudy.kvcache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.TierChange;
import understudy.kvcache.connector.TransferJob;

/**
 * The scheduler's side of offloading; blocks have 16 tokens, and chunks two of them unless said otherwise. A chunk's key
 * is the hash of its last block: of the prompt 100, the blocks have 100, 101, 102 and so on, the chunks 101, 103, 105.
 */
final class OffloadingConnectorTest {
    private int numHostChunks = 10;
    private int blocksPerChunk = 2;
    private boolean promptOnly;
    private int numStores;
    private @Nullable OffloadingConnector connector;
    private final List<OffloadingConnector.StoreAttempt> attempts = new ArrayList<>();

    private OffloadingConnector connector() {
        if (connector == null) {
            var spec =
                    new OffloadingSpec(TierSpec.of(numHostChunks), blocksPerChunk, promptOnly, false, false, numStores);
            connector = new OffloadingConnector(spec, 16, true, attempts::add);
        }
        return connector;
    }

    /** Plans a step after which a request has so many tokens computed. */
    private List<TransferJob> plan(PromptInBlocks request, int numComputedTokens) {
        return connector().onPlanned(List.of(request), new int[] {numComputedTokens});
    }

    private List<TransferJob> planNothing() {
        return connector().onPlanned(List.of(), new int[0]);
    }

    /** Admits a request without anything from elsewhere. */
    private PromptInBlocks admitted(PromptInBlocks request) {
        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.NONE);
        connector().onAllocated(request, 0, 0);
        return request;
    }

    /** Has another request put the first chunks of prompt 100 on the host. */
    private void store(int numChunks) {
        int numBlocks = numChunks * blocksPerChunk;
        var before = new PromptInBlocks(0, 100, numBlocks * 16);
        for (int i = 0; i < numBlocks; i++) {
            before.blocks.add(50 + i);
        }
        var job = plan(admitted(before), numBlocks * 16).get(0);
        connector().onJobEnded(job.job(), false);
        connector().onEnded(before, true);
        planNothing();
    }

    @Test
    void completeChunks_areStoredWithTheirStep_once() {
        var request = admitted(new PromptInBlocks(1, 100, 100, 10, 11, 12, 13, 14, 15, 16));

        // 70 tokens are in 4 full blocks and a bit: 2 chunks.
        assertThat(plan(request, 70))
                .containsExactly(new TransferJob(
                        0, TransferJob.Kind.STORE, 1, 64, IntList.of(10, 11, 12, 13), IntList.of(0, 1), -1));
        assertThat(plan(request, 95)).as("5 full blocks").isEmpty();
        // 96 tokens are 3 chunks, one of which is new.
        assertThat(plan(request, 96))
                .containsExactly(
                        new TransferJob(1, TransferJob.Kind.STORE, 1, 32, IntList.of(14, 15), IntList.of(2), -1));
        assertThat(connector().tiers().get(0).stats().numPending()).isEqualTo(3);
    }

    @Test
    void chunksThatAreThere_areNotStoredAgain() {
        store(1);
        // The GPU has the first chunk, too, so that nothing is loaded.
        var request = new PromptInBlocks(1, 100, 64, 50, 51, 12, 13);
        assertThat(connector().match(request, 32)).isEqualTo(ExternalMatch.NONE);

        assertThat(plan(request, 64)).extracting(TransferJob::gpuBlocks).containsExactly(IntList.of(12, 13));
    }

    /** 40 tokens of the prompt, 24 of the answer: the second chunk of 32 tokens ends in the answer. */
    @Test
    void answers_areStoredOrNot() {
        for (boolean isPromptOnly : List.of(false, true)) {
            connector = null;
            promptOnly = isPromptOnly;
            var request = admitted(new PromptInBlocks(1, 100, 40, 10, 11, 12, 13));
            assertThat(plan(request, 40)).hasSize(1);
            request.numTokens = 64;
            assertThat(plan(request, 64)).hasSize(isPromptOnly ? 0 : 1);
        }
    }

    /** The last token of 64 is sampled, and never computed by a step of its own. */
    @Test
    void answerThatIsComplete_isStoredWithTheNextPlan() {
        var complete = admitted(new PromptInBlocks(1, 100, 63, 10, 11, 12, 13));
        var aborted = admitted(new PromptInBlocks(2, 200, 63, 20, 21, 22, 23));
        connector().onPlanned(List.of(complete, aborted), new int[] {63, 63});
        complete.numTokens = 64;
        aborted.numTokens = 64;

        assertThat(connector().onEnded(complete, true))
                .as("blocks are fenced, not kept")
                .isFalse();
        assertThat(connector().onEnded(aborted, false)).isFalse();

        assertThat(planNothing()).extracting(TransferJob::gpuBlocks).containsExactly(IntList.of(12, 13));
    }

    @Test
    void lookUp_isBehindTheLocalHits() {
        store(2);
        var request = new PromptInBlocks(1, 100, 100);

        // 2 chunks of 32 tokens are there: 64 - 16 behind one block of the GPU, in whose middle the first one is.
        assertThat(connector().match(request, 0)).isEqualTo(new ExternalMatch(64, true, KvSource.HOST));
        assertThat(connector().match(request, 16)).isEqualTo(new ExternalMatch(48, true, KvSource.HOST));
        assertThat(connector().match(request, 48)).as("less than a chunk").isEqualTo(ExternalMatch.NONE);
        assertThat(connector().match(request, 64)).isEqualTo(ExternalMatch.NONE);
        assertThat(connector().match(new PromptInBlocks(2, 98, 100), 0))
                .as("the first chunk is not there")
                .isEqualTo(ExternalMatch.NONE);
    }

    @Test
    void load_isOfTheBlocksBehindTheLocalHits() {
        store(2);
        var request = new PromptInBlocks(1, 100, 100);
        connector().match(request, 16);
        request.blocks.addAll(IntList.of(50, 11, 12, 13));
        request.numCachedBlocks = 1;
        connector().onAllocated(request, 16, 48);

        // Blocks 1 to 3 of the table, from both chunks of the host.
        assertThat(planNothing())
                .containsExactly(
                        new TransferJob(1, TransferJob.Kind.LOAD, 1, 48, IntList.of(11, 12, 13), IntList.of(0, 1), -1));
        assertThat(connector().tiers().get(0).stats().numInRead()).isEqualTo(2);
        connector().onJobEnded(1, false);
        assertThat(connector().tiers().get(0).stats().numInRead()).isZero();
        connector().lose(key -> true);
        request.blocks.addAll(IntList.of(14, 15));
        assertThat(plan(request, 96))
                .as("what was loaded is not stored, even if it has gone")
                .extracting(TransferJob::gpuBlocks)
                .containsExactly(IntList.of(14, 15));
    }

    @Test
    void requestWithJobsUnderWay_isAskedForLater() {
        var request = admitted(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13));
        long job = plan(request, 64).get(0).job();
        connector().onPreempted(request);

        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.LATER);
        connector().onJobEnded(job, false);
        assertThat(connector().match(request, 0)).isEqualTo(new ExternalMatch(64, true, KvSource.HOST));
    }

    @Test
    void chunksThatOthersWriteOrLoad_areWaitedFor() {
        var writer = admitted(new PromptInBlocks(1, 100, 32, 10, 11));
        long write = plan(writer, 32).get(0).job();
        var other = new PromptInBlocks(2, 100, 64);
        assertThat(connector().match(other, 0)).as("being written").isEqualTo(ExternalMatch.LATER);

        connector().onJobEnded(write, false);
        assertThat(connector().match(other, 0)).isEqualTo(new ExternalMatch(32, true, KvSource.HOST));
        other.blocks.addAll(IntList.of(20, 21));
        connector().onAllocated(other, 0, 32);
        long load = planNothing().get(0).job();
        var third = new PromptInBlocks(3, 100, 64);
        assertThat(connector().match(third, 0)).as("being loaded").isEqualTo(ExternalMatch.LATER);
        connector().onJobEnded(load, false);
        assertThat(connector().match(third, 0).numTokens()).isEqualTo(32);
    }

    @Test
    void preemption_hasTheNextStepWaitForTheStores() {
        var request = admitted(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13));
        plan(request, 32);
        plan(request, 64);
        assertThat(connector().jobsToFlush()).isEmpty();

        connector().onPreempted(request);

        planNothing();
        assertThat(connector().jobsToFlush()).containsExactly(0, 1);
        planNothing();
        assertThat(connector().jobsToFlush()).as("once").isEmpty();
    }

    @Test
    void failedStore_isNotTriedAgain() {
        var request = admitted(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13));
        connector().onJobEnded(plan(request, 64).get(0).job(), true);
        connector().onPreempted(request);

        // The host has nothing, but all chunks were considered, even for a request that computes them again.
        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.NONE);
        assertThat(plan(request, 64)).isEmpty();
    }

    /** Job 0 reads blocks 10 to 13 of a request that has ended. */
    @Test
    void blocksOfEndedRequests_areFencedUntilTheStoreIsOver() {
        var ended = admitted(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13));
        plan(ended, 64);
        connector().onEnded(ended, true);

        plan(admitted(new PromptInBlocks(2, 200, 16, 20)), 16);
        assertThat(connector().jobsToFlush()).as("others write elsewhere").isEmpty();
        var writer = admitted(new PromptInBlocks(3, 300, 32, 21, 12));
        plan(writer, 16);
        assertThat(connector().jobsToFlush()).containsExactly(0);
        plan(writer, 17);
        assertThat(connector().jobsToFlush()).as("no new blocks").isEmpty();

        connector().onJobEnded(0, false);
        plan(admitted(new PromptInBlocks(4, 400, 16, 13)), 16);
        assertThat(connector().jobsToFlush()).isEmpty();
    }

    /** Blocks 12 and 13, stored with the end, are given to a load in the same step. */
    @Test
    void blocksStoredWithTheEnd_areFencedAgainstTheSameStep() {
        store(1);
        var ended = admitted(new PromptInBlocks(1, 200, 63, 10, 11, 12, 13));
        connector().onJobEnded(plan(ended, 63).get(0).job(), false);
        ended.numTokens = 64;
        connector().onEnded(ended, true);
        var loading = new PromptInBlocks(2, 100, 33);
        connector().match(loading, 0);
        loading.blocks.addAll(IntList.of(12, 14));
        connector().onAllocated(loading, 0, 32);

        var jobs = planNothing();

        // Jobs 0 and 1 have stored before; the load is begun before the last store.
        assertThat(jobs).extracting(TransferJob::kind).containsExactly(TransferJob.Kind.LOAD, TransferJob.Kind.STORE);
        assertThat(connector().jobsToFlush()).containsExactly(jobs.get(1).job());
    }

    /** Two chunks fit; both are being written when the third one comes. */
    @Test
    void refusedStore_isTriedAgain() {
        numHostChunks = 2;
        var first = admitted(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13));
        long job = plan(first, 64).get(0).job();
        var second = admitted(new PromptInBlocks(2, 200, 33, 20, 21, 22));
        assertThat(plan(second, 32)).isEmpty();
        assertThat(attempts).last().isEqualTo(attempt(2, 1, new PrepareStoreOutput.Refused(1)));
        assertThat(plan(second, 33)).as("still").isEmpty();

        connector().onJobEnded(job, false);

        assertThat(plan(second, 33)).extracting(TransferJob::gpuBlocks).containsExactly(IntList.of(20, 21));
        // The chunk has gone whose store was over first.
        assertThat(connector().drainChanges())
                .containsExactly(new TierChange(true, LongList.of(101, 103)), new TierChange(false, LongList.of(101)));
    }

    private static OffloadingConnector.StoreAttempt attempt(long requestId, int numOffered, PrepareStoreOutput output) {
        return new OffloadingConnector.StoreAttempt(requestId, numOffered, output);
    }

    /** Request 1 writes chunks 101 and 103; the loads of two cascades keep them until both are over. */
    @Test
    void storedChunks_areHandedOnToAllSlowerMemories() {
        numStores = 2;
        var request = admittedAfterPromotion(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13));
        long store = plan(request, 64).get(0).job();

        var cascades = connector().onJobEnded(store, false);

        assertThat(cascades)
                .containsExactly(
                        TransferJob.ofChunks(2, TransferJob.Kind.CASCADE, 1, LongList.of(101, 103), 0, -1),
                        TransferJob.ofChunks(3, TransferJob.Kind.CASCADE, 1, LongList.of(101, 103), 1, -1));
        assertThat(connector().onJobEnded(2, false)).isEmpty();
        assertThat(connector().tier().stats().numInRead()).isEqualTo(2);
        assertThat(connector().onJobEnded(3, true)).isEmpty();
        assertThat(connector().tier().stats().numInRead()).isZero();
    }

    @Test
    void failedStore_isNotHandedOn() {
        numStores = 1;
        var request = admittedAfterPromotion(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13));

        assertThat(connector().onJobEnded(plan(request, 64).get(0).job(), true)).isEmpty();
        assertThat(connector().tier().stats().numUsed()).isZero();
    }

    /** The host has chunk 101; slower memories are asked for 103 and 105, and have the first of them. */
    @Test
    void missingChunks_areAskedForOnce() {
        numStores = 1;
        storeWithPromotion();
        var request = new PromptInBlocks(1, 100, 100);

        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.LATER);
        var job = planNothing().get(0);
        assertThat(job)
                .isEqualTo(TransferJob.ofChunks(job.job(), TransferJob.Kind.PROMOTE, 1, LongList.of(103, 105), -1, -1));
        assertThat(connector().match(request, 0)).as("still asked for").isEqualTo(ExternalMatch.LATER);
        var accepted = connector().acceptPromotion(job.job(), LongList.of(103), KvSource.DISK);
        assertThat(accepted.toLongArray()).containsExactly(103);
        assertThat(connector().onJobEnded(job.job(), false))
                .as("is not handed on again")
                .isEmpty();

        // 2 chunks of 32 tokens, one of them from the disk, and no second promotion of the third.
        assertThat(connector().match(request, 0)).isEqualTo(new ExternalMatch(64, true, 32, KvSource.DISK));
        assertThat(planNothing()).isEmpty();
    }

    @Test
    void preemptedRequest_asksAgain() {
        numStores = 1;
        var request = admittedAfterPromotion(new PromptInBlocks(1, 100, 100));

        connector().onPreempted(request);

        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.LATER);
        assertThat(planNothing()).extracting(TransferJob::keys).containsExactly(LongList.of(101, 103, 105));
    }

    /** Two chunks fit, and both are in use. */
    @Test
    void promotionWithoutRoom_bringsNothing() {
        numHostChunks = 2;
        numStores = 1;
        plan(admittedAfterPromotion(new PromptInBlocks(1, 100, 64, 10, 11, 12, 13)), 64);
        var request = new PromptInBlocks(2, 200, 64);
        connector().match(request, 0);
        long job = planNothing().get(0).job();

        var accepted = connector().acceptPromotion(job, LongList.of(201), KvSource.PEER);
        assertThat(accepted.toLongArray()).isEmpty();
        connector().onJobEnded(job, false);
        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.NONE);
    }

    @Test
    void replicaThatTheRouterNames_isAskedWithoutAnyStore() {
        var request = new PromptInBlocks(1, 100, 64);
        request.params = KvTransferParams.kvSource(3);

        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.LATER);
        assertThat(planNothing()).extracting(TransferJob::remoteReplica).containsExactly(3);
    }

    /** Lends what it has before the first gap, and keeps it until that is over. */
    @Test
    void lentChunks_stayUntilTheyAreTakenBack() {
        store(2);

        assertThat(connector().lend(LongList.of(101, 103, 105, 101)).toLongArray())
                .containsExactly(101, 103);
        assertThat(connector().tier().stats().numInRead()).isEqualTo(2);
        connector().lose(key -> true);
        assertThat(connector().tier().stats().numUsed())
                .as("is not lost meanwhile")
                .isEqualTo(2);
        connector().takeBack(LongList.of(101, 103));
        connector().lose(key -> key == 103);
        assertThat(connector().lend(LongList.of(101, 103)).toLongArray()).containsExactly(101);
    }

    /** Admits a request for which the slower memories have nothing. */
    private PromptInBlocks admittedAfterPromotion(PromptInBlocks request) {
        assertThat(connector().match(request, 0)).isEqualTo(ExternalMatch.LATER);
        connector().onJobEnded(planNothing().get(0).job(), false);
        return admitted(request);
    }

    /** Has another request put chunk 101 on the host. */
    private void storeWithPromotion() {
        var before = admittedAfterPromotion(new PromptInBlocks(0, 100, 32, 50, 51));
        connector().onJobEnded(plan(before, 32).get(0).job(), false).forEach(cascade -> {
            connector().onJobEnded(cascade.job(), false);
        });
        connector().onEnded(before, true);
        planNothing();
    }
}

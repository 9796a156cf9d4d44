package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ClusterFixture.workload;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.engine.Request;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.prompt.SegmentedTokens;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;

/** What vLLM's first automatic prefix caching (PR #2762) promises, and the questions that were asked about it. */
final class VllmPrefixCachingTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int X = 1;
    private static final int Y = 2;

    private final ClusterFixture cluster = new ClusterFixture();

    VllmPrefixCachingTest() {
        cluster.evictionPolicy = EvictionPolicy.LRU_LONGEST_PREFIX;
        cluster.promotesFullBlocks = true;
    }

    /** "If the first request is A and vllm generates B, and the second request is A+B+C, will A+B already be cached?" */
    @Test
    void followUp_hitsPromptAndAnswerOfTheTurnBefore() {
        var run = cluster.run(workload(aThenAbc()));

        // A+B is 40 + 31 tokens; the last one's KV was never computed, so 70 tokens are 4 full blocks. A alone has 2.
        assertThat(cachedTokens(run)).containsExactly(0, 64);
    }

    @Test
    void followUp_hitsThePromptOnly_ifAnswersAreNotCached() {
        cluster.cachesGeneratedBlocks = false;

        assertThat(cachedTokens(cluster.run(workload(aThenAbc())))).containsExactly(0, 32);
    }

    /** "Why does the hash of a block not take into account its position?" It takes into account all that comes before. */
    @Test
    void sameTokensAtAnotherPosition_areAnotherBlock() {
        var run = cluster.run(workload(
                request(0, blocks(X, Y, 3)),
                request(1, blocks(Y, X, 4)),
                request(2, blocks(X, X, 5)),
                request(3, blocks(X, Y, 6))));

        // Each prompt is three blocks of 16: X Y hit nothing as Y X, X X hits the first X only, and X Y both.
        assertThat(cachedTokens(run)).containsExactly(0, 0, 16, 32);
    }

    @Test
    void chain_makesAMatchAtABlockImplyAllBlocksBefore() {
        var one = ListWorkload.request(0, 0, blocks(X, Y), 1).prompt().blockHashes(cluster.hasher);
        var other = ListWorkload.request(1, 0, blocks(Y, X), 1).prompt().blockHashes(cluster.hasher);

        assertThat(one).doesNotContain(other);
        assertThat(ListWorkload.request(2, 0, blocks(X, X), 1).prompt().blockHashes(cluster.hasher)[0])
                .isEqualTo(one[0]);
    }

    /** "Only blocks with a ref count of 0 are eligible for eviction." */
    @ParameterizedTest
    @EnumSource(EvictionPolicy.class)
    void blocksInUse_stayWhateverElseNeedsRoom(EvictionPolicy policy) {
        cluster.evictionPolicy = policy;
        cluster.promotesFullBlocks = false;
        cluster.numBlocks = 1 + 24;
        cluster.maxModelLen = 24 * 16;
        // 0 runs for 160 steps of 5 ms and takes 13 of 24 blocks, X and Y among them. Meanwhile 20 requests go through
        // the other 11, with 10 blocks each and one every 25 ms; then 21 finds X and Y.
        var requests = new Request[22];
        requests[0] = ListWorkload.request(0, 0, blocks(X, Y, 7), 160);
        for (int i = 1; i <= 20; i++) {
            requests[i] = ListWorkload.request(i, i * SECOND / 40, 150, 2);
        }
        requests[21] = ListWorkload.request(21, 7 * SECOND / 10, blocks(X, Y, 8), 2);
        var run = cluster.run(workload(requests));

        var last = ClusterFixture.requests(run).stream()
                .filter(request -> request.requestId() == 21)
                .findFirst()
                .orElseThrow();
        assertThat(last.numCachedTokens()).isEqualTo(32);
        assertThat(run.replicas().get(0).kvCache().isConserved()).isTrue();
    }

    /** "Blocks with a ref count of 0 can be brought back, since they are not removed from the table until evicted." */
    @Test
    void freeBlocks_areBroughtBackUntilTheyAreEvicted() {
        cluster.numBlocks = 1 + 10;
        cluster.maxModelLen = 160;
        var run = cluster.run(workload(
                request(0, blocks(X, Y, 3)),
                request(1, blocks(X, Y, 4)),
                ListWorkload.request(2, 2 * SECOND, 150, 2),
                request(3, blocks(X, Y, 5))));

        // The request of 10 blocks between them takes all there are.
        assertThat(cachedTokens(run)).containsExactly(0, 32, 0, 0);
    }

    /** "The block with the highest number of prefix tokens will be evicted first." */
    @Test
    void eviction_takesAPrefixFromItsEnd() {
        cluster.numBlocks = 1 + 10;
        cluster.maxModelLen = 160;
        var run = cluster.run(workload(
                request(0, blocks(11, 12, 13, 14, 15, 16)),
                ListWorkload.request(1, SECOND, 7 * 16 - 1, 1),
                ListWorkload.request(2, 2 * SECOND, blocks(11, 12, 13, 14, 15, 16), 1)));

        // 4 of the 10 blocks were never used. Who needs 7 takes them, and 3 from the end of the 6 of request 0.
        assertThat(cachedTokens(run)).containsExactly(0, 0, 48);
    }

    private static Request[] aThenAbc() {
        var a = SegmentedTokens.EMPTY.append(X, 40);
        var first = ListWorkload.request(0, 0, a, 31);
        // ListWorkload answers request 0 with segment -1.
        var abc = a.append(-1, 31).append(Y, 20);
        return new Request[] {first, ListWorkload.request(1, SECOND, abc, 5)};
    }

    /** A prompt of whole blocks. */
    private static SegmentedTokens blocks(int... segments) {
        var prompt = SegmentedTokens.EMPTY;
        for (int segment : segments) {
            prompt = prompt.append(segment, 16);
        }
        return prompt;
    }

    private static Request request(int id, SegmentedTokens prompt) {
        return ListWorkload.request(id, id * SECOND, prompt, 1);
    }

    private static List<Integer> cachedTokens(RunRecord run) {
        return ClusterFixture.requests(run).stream()
                .map(RequestRecord::numCachedTokens)
                .toList();
    }
}

package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.cluster.ClusterFixture.workload;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.kvcache.FullHit;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;

/**
 * The four tests of "Adding Prefix Caching to NanoGPT", with its prompts and its numbers: one token per character, four
 * tokens per block, blocks of prompts only; 16 tokens per step, and room for 256.
 */
final class NanoGptPrefixCachingTest {
    private final ClusterFixture cluster = new ClusterFixture();
    private long intervalNanos;
    private int numRequests;

    NanoGptPrefixCachingTest() {
        cluster.hasher = new Xxh3BlockHasher(4);
        cluster.cachesGeneratedBlocks = false;
        cluster.maxNumBatchedTokens = 16;
        cluster.numBlocks = 1 + 256 / 4;
        cluster.maxModelLen = 256;
    }

    @Test
    void identicalPrefixes_shareAllFullBlocks() {
        var run = cluster.run(workload(request("To be or not to be", 20), request("To be or not to be", 20)));

        // 18 tokens are 4 full blocks and 2 tokens. The first step computes 16 of the first request; the second step
        // the
        // other 2, and 2 of the second request, which hits 16.
        assertThat(cachedTokens(run)).containsExactly(0, 16);
        assertThat(requests(run).get(1).numPrefilledTokens()).isEqualTo(2);
        assertThat(numCachedBlocks(run)).isEqualTo(4);
        assertThat(requests(run)).allMatch(request -> request.numOutputTokens() == 20);
    }

    @Test
    void identicalPrefixes_leaveMoreBlocksIfAnswersAreCachedToo() {
        cluster.cachesGeneratedBlocks = true;
        var run = cluster.run(workload(request("To be or not to be", 20), request("To be or not to be", 20)));

        // 37 of the 38 tokens are computed, 9 full blocks; the 5 behind the prompt are each request's own.
        assertThat(numCachedBlocks(run)).isEqualTo(4 + 5 + 5);
    }

    @Test
    void sharedPrefix_isHitAndWhatFollowsIsNot() {
        var run = cluster.run(workload(request("Hello world cat", 10), request("Hello world dog", 10)));

        // "Hello world " is 12 tokens, 3 blocks. The first step has room for 15 tokens of the first request, and for 1
        // of the
        // second one, which hits 12 at once.
        assertThat(cachedTokens(run)).containsExactly(0, 12);
        assertThat(numCachedBlocks(run)).isEqualTo(3);
    }

    @Test
    void differentPrompts_shareNothing() {
        var run = cluster.run(workload(request("The cat sat on the mat", 10), request("Once upon a midnight", 10)));

        // 22 and 20 tokens: 5 full blocks each.
        assertThat(cachedTokens(run)).containsExactly(0, 0);
        assertThat(numCachedBlocks(run)).isEqualTo(5 + 5);
    }

    @Test
    void fullCache_evictsTheBlockThatWasUsedLongestAgo() {
        cluster.numBlocks = 1 + 3;
        cluster.maxModelLen = 12;
        cluster.fullHit = FullHit.DECODE_DIRECTLY;
        cluster.cachesGeneratedBlocks = false;

        intervalNanos = 1_000_000_000;
        // Four blocks, one after the other, into room for three; then all four again, the newest first. The first one
        // is
        // gone; asking for it evicts the one that was used longest ago by then, which nobody asks for any more.
        var run = cluster.run(workload(
                request("The ", 1),
                request("cat ", 1),
                request("sat ", 1),
                request("on t", 1),
                request("on t", 1),
                request("sat ", 1),
                request("cat ", 1),
                request("The ", 1)));

        assertThat(cachedTokens(run)).containsExactly(0, 0, 0, 0, 4, 4, 4, 0);
        assertThat(numCachedBlocks(run)).isEqualTo(3);
    }

    @Test
    void thousandCallsWithOneSystemPrompt_save511488Tokens() {
        var requests = new Request[1_000];
        for (int i = 0; i < requests.length; i++) {
            var prompt = SegmentedTokens.EMPTY.append(-1, 512).append(i, 20);
            requests[i] = ListWorkload.request(i, 0, prompt, 5);
        }
        cluster.numBlocks = 20_000;
        cluster.maxNumBatchedTokens = 2_048;
        cluster.maxModelLen = 1_000;
        var run = cluster.run(workload(requests));

        int numSaved =
                requests(run).stream().mapToInt(RequestRecord::numCachedTokens).sum();
        assertThat(numSaved).isEqualTo(512 * 1_000 - 512).isEqualTo(511_488);
    }

    /** A prompt of one token per character, sent together with the others unless there is an interval. */
    private Request request(String text, int maxTokens) {
        int id = numRequests++;
        var output = new OutputPlan(new SyntheticTokens(-1 - id), OutputPlan.ENDLESS);
        var prompt = new Prompt(new TokenIds(text.chars().toArray()));
        return Request.of(id, id * intervalNanos, prompt, maxTokens, output);
    }

    private static List<RequestRecord> requests(RunRecord run) {
        return ClusterFixture.requests(run);
    }

    private static List<Integer> cachedTokens(RunRecord run) {
        return requests(run).stream().map(RequestRecord::numCachedTokens).toList();
    }

    private static int numCachedBlocks(RunRecord run) {
        return run.replicas().get(0).kvCache().numHashed();
    }
}

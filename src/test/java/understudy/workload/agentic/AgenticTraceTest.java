package understudy.workload.agentic;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import understudy.TestData;
import understudy.prompt.Xxh3BlockHasher;

/** The public sessions, as they are read. */
final class AgenticTraceTest {
    /**
     * Counted in the files themselves. An infinite cache per session finds a request's blocks up to the first that no
     * request before it had; with all sessions in one cache it finds as many, since they have nothing in common.
     */
    @Test
    void publicSessions_haveTheirCountsAndInfiniteCacheHits() {
        var hasher = new Xxh3BlockHasher(64);
        var cached = new LongOpenHashSet();
        long numRequests = 0;
        long numPromptTokens = 0;
        long numOutputTokens = 0;
        long numBlocks = 0;
        long numHits = 0;
        try (var workload = Sessions.open(TestData.require("agentic/sessions"), "timing = timestamps", "lanes = 1")) {
            for (var next = workload.next(); next != null; next = workload.next()) {
                numRequests++;
                numPromptTokens += next.prompt().length();
                numOutputTokens += next.maxTokens();
                long[] hashes = next.prompt().blockHashes(hasher);
                numBlocks += hashes.length;
                for (int i = 0; i < hashes.length && cached.contains(hashes[i]); i++) {
                    numHits++;
                }
                Arrays.stream(hashes).forEach(cached::add);
            }
        }

        assertThat(numRequests).isEqualTo(7_953);
        assertThat(numPromptTokens).isEqualTo(966_479_746);
        assertThat(numOutputTokens).isEqualTo(3_749_615);
        assertThat(numBlocks).isEqualTo(15_097_287);
        assertThat(numHits).isEqualTo(14_482_859);
    }
}

package understudy.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatList;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each policy against {@link ReferenceCache}, prompt by prompt, the prefix looked up before anything is accessed. */
final class ReplayReferenceTest {
    private static final int BLOCK_SIZE = 4;
    private static final int[] CAPACITIES = {1, 2, 3, 6, 10, 15, 25, 60};
    private static final double[] SMALL_RATIOS = {0.1, 0.3, 0.5, 0.8};
    private static final int[] MAX_FREQS = {0, 1, 3, 7};

    @ParameterizedTest
    @EnumSource(ReplayPolicy.class)
    void promptsOfSessions_hitTheSame(ReplayPolicy policy) {
        for (int seed = 0; seed < 3; seed++) {
            checkAll(policy, sessions(new Random(seed), 250));
        }
    }

    /** Ids that stand for no prefix: what is hit behind a gap, and what a prompt has twice, counts too. */
    @ParameterizedTest
    @EnumSource(ReplayPolicy.class)
    void promptsOfAnyBlocks_hitTheSame(ReplayPolicy policy) {
        for (int seed = 0; seed < 3; seed++) {
            checkAll(policy, unrelated(new Random(seed), 250));
        }
    }

    @Test
    void idThatStandsTwice_isAccessedTwice() {
        // LRU of 2 blocks. 7, 7, 8: nothing is there on arrival, though 7 is when its second turn comes. 7, 7, 9: both
        // 7s hit, 9 pushes out 8. 7, 8, 7: 7 hits, 8 pushes out 9, 7 is hit behind the gap.
        int[][] prompts = {{7, 7, 8}, {7, 7, 9}, {7, 8, 7}};
        var replayer = Replayer.of(ReplaySettings.of(ReplayPolicy.LRU, 2, BLOCK_SIZE), true);
        Traces.of(prompts, BLOCK_SIZE, 3).forEach(replayer::accept);

        var result = replayer.finish();

        assertThatList(result.perRequestHitTokens()).containsExactly(0, 2 * BLOCK_SIZE, BLOCK_SIZE);
        assertThat(result.blockHits()).isEqualTo(1 + 2 + 2);
    }

    /** The same by way of a file: every id of every line is accessed, in order, as often as it stands there. */
    @ParameterizedTest
    @EnumSource(ReplayPolicy.class)
    void tracesWithIdsTwice_areReplayedAsTheyStand(ReplayPolicy policy, @TempDir Path directory) throws IOException {
        int[][] prompts = unrelated(new Random(7), 250);
        var lines = Arrays.stream(prompts)
                .map(ids -> "{\"timestamp\": 0, \"input_length\": " + (ids.length * BLOCK_SIZE - 1)
                        + ", \"output_length\": 1, \"hash_ids\": " + Arrays.toString(ids) + "}")
                .toList();
        var trace = Files.write(directory.resolve("trace.jsonl"), lines);
        try (var reader = new BlockTraceReader(List.of(trace), BLOCK_SIZE, 0)) {
            var settings = ReplaySettings.of(policy, 10, BLOCK_SIZE);
            check(settings, List.of(Objects.requireNonNull(reader.next())), prompts);
        }
    }

    private static void checkAll(ReplayPolicy policy, int[][] prompts) {
        for (int capacity : CAPACITIES) {
            var all = policy == ReplayPolicy.S3FIFO
                    ? s3Fifo(capacity)
                    : List.of(ReplaySettings.of(policy, capacity, BLOCK_SIZE));
            for (var settings : all) {
                check(settings, Traces.of(prompts, BLOCK_SIZE, 1 + prompts.length / 3), prompts);
            }
        }
    }

    /** The settings for which S3-FIFO is defined; a ratio for each frequency is enough. */
    private static List<ReplaySettings> s3Fifo(int capacity) {
        return IntStream.range(0, SMALL_RATIOS.length)
                .filter(i -> Math.rint(capacity * SMALL_RATIOS[i]) > 0)
                .filter(i -> Math.rint(capacity * SMALL_RATIOS[i]) < capacity)
                .mapToObj(i ->
                        new ReplaySettings(ReplayPolicy.S3FIFO, capacity, BLOCK_SIZE, SMALL_RATIOS[i], MAX_FREQS[i]))
                .toList();
    }

    private static void check(ReplaySettings settings, List<TraceChunk> chunks, int[][] prompts) {
        var replayer = Replayer.of(settings, true, NextUse.of(chunks));
        chunks.forEach(replayer::accept);
        var result = replayer.finish();

        var reference = ReferenceCache.of(
                settings, Arrays.stream(prompts).flatMapToInt(Arrays::stream).toArray());
        var hitTokens = new ArrayList<Integer>();
        int numHits = 0;
        for (int request = 0; request < prompts.length; request++) {
            hitTokens.add(hitTokens(reference, prompts[request]));
            for (int position = 0; position < prompts[request].length; position++) {
                numHits += reference.isResident(prompts[request][position]) ? 1 : 0;
                reference.access(prompts[request][position], request, position);
            }
        }
        assertThatList(result.perRequestHitTokens()).as("%s", settings).isEqualTo(hitTokens);
        assertThat(result.blockHits()).as("%s", settings).isEqualTo(numHits);
        assertThat(result.finalCacheBlocks()).as("%s", settings).isEqualTo(reference.size());
    }

    /** The last block of a prompt is a token short of being full. */
    private static int hitTokens(ReferenceCache reference, int[] prompt) {
        int numBlocks = 0;
        while (numBlocks < prompt.length && reference.isResident(prompt[numBlocks])) {
            numBlocks++;
        }
        return numBlocks == prompt.length ? BLOCK_SIZE * numBlocks - 1 : BLOCK_SIZE * numBlocks;
    }

    /** Conversations that grow, branch and are forgotten; the id of a block stands for all that comes before it. */
    private static int[][] sessions(Random random, int numRequests) {
        var prompts = new ArrayList<int[]>();
        int numBlocks = 1;
        for (int i = 0; i < numRequests; i++) {
            int[] earlier =
                    prompts.isEmpty() ? new int[1] : prompts.get(prompts.size() - 1 - back(random, prompts.size()));
            int kept = 1 + random.nextInt(earlier.length);
            int[] prompt = Arrays.copyOf(earlier, Math.min(14, kept + 1 + random.nextInt(3)));
            for (int at = kept; at < prompt.length; at++) {
                prompt[at] = numBlocks++;
            }
            prompts.add(prompt);
        }
        return prompts.toArray(int[][]::new);
    }

    private static int back(Random random, int size) {
        return (int) (size * Math.pow(random.nextDouble(), 4));
    }

    private static int[][] unrelated(Random random, int numRequests) {
        return Stream.generate(() -> random.ints(1 + random.nextInt(6), 0, 40)
                        .map(i -> i * i / 40)
                        .toArray())
                .limit(numRequests)
                .toArray(int[][]::new);
    }
}

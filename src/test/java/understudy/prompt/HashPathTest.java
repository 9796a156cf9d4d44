package understudy.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class HashPathTest {

    /** Two prompts of 4,100 tokens begin with the same 4,000, in blocks of 4: each has an array for its last 25 blocks. */
    @Test
    void promptsOfAGroup_shareTheHashesOfTheirPrefix() {
        var hasher = new Xxh3BlockHasher(4);
        var prefix = SegmentedTokens.EMPTY.append(1, 4_000);
        var first = new Prompt(prefix.append(2, 100)).hashPath(hasher);
        var second = new Prompt(prefix.append(3, 100)).hashPath(hasher);

        assertThat(first.length()).isEqualTo(1_025);
        assertThat(first.numOwn()).isEqualTo(25);
        assertThat(second.numOwn()).isEqualTo(25);
        assertThat(first.endOfEqual(second, 0, 1_025)).isEqualTo(1_000);
    }

    /** Paths that go on from each other at random agree with arrays. */
    @Test
    void agreesWithArrays() {
        var random = new SplittableRandom(5);
        var paths = new ArrayList<HashPath>();
        var arrays = new ArrayList<long[]>();
        paths.add(HashPath.EMPTY);
        arrays.add(new long[0]);
        for (int i = 0; i < 400; i++) {
            int from = random.nextInt(paths.size());
            int count = random.nextInt(paths.get(from).length() + 1);
            // Few different values, so that paths which part are equal again further on.
            long[] more = random.longs(random.nextInt(600), 0, 2).toArray();
            long[] array = Arrays.copyOf(arrays.get(from), count + more.length);
            System.arraycopy(more, 0, array, count, more.length);
            paths.add(paths.get(from).goingOn(count, more));
            arrays.add(array);

            int other = random.nextInt(arrays.size());
            int end = Math.min(array.length, arrays.get(other).length);
            int start = random.nextInt(end + 1);
            int mismatch = Arrays.mismatch(array, start, end, arrays.get(other), start, end);
            var path = paths.get(i + 1);
            assertThat(path.endOfEqual(paths.get(other), start, end)).isEqualTo(mismatch < 0 ? end : start + mismatch);
            assertThat(path.toArray()).isEqualTo(array);
            assertThat(new HashRun(path, start, array.length).toLongArray())
                    .isEqualTo(Arrays.copyOfRange(array, start, array.length));
            assertThat(path.first(start).toArray()).isEqualTo(Arrays.copyOf(array, start));
            for (int block = 0; block < array.length; block += 97) {
                assertThat(path.get(block)).isEqualTo(array[block]);
            }
        }
    }

    /** A sequence of two prompts' blocks and room for three of its answer, of which one is hashed after the path was made. */
    @Test
    void growingPath_hasWhatIsHashedLater() {
        var prompt = HashPath.EMPTY.goingOn(0, new long[] {7, 8});
        var answer = new long[] {9, 0, 0};
        var path = prompt.growingBy(answer);
        answer[1] = 10;

        assertThat(path.length()).isEqualTo(5);
        assertThat(new HashRun(path, 1, 4).toLongArray()).containsExactly(8, 9, 10);
        assertThat(prompt.length()).isEqualTo(2);
    }

    /** Blocks 2 and 3 of a path of four are given out again, then its first, each run from its end. */
    @Test
    void reversedRuns_goFromTheEndOfEach() {
        var path = HashPath.EMPTY.goingOn(0, new long[] {5, 6, 7, 8});

        var runs = new ReversedRuns(List.of(new HashRun(path, 2, 4), new HashRun(path, 0, 1)));

        assertThat(runs.toLongArray()).containsExactly(8, 7, 5);
        assertThatThrownBy(() -> runs.getLong(3)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}

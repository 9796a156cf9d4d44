package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

final class RadixKvCacheTest {
    private static final RadixConfig CONFIG =
            new RadixConfig(1, 100, false, true, RadixEvictionPolicy.LRU, 0, false, null, null);

    private final RadixKvCache cache = new RadixKvCache(new RadixSpec(CONFIG, 100, new Xxh3BlockHasher(1), false));

    private void ask(RadixAsk ask) {
        cache.answer(ask);
    }

    /** A request that was given up holds its 10 pages until the scheduler lets go of it: they are no leak. */
    @Test
    void requestThatWasGivenUp_leavesItsPagesBehind() {
        var prompt = new Prompt(new TokenIds(IntStream.range(0, 10).toArray()));
        ask(memory -> {
            var sequence = memory.open(RadixLookup.of(0, prompt, index -> index, 0));
            memory.match(sequence, 9);
            memory.admit(sequence, 10);
            memory.extend(ObjectArrayList.of(sequence));
            return RadixAnswer.DONE;
        });
        assertThat(cache.audit().leaks()).isTrue();

        cache.free(0, 1);
        assertThat(cache.audit().numInUse()).isEqualTo(10);
        assertThat(cache.audit().leaks()).isFalse();

        ask(memory -> {
            memory.release(0, true);
            return RadixAnswer.DONE;
        });
        assertThat(cache.audit().numInUse()).isZero();
    }

    /**
     * A prompt of 30 tokens is computed and cached, as its scheduler does with the first token, and another one of 40 that
     * begins with it finds all 30. Of the first request the tree has all pages; of the second one it has 30, and the other 10
     * are the request's own until they are cached, too.
     */
    @Test
    void request_hasNoMemoryForPagesThatTheTreeHas() {
        var sequences = new ObjectArrayList<RadixSequence>();
        for (int length : new int[] {30, 40}) {
            var prompt = new Prompt(new TokenIds(IntStream.range(0, length).toArray()));
            ask(memory -> {
                var sequence = memory.open(RadixLookup.of(sequences.size(), prompt, index -> index, 0));
                memory.match(sequence, length - 1);
                memory.admit(sequence, length);
                memory.extend(ObjectArrayList.of(sequence));
                sequences.add(sequence);
                return RadixAnswer.DONE;
            });
            assertThat(sequences.top().capacity()).isEqualTo(length == 30 ? 30 : 10);
            assertThat(sequences.top().pages()).hasSize(length);

            int handle = sequences.top().handle();
            ask(memory -> {
                memory.cacheUnfinished(handle, false);
                return RadixAnswer.DONE;
            });
            assertThat(sequences.top().capacity()).isZero();
            assertThat(cache.memory().table(handle)).hasSize(length);
        }
        assertThat(cache.memory().table(1)).startsWith(cache.memory().table(0));
        assertThat(cache.audit().isConserved()).isTrue();
    }
}

package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.kvcache.KvEvent;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** Blocks of the tree, and the events that tell of them. */
final class BlockEventsTest {
    private static final int NUM_TOKENS = 96;

    private static Prompt prompt(int... tokens) {
        return new Prompt(new TokenIds(tokens));
    }

    /** A memory whose events are told. */
    private static final class Cache {
        final BlockEvents events;
        final RadixMemory memory;
        private int numRequests;

        Cache(int pageSize, int blockSize) {
            events = new BlockEvents(new Xxh3BlockHasher(blockSize));
            memory = RadixMemory.create(
                    new RadixConfig(pageSize, NUM_TOKENS, false, true, RadixEvictionPolicy.LRU, 0, false, null, null));
            memory.tell(events);
        }

        /** Runs a request with its prompt and one output token to its end. */
        void run(Prompt prompt) {
            var lookup = RadixLookup.of(numRequests++, prompt, index -> 1_000 + index, 0);
            var sequence = memory.open(lookup);
            memory.match(sequence, prompt.length() - 1);
            memory.admit(sequence, prompt.length());
            var batch = new ObjectArrayList<RadixSequence>();
            batch.add(sequence);
            memory.extend(batch);
            memory.cacheUnfinished(lookup.handle(), false);
            memory.decode(new int[] {lookup.handle()}, 1);
            memory.release(lookup.handle(), true);
        }
    }

    /** Two prompts that part behind 6 tokens: pages of 4 share the first; the rest of each is a page of its own. */
    @Test
    void eventsAreOnePerPageStored_andOnePerNodeRemoved() {
        var cache = new Cache(4, 4);
        cache.run(prompt(1, 2, 3, 4, 5, 6, 7, 8));
        assertThat(cache.events.drain())
                .hasSize(2)
                .allSatisfy(event -> assertThat(event)
                        .isInstanceOfSatisfying(
                                KvEvent.Stored.class,
                                stored ->
                                        assertThat(stored.blockHashes().size()).isEqualTo(1)));
        cache.run(prompt(1, 2, 3, 4, 5, 6, 9, 9));
        assertThat(cache.events.drain()).hasSize(1);

        // The second page of each goes, then the one that they share: three nodes.
        cache.memory.makeRoom(NUM_TOKENS);

        assertThat(cache.events.drain())
                .hasSize(3)
                .allSatisfy(event -> assertThat(event)
                        .isInstanceOfSatisfying(
                                KvEvent.Removed.class,
                                removed ->
                                        assertThat(removed.blockHashes().size()).isEqualTo(1)));
    }

    /**
     * Whatever is stored, split and removed: who follows the events knows the blocks of the tree. Where prompts part inside of a
     * page, blocks that are smaller are there twice.
     */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 4", "4, 4", "4, 1", "4, 6", "2, 8"})
    void followerOfTheEvents_knowsTheBlocks(int pageSize, int blocks) {
        var tested = new Cache(pageSize, blocks);
        var random = new SplittableRandom(7);
        var known = new LongArrayList();
        for (int i = 0; i < 400; i++) {
            int length = 1 + random.nextInt(40);
            int parting = random.nextInt(length + 1);
            int branch = random.nextInt(3);
            tested.run(new Prompt(new TokenIds(IntStream.range(0, length)
                    .map(at -> at < parting ? at : at + 100 * branch)
                    .toArray())));
            for (var event : tested.events.drain()) {
                if (event instanceof KvEvent.Stored stored) {
                    stored.blockHashes()
                            .forEach(hash -> assertThat(known.add(hash)).isTrue());
                    assertThat(stored.firstToken() % blocks).isZero();
                } else if (event instanceof KvEvent.Removed removed) {
                    for (int j = 0; j < removed.blockHashes().size(); j++) {
                        assertThat(known.rem(removed.blockHashes().getLong(j))).isTrue();
                    }
                }
            }
            var inTree = new LongArrayList();
            for (var node : tested.memory.tree().nodes()) {
                for (long hash : node.blockHashes) {
                    inTree.add(hash);
                }
            }
            assertThat(known.longStream().sorted().toArray())
                    .isEqualTo(inTree.longStream().sorted().toArray());
            assertThat(RadixAudit.of(tested.memory).isConserved()).isTrue();
        }
        assertThat(tested.memory.numRemoved()).isPositive();
    }

    /** The blocks that are told are those of the prompt. */
    @Test
    void hashes_areThoseOfThePrompt() {
        var prompt = prompt(1, 2, 3, 4, 5, 6, 7, 8);

        var cache = new Cache(4, 4);

        cache.run(prompt);

        assertThat(cache.events.drain().stream()
                        .map(event -> ((KvEvent.Stored) event).blockHashes().getLong(0)))
                .containsExactly(
                        prompt.blockHashes(new Xxh3BlockHasher(4))[0], prompt.blockHashes(new Xxh3BlockHasher(4))[1]);
    }
}
